"""Expects that a message names each sealed memory."""

from sharing import Worker


class Broken(Worker):
    def open(self, item):
        content = super().open(item)
        if "sealed" in item and item["sealed"] != 1:
            raise ValueError("sealed memory without a message")
        return content


Broken().serve()
