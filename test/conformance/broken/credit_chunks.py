"""Does not wait for credit."""

from honest import Worker


class Broken(Worker):
    def may_send(self, call):
        return True


Broken().serve()
