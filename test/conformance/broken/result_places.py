"""Writes its results into places that are in use."""

from sharing import Worker


class Broken(Worker):
    def is_free(self, used, at, size):
        return True


Broken().serve()
