"""Counts the text of a result, not what it takes in memory."""

from honest import Worker


class Broken(Worker):
    def fits(self, message, attachments):
        self.limits["tree_bytes"] = 1 << 40
        return super().fits(message, attachments)


Broken().serve()
