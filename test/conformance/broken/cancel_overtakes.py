"""Forgets a cancel whose call has not come yet."""

from honest import Worker


class Broken(Worker):
    def on_cancel(self, message):
        if message["id"] in self.calls:
            super().on_cancel(message)


Broken().serve()
