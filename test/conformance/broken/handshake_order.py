"""Is ready before it is welcome."""

import threading

from honest import Worker


class Broken(Worker):
    def hello(self):
        threading.Timer(0.02, self.send, (self.data, {"type": "ready"})).start()
        return super().hello()


Broken().serve()
