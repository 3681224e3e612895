"""Listens to the host only while it is idle."""

from honest import Worker


class Broken(Worker):
    def on_control(self, message, attachments):
        with self.changed:
            self.changed.wait_for(lambda: not self.running)
        super().on_control(message, attachments)


Broken().serve()
