"""Keeps what is lent to a call until its end, but for a call that is cancelled."""

from sharing import Worker


class Broken(Worker):
    def opened(self, item):
        self.opened_item = item

    def answer(self, call, message, attachments=()):
        if call.attachments and message.get("type") != "error":
            self.release(self.opened_item)
        super().answer(call, message, attachments)


Broken().serve()
