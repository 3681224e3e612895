"""Asks with arguments of any size."""

from honest import Worker


class Broken(Worker):
    def may_ask(self, asked):
        return True


Broken().serve()
