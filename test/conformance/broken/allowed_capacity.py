"""Is at as many calls at once as it can be, whatever the host allows."""

from honest import CAPACITY, Worker


class Broken(Worker):
    def calls_at_once(self, allowed):
        return CAPACITY

    def do_slow(self, call, ms):
        return super().do_slow(call, 200 // call.id)  # the later, the faster


Broken().serve()
