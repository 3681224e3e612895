"""What the SDK writes on stderr: its own sentences, tracebacks of errors, the stacks of all threads."""

import contextlib
import json
import os
import re
import signal
import sys
import traceback
from types import TracebackType
from typing import Callable, Iterator, Optional

_STDERR = 2  # for when user code has replaced sys.stderr, closed it, or set it to None

# Controls but for tabs and newlines, marks of direction, separators, annotations: those that the host escapes.
_HARMFUL = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u206f\ufeff\ufff9-\ufffb]"
)


def write_to_stderr(text: str) -> None:
    """Writes to sys.stderr, or to the descriptor if that is None, closed or broken."""
    try:
        sys.stderr.write(text)
        sys.stderr.flush()
    except Exception:
        with contextlib.suppress(OSError):
            os.write(_STDERR, text.encode("utf-8", "backslashreplace"))


def printable(text: str) -> str:
    """A text of somebody else's as a terminal may show it; what is escaped in JSON text stays the same JSON."""
    return _HARMFUL.sub(lambda match: f"\\u{ord(match[0]):04x}", text)


PACKAGE_FOLDER = os.path.dirname(os.path.dirname(__file__))

# Frames from here lead to user code: the SDK itself, and the JSON encoder that calls a result's to_dict().
_OUTER_FOLDERS = tuple(path + os.sep for path in (PACKAGE_FOLDER, os.path.dirname(json.__file__)))

# As type has them, whatever the metaclass says.
_MODULE: Callable[[type], object] = vars(type)["__module__"].__get__
_QUALIFIED_NAME: Callable[[type], object] = vars(type)["__qualname__"].__get__


def type_name(kind: type) -> str:
    """`Name` for builtins and the worker script itself, `module.Name` for everything else.

    A metaclass or a class may put anything in the place of the two names, or raise an error when they are read.
    """
    module, name = (_name_text(read, kind) for read in (_MODULE, _QUALIFIED_NAME))
    return name if module in ("", "builtins", "__main__") else f"{module}.{name}"


def _name_text(read: Callable[[type], object], kind: type) -> str:
    text = read(kind)
    return str.__str__(text) if issubclass(type(text), str) else ""


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
        last = f"{type_name(type(error))}: {error_text(error)}\n"
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
    write_to_stderr(user_traceback(error))


def error_text(error: BaseException) -> str:
    try:
        return str(error)
    except BaseException:  # a broken __str__ must not hide the error it belongs to
        return "(its message cannot be shown: str() of it failed)"


def dump_on_signal() -> Optional[int]:
    """Has a signal print the stacks of all threads to stderr; returns which, None if there is none to be had.

    It is SIGUSR2, or SIGUSR1 if that is taken. faulthandler's handler is C code that needs no GIL. Forked
    children inherit it, and may set what they like; a program that is executed starts without it.
    """
    try:
        import faulthandler

        for number in (signal.SIGUSR2, signal.SIGUSR1):
            if _is_free(number):
                faulthandler.register(number, file=_STDERR, all_threads=True, chain=False)
                return int(number)
    except Exception:  # whatever it is that this platform lacks, a worker can do without
        pass
    return None


def _is_free(number: int) -> bool:
    """Whether nobody handles or ignores the signal. The kernel is asked, too: the signal module does not know
    of what C code has installed, and faulthandler is C code."""
    if signal.getsignal(number) != signal.SIG_DFL:
        return False
    with open("/proc/self/status", "rb") as status:
        masks = [int(line.split()[1], 16) for line in status if line.startswith((b"SigIgn:", b"SigCgt:"))]
    return len(masks) == 2 and not any(mask >> (number - 1) & 1 for mask in masks)
