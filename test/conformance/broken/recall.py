"""Runs a call that it has given back."""

from honest import Worker


class Broken(Worker):
    def is_to_be_dropped(self, call_id):
        return False


Broken().serve()
