"""Takes what is outside of a region for empty."""

from sharing import Worker


class Broken(Worker):
    def open(self, item):
        return super().open({**item, "at": 0}) if item["at"] >= 1 << 20 else super().open(item)


Broken().serve()
