"""Outlives its host."""

import threading

from honest import Worker


class Broken(Worker):
    def on_host_gone(self, channel):
        threading.Event().wait()


Broken().serve()
