"""Releases what is lent twice."""

from sharing import Worker


class Broken(Worker):
    def release(self, item):
        super().release(item)
        super().release(item)


Broken().serve()
