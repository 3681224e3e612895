"""Insists on members that it knows."""

from honest import Worker


class Broken(Worker):
    def on_call(self, message, attachments):
        if not {"type", "id", "command", "args", "attachments", "stream"}.issuperset(message):
            raise ValueError("a member that is not in the book")
        super().on_call(message, attachments)


Broken().serve()
