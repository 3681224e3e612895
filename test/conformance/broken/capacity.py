"""Does less at once than it says."""

from honest import Worker


class Broken(Worker):
    def hello(self):
        return {**super().hello(), "capacity": 10}


Broken().serve()
