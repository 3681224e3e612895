"""Takes memory that has not come for empty."""

from sharing import Worker


class Broken(Worker):
    def open(self, item):
        return super().open(item) if item.get("region", 1) < 5 else bytes(item["bytes"])


Broken().serve()
