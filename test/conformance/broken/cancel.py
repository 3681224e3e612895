"""Takes no notice of cancels."""

from honest import Worker


class Broken(Worker):
    def on_cancel(self, message):
        pass


Broken().serve()
