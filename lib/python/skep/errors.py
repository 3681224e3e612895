"""What can go wrong with a call, and how an exception is described to the caller."""

import json
import os
import sys
import traceback
from types import TracebackType
from typing import Optional, Tuple

# Frames from here lead to user code: the SDK itself, and the JSON encoder that calls a result's to_dict().
_OUTER_FOLDERS = tuple(os.path.dirname(path) + os.sep for path in (__file__, json.__file__))

# An exception may carry any amount of text; what travels is bounded, in bytes of UTF-8, as at the host. The start
# of a message says most, and the end of a traceback.
_TYPE_LIMIT = 256
_MESSAGE_LIMIT = 64 * 1024
_TRACEBACK_LIMIT = 256 * 1024


class Cancelled(BaseException):
    """Raised inside a command when its caller has cancelled the call.

    A BaseException, so that `except Exception` in user code does not swallow it. Clean up and let it pass; a
    command that catches it and returns has answered all the same.
    """

    __module__ = "skep"  # where user code finds it, and tracebacks should name it


class ProtocolError(Exception):
    """The host sent something that the protocol does not allow."""


class CallError(Exception):
    """An error that the SDK itself answers a call with; `kind` is the error type the caller sees."""

    def __init__(self, kind: str, message: str) -> None:
        super().__init__(message)
        self.kind = kind


def type_name(kind: type) -> str:
    """`Name` for builtins and the worker script itself, `module.Name` for everything else."""
    if kind.__module__ in ("builtins", "__main__"):
        return kind.__qualname__
    return f"{kind.__module__}.{kind.__qualname__}"


def describe(error: BaseException) -> Tuple[str, str, str]:
    """The type, message and traceback of an exception, as the caller gets them."""
    if isinstance(error, CallError):
        return error.kind, _start(str(error), _MESSAGE_LIMIT), ""
    kind = "Cancelled" if type(error) is Cancelled else type_name(type(error))
    message, traceback_text = _message(error), user_traceback(error)
    return _start(kind, _TYPE_LIMIT), _start(message, _MESSAGE_LIMIT), _end(traceback_text, _TRACEBACK_LIMIT)


def user_traceback(error: BaseException) -> str:
    """The traceback as Python prints it, without the frames of the SDK it starts with."""
    entry: Optional[TracebackType] = error.__traceback__
    while entry is not None and entry.tb_frame.f_code.co_filename.startswith(_OUTER_FOLDERS):
        entry = entry.tb_next
    return "".join(traceback.format_exception(type(error), error, entry))


def show_traceback(error: BaseException) -> None:
    """Prints user_traceback() where Python prints that of an error nobody catches."""
    print(user_traceback(error), end="", file=sys.stderr, flush=True)


def _start(text: str, limit: int) -> str:
    # A character has a byte or more. "replace" is for lone surrogates, "ignore" for the character cut in half.
    return text[:limit].encode("utf-8", "replace")[:limit].decode("utf-8", "ignore")


def _end(text: str, limit: int) -> str:
    return text[-limit:].encode("utf-8", "replace")[-limit:].decode("utf-8", "ignore")


def _message(error: BaseException) -> str:
    try:
        return str(error)
    except Exception:  # a broken __str__ must not hide the error it belongs to
        return "(its message cannot be shown: str() of it failed)"
