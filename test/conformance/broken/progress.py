"""Reports progress of a call that is answered."""

from honest import Worker


class Broken(Worker):
    def answer(self, message, attachments):
        super().answer(message, attachments)
        self.send(self.data, {"type": "progress", "id": message["id"], "fraction": 1})


Broken().serve()
