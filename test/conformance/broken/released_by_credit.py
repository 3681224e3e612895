"""Takes a credit for the sign of a stream."""

from sharing import Worker


class Broken(Worker):
    def on_credit(self, message):
        self.calls[message["id"]].credit["chunks"] += message["credit"]["chunks"]


Broken().serve()
