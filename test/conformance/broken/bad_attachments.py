"""Takes attachments as they come."""

from honest import Worker


class Broken(Worker):
    def receive(self, channel):
        try:
            return super().receive(channel)
        except ValueError:
            return {"type": "call", "id": 1, "command": "add", "args": {"a": 1, "b": 2}}, []


Broken().serve()
