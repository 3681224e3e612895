"""Releases what is lent only to calls that begin."""

from sharing import Worker


class Broken(Worker):
    opened_items = []

    def opened(self, item):
        self.opened_items.append(item)

    def run(self, call):
        while self.opened_items and call.attachments:
            self.release(self.opened_items.pop())
        super().run(call)


Broken().serve()
