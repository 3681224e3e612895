"""Sends results of any size."""

from honest import Worker


class Broken(Worker):
    def fits(self, message, attachments):
        return True


Broken().serve()
