"""Gives back only calls that have come."""

from honest import Worker


class Broken(Worker):
    def on_recall(self, message):
        if message["id"] in self.calls:
            super().on_recall(message)


Broken().serve()
