"""Answers twice."""

from honest import Worker


class Broken(Worker):
    def answer(self, message, attachments):
        super().answer(message, attachments)
        super().answer(message, attachments)


Broken().serve()
