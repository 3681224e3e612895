"""How an exception is described: to the caller, and on stderr."""

import json
import os
import traceback
from types import TracebackType
from typing import Callable, Dict, Iterator, Optional

from .errors import CallError, Error, valid_code
from .saying import say

# Frames from here lead to user code: the SDK itself, and the JSON encoder that calls a result's to_dict().
_OUTER_FOLDERS = tuple(os.path.dirname(path) + os.sep for path in (__file__, json.__file__))

# An exception may carry any amount of text; what travels is bounded, in bytes of UTF-8, as at the host. The start
# of a message says most, and the end of a traceback.
_TYPE_LIMIT = 256
_MESSAGE_LIMIT = 64 * 1024
_TRACEBACK_LIMIT = 256 * 1024
_REMARK_LIMIT = 1024

# As type has them, whatever the metaclass says.
_MODULE: Callable[[type], object] = vars(type)["__module__"].__get__
_QUALIFIED_NAME: Callable[[type], object] = vars(type)["__qualname__"].__get__


def type_name(kind: type) -> str:
    """`Name` for builtins and the worker script itself, `module.Name` for everything else.

    A metaclass or a class may put anything in the place of the two names, or raise an error when they are read.
    """
    module, name = (_text_of(read, kind) for read in (_MODULE, _QUALIFIED_NAME))
    return name if module in ("", "builtins", "__main__") else f"{module}.{name}"


def _text_of(read: Callable[[type], object], kind: type) -> str:
    text = read(kind)
    return str.__str__(text) if issubclass(type(text), str) else ""


def describe(error: BaseException) -> Dict[str, str]:
    """The error object that the caller gets, but for the data of an Error."""
    described = {
        "type": _start(type_name(type(error)), _TYPE_LIMIT) or "?",  # type() makes classes without a name
        "message": _start(_message(error), _MESSAGE_LIMIT),
        "traceback": "",
    }
    code = _code(error)
    if code is not None:
        described["code"] = code
    elif not issubclass(type(error), CallError):
        described["traceback"] = _end(user_traceback(error), _TRACEBACK_LIMIT)
    return described


def with_remark(message: str, remark: str) -> str:
    """A message and, however long it is, what has to be said after it."""
    remark = f" ({_start(remark, _REMARK_LIMIT)})"
    return _start(message, _MESSAGE_LIMIT - len(remark.encode())) + remark


def user_frames(error: BaseException) -> Optional[TracebackType]:
    """The traceback of an exception without the frames of the SDK it starts with."""
    entry = error.__traceback__
    while entry is not None and entry.tb_frame.f_code.co_filename.startswith(_OUTER_FOLDERS):
        entry = entry.tb_next
    return entry


def user_traceback(error: BaseException) -> str:
    """The user_frames() as Python prints a traceback."""
    frames = user_frames(error)
    try:
        lines = traceback.format_exception(type(error), error, frames)
    except BaseException:  # it is asked for more than it has: a __getattr__ of its own, say, or a SyntaxError of odd parts
        last = f"{type_name(type(error))}: {_message(error)}\n"
        lines = ["Traceback (most recent call last):\n", *_places(frames), last]
    return "".join(lines)


def _places(entry: Optional[TracebackType]) -> Iterator[str]:
    """The frames without their source, which user code may keep from being read."""
    while entry is not None:
        code = entry.tb_frame.f_code
        yield f'  File "{code.co_filename}", line {entry.tb_lineno}, in {code.co_name}\n'
        entry = entry.tb_next


def show_traceback(error: BaseException) -> None:
    """Prints user_traceback() where Python prints that of an error nobody catches."""
    say(user_traceback(error))


def _code(error: BaseException) -> Optional[str]:
    try:
        return valid_code(getattr(error, "code", None)) if issubclass(type(error), Error) else None
    except BaseException:  # a subclass has spoilt it: an error like any other
        return None


def _start(text: str, limit: int) -> str:
    # A character has a byte or more. "replace" is for lone surrogates, "ignore" for the character cut in half.
    return text[:limit].encode("utf-8", "replace")[:limit].decode("utf-8", "ignore")


def _end(text: str, limit: int) -> str:
    return text[-limit:].encode("utf-8", "replace")[-limit:].decode("utf-8", "ignore")


def _message(error: BaseException) -> str:
    try:
        return str(error)
    except BaseException:  # a broken __str__ must not hide the error it belongs to
        return "(its message cannot be shown: str() of it failed)"
