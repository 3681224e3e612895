"""The handler that sends records of `logging` to the host's log."""

import logging
from typing import Any, Dict

from ._calls.telemetry import MAX_RECORD_BYTES, add_correlation_id, records
from ._wire.messages import encode

_LENGTHS = (16_000, 5_000, 1_500)  # characters of the text: the first length that fits is used
_MAX_NAME_LENGTH = 64  # characters


class Handler(logging.Handler):
    """Sends records to the host's log, with level, logger's name and the correlation id of the running call.

    The SDK adds a handler to the root logger if the script has not configured logging before it serves. Other scripts
    can add one: `logging.getLogger().addHandler(skep.logs.Handler())`. Like skep.emit(), the handler never blocks. It
    shortens long texts to fit into a record of 16 KiB.
    """

    def emit(self, record: logging.LogRecord) -> None:
        """Sends a record. Called by `logging`.

        In a forked child, and with an older host, passes the record to logging.lastResort.

        Args:
            record: the record to send.
        """
        if records.is_closed:  # log as without a host
            if logging.lastResort is not None and record.levelno >= logging.lastResort.level:
                logging.lastResort.handle(record)
            return
        try:
            message = {"type": "log", "level": _level_name(record.levelno), "logger": record.name[:_MAX_NAME_LENGTH]}
            add_correlation_id(message)
            records.put(_encode_to_fit(message, self.format(record)))
        except Exception:
            self.handleError(record)


def handle_unless_configured() -> None:
    """Adds a handler to the root logger if it has none."""
    root = logging.getLogger()
    if not root.handlers:
        root.addHandler(Handler())


def _encode_to_fit(message: Dict[str, Any], text: str) -> bytes:
    """Returns the message with the text, shortened to fit: keeps more of its end, with the exception, than of its start."""
    body = b""
    for length in _LENGTHS:
        message["text"] = text if len(text) <= length else f"{text[: length // 4]} ... {text[-length * 3 // 4 :]}"
        body = encode(message)
        if len(body) <= MAX_RECORD_BYTES:
            break
    return body


def _level_name(number: int) -> str:
    if number < logging.INFO:
        return "debug"
    if number < logging.WARNING:
        return "info"
    return "warning" if number < logging.ERROR else "error"
