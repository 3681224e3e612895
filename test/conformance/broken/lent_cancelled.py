"""Keeps what is lent to a call until its answer, and for ever if the call is cancelled."""

from sharing import Worker


class Broken(Worker):
    opened_items = []

    def opened(self, item):
        self.opened_items.append(item)

    def answer(self, message, attachments):
        while self.opened_items:
            item = self.opened_items.pop()
            if "Cancelled" not in str(message.get("error")):
                self.release(item)
        super().answer(message, attachments)


Broken().serve()
