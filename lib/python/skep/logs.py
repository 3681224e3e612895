"""What a worker's code logs by `logging`, as records of the host's log."""

import logging

from .messages import encode
from .records import records
from .telemetry import add_correlation_id

_LONGEST_TEXT = 2048  # characters
_LONGEST_NAME = 64


class Handler(logging.Handler):
    """Hands records to the host's log, with their level, the logger's name and the correlation id of the running call.

    The SDK adds one to the root logger when a worker starts to serve whose script has configured no logging. Others add
    it where they want it: `logging.getLogger().addHandler(skep.logs.Handler())`. Like skep.emit() it waits for nobody.
    """

    def emit(self, record: logging.LogRecord) -> None:
        """Called by `logging`."""
        try:
            message = {
                "type": "log",
                "level": _level_of(record.levelno),
                "logger": record.name[:_LONGEST_NAME],
                "text": self.format(record)[:_LONGEST_TEXT],
            }
            add_correlation_id(message)
            records.put(encode(message))
        except Exception:
            self.handleError(record)


def handle_unless_configured() -> None:
    """Adds a handler to the root logger if it has none."""
    root = logging.getLogger()
    if not root.handlers:
        root.addHandler(Handler())


def _level_of(number: int) -> str:
    if number < logging.INFO:
        return "debug"
    if number < logging.WARNING:
        return "info"
    return "warning" if number < logging.ERROR else "error"
