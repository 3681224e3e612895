"""Output of the SDK on stderr: sentences, tracebacks of errors, the stacks of all threads."""

import contextlib
import json
import os
import re
import signal
import sys
import traceback
from types import TracebackType
from typing import Callable, Iterator, Optional

_STDERR = 2  # the fallback for a sys.stderr that user code has replaced, closed or set to None

# The characters that the host escapes: controls but tabs and newlines, direction marks, separators, annotations.
_HARMFUL = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u206f\ufeff\ufff9-\ufffb]"
)


def write_to_stderr(text: str) -> None:
    """Writes to sys.stderr, or to descriptor 2 if sys.stderr is None, closed or broken."""
    try:
        sys.stderr.write(text)
        sys.stderr.flush()
    except Exception:
        with contextlib.suppress(OSError):
            os.write(_STDERR, text.encode("utf-8", "backslashreplace"))


def printable(text: str) -> str:
    """Escapes the characters that could change a terminal. JSON text stays equivalent JSON."""
    return _HARMFUL.sub(lambda match: f"\\u{ord(match[0]):04x}", text)


PACKAGE_FOLDER = os.path.dirname(os.path.dirname(__file__))

# Frames in these folders lead to user code: the SDK, and the JSON encoder, which calls to_dict() of a result.
_OUTER_FOLDERS = tuple(path + os.sep for path in (PACKAGE_FOLDER, os.path.dirname(json.__file__)))

# The attributes as type defines them, even if a metaclass redefines them.
_MODULE: Callable[[type], object] = vars(type)["__module__"].__get__
_QUALIFIED_NAME: Callable[[type], object] = vars(type)["__qualname__"].__get__


def type_name(kind: type) -> str:
    """Returns `Name` for builtins and classes of the worker script, `module.Name` for all other classes.

    A metaclass or a class may replace the two names by anything, or raise an error when they are read.
    """
    module, name = (_name_text(read, kind) for read in (_MODULE, _QUALIFIED_NAME))
    return name if module in ("", "builtins", "__main__") else f"{module}.{name}"


def _name_text(read: Callable[[type], object], kind: type) -> str:
    text = read(kind)
    return str.__str__(text) if issubclass(type(text), str) else ""


def user_frames(error: BaseException) -> Optional[TracebackType]:
    """Returns the traceback of an exception without the leading frames of the SDK."""
    entry = error.__traceback__
    while entry is not None and entry.tb_frame.f_code.co_filename.startswith(_OUTER_FOLDERS):
        entry = entry.tb_next
    return entry


def user_traceback(error: BaseException) -> str:
    """Returns user_frames() in the format of Python's tracebacks."""
    frames = user_frames(error)
    try:
        lines = traceback.format_exception(type(error), error, frames)
    except BaseException:  # a __getattr__ that fails, a SyntaxError of odd parts
        last = f"{type_name(type(error))}: {error_text(error)}\n"
        lines = ["Traceback (most recent call last):\n", *_places(frames), last]
    return "".join(lines)


def _places(entry: Optional[TracebackType]) -> Iterator[str]:
    """Yields the frames without source lines: user code may keep them from being read."""
    while entry is not None:
        code = entry.tb_frame.f_code
        yield f'  File "{code.co_filename}", line {entry.tb_lineno}, in {code.co_name}\n'
        entry = entry.tb_next


def show_traceback(error: BaseException) -> None:
    """Writes user_traceback() to stderr, as Python does with an uncaught error."""
    write_to_stderr(user_traceback(error))


def error_text(error: BaseException) -> str:
    try:
        return str(error)
    except BaseException:  # a broken __str__ must not hide the error it belongs to
        return "(its message cannot be shown: str() of it failed)"


def dump_on_crash() -> None:
    """Makes a fatal signal, such as SIGSEGV, write the stacks of all threads to stderr before the process ends.

    Leaves a faulthandler alone that user code or PYTHONFAULTHANDLER has enabled.
    """
    try:
        import faulthandler

        if not faulthandler.is_enabled():
            faulthandler.enable(_STDERR, all_threads=True)
    except Exception:  # a worker works without stacks on a platform that lacks them
        pass


def dump_on_signal() -> Optional[int]:
    """Makes a signal write the stacks of all threads to stderr. Returns the signal, None if none is free.

    The signal is SIGUSR2, or SIGUSR1 if SIGUSR2 is in use. The handler of faulthandler is C code and needs no GIL.
    Forked children inherit the handler and may replace it; executed programs start without it.
    """
    try:
        import faulthandler

        for number in (signal.SIGUSR2, signal.SIGUSR1):
            if _is_free(number):
                faulthandler.register(number, file=_STDERR, all_threads=True, chain=False)
                return int(number)
    except Exception:  # a worker works without stacks on a platform that lacks them
        pass
    return None


def _is_free(number: int) -> bool:
    """Returns true if the signal is at its default.

    Asks the kernel, too: the signal module misses handlers that C code has installed, and faulthandler is C code.
    """
    if signal.getsignal(number) != signal.SIG_DFL:
        return False
    with open("/proc/self/status", "rb") as status:
        masks = [int(line.split()[1], 16) for line in status if line.startswith((b"SigIgn:", b"SigCgt:"))]
    return len(masks) == 2 and not any(mask >> (number - 1) & 1 for mask in masks)
