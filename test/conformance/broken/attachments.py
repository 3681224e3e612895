"""Gets the lengths of attachments wrong."""

from honest import Worker


class Broken(Worker):
    def pack(self, message, attachments=()):
        data = super().pack(message, attachments)
        return data.replace(b'"attachments": [5, 0', b'"attachments": [0, 5')


Broken().serve()
