"""Asks for memory whatever the welcome says."""

from sharing import Worker


class Broken(Worker):
    def on_welcome(self, message):
        super().on_welcome({"shared": {"least": 4096, "bytes": 1 << 20}, **message})


Broken().serve()
