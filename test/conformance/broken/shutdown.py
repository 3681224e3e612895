"""Is not told when to go."""

from honest import Worker


class Broken(Worker):
    def on_shutdown(self, message):
        pass


Broken().serve()
