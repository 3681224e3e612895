"""Counts chunks, but not their bytes."""

from honest import Worker


class Broken(Worker):
    def cost(self, chunk):
        return 0


Broken().serve()
