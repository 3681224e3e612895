"""Answers every ping twice."""

from honest import Worker


class Broken(Worker):
    def on_ping(self, message):
        super().on_ping(message)
        super().on_ping(message)


Broken().serve()
