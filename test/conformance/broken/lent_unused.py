"""Releases what is lent only to calls that use it."""

from sharing import Worker


class Broken(Worker):
    def opened(self, item):
        self.release_used = lambda: self.release(item)

    def do_echo(self, call, value):
        self.release_used()
        return super().do_echo(call, value)


Broken().serve()
