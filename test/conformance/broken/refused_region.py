"""Writes its results into memory that it was refused."""

from sharing import Worker


class Broken(Worker):
    def place(self, part):
        return super().place(part) or {"region": 1, "at": 0, "bytes": len(part)}


Broken().serve()
