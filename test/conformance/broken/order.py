"""Does more at once than it says."""

from honest import CAPACITY, Worker


class Broken(Worker):
    def hello(self):
        return {**super().hello(), "capacity": 1}

    def calls_at_once(self, allowed):
        return CAPACITY

    def do_slow(self, call, ms):
        return super().do_slow(call, 200 // call.id)  # the later, the faster


Broken().serve()
