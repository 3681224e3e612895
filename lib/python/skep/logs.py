"""Records of `logging` on their way to the host's log."""

import io
import logging
from typing import Any, Callable, Dict

from ._calls.telemetry import MAX_RECORD_BYTES, add_correlation_id, records
from ._wire.messages import encode

_LENGTHS = (16_000, 5_000, 1_500)  # characters of the text: the first length that fits is used
_MAX_NAME_LENGTH = 64  # characters
_OUTPUT = (1, 2)  # descriptors of stdout and stderr
_MARK = "_skep_is_sent"  # attribute of a sent record
_LEVELS = {"debug": logging.DEBUG, "info": logging.INFO}  # levels of the host's log below Python's default


class Handler(logging.Handler):
    """Sends records to the host's log, with level, logger's name and the correlation id of the running call.

    A worker needs it only beside handlers that do not print, such as a FileHandler: records of a root logger without
    handlers, and of handlers that print, are sent anyway, each record once. Add it by
    `logging.getLogger().addHandler(skep.logs.Handler())`. Like skep.emit(), the handler never blocks. It shortens long
    texts to fit into a record of 16 KiB.
    """

    def emit(self, record: logging.LogRecord) -> None:
        """Sends a record. Called by `logging`.

        In a forked child, with an older host, and after worker.run(), passes the record to logging.lastResort.

        Args:
            record: the record to send.
        """
        if records.is_closed:  # log as without a host
            if logging.lastResort is not None and record.levelno >= logging.lastResort.level:
                logging.lastResort.handle(record)
        else:
            _send(record, self, self.format)


def capture(host_level: str) -> None:
    """Sends the records to the host that `logging` would print to stdout or stderr. Call it once.

    Lowers the level of the root logger to the host's, unless the script has set a level.
    """
    root = logging.getLogger()
    if root.level == logging.WARNING:  # the default
        root.setLevel(_LEVELS.get(host_level, logging.WARNING))
    # Above the root logger: a handler on it would make logging.basicConfig() do nothing.
    root.parent = logging.Logger("skep")
    root.parent.addHandler(_RootHandler())
    setattr(logging.StreamHandler, "emit", _emit_or_print)


class _RootHandler(Handler):
    """The handler of a root logger that has none."""

    def emit(self, record: logging.LogRecord) -> None:
        if not logging.getLogger().handlers:
            super().emit(record)


_print = logging.StreamHandler.emit
_plain = logging.Formatter()
_PLAIN_FORMATTERS = (type(None), logging.Formatter)


def _emit_or_print(handler: "logging.StreamHandler[Any]", record: logging.LogRecord) -> None:
    """The emit() of StreamHandler: sends the record instead of printing it to stdout or stderr."""
    if records.is_closed or not _is_output(handler.stream):
        _print(handler, record)
    else:
        # The host's log has time, level and logger: a format of the script would repeat them. A formatter of its own
        # class, or a format() of its own, may do more, such as leave out secrets.
        is_own = type(handler).format is not logging.Handler.format or type(handler.formatter) not in _PLAIN_FORMATTERS
        if not _send(record, handler, handler.format if is_own else _plain.format):
            _print(handler, record)


def _is_output(stream: Any) -> bool:
    """Returns true for stdout and stderr of the process, but not for a wrapper of user code, which may do more."""
    try:
        return isinstance(stream, io.TextIOWrapper) and stream.fileno() in _OUTPUT
    except Exception:  # the stream is closed, or not a file
        return False


def _send(record: logging.LogRecord, handler: logging.Handler, make_text: Callable[[logging.LogRecord], str]) -> bool:
    """Sends a record to the host, unless another handler has sent it. Returns false if the queue of records is full."""
    if vars(record).get(_MARK):
        return True
    try:
        message = {"type": "log", "level": _level_name(record.levelno), "logger": record.name[:_MAX_NAME_LENGTH]}
        add_correlation_id(message)
        if not records.put(_encode_to_fit(message, make_text(record))):
            return False
        vars(record)[_MARK] = True
    except Exception:
        handler.handleError(record)
    return True


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
