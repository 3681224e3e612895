"""Gives back a call that it has begun, and answers it."""

from honest import Worker


class Broken(Worker):
    def on_recall(self, message):
        self.send(self.control, {"type": "recalled", "id": message["id"]})


Broken().serve()
