"""Notices a script that a pool has started, and that comes to its end without having called worker.run()."""

import atexit
import dis
import os
import sys
from types import FrameType
from typing import Any, Optional, TextIO, cast

from .saying import say, script_name

_is_missing = True


def expect_run() -> None:
    """From now on the end of the script is looked at, in this process alone and not in forked children."""
    script = _script_frame()
    if script is not None:
        atexit.register(_look, script, os.getpid())


def run_is_called() -> None:
    """The script is as it should be."""
    global _is_missing
    _is_missing = False


def complain() -> bool:
    """Says on stderr that the call is missing, and returns whether that was so. It is said once."""
    if not _is_missing:
        return False
    run_is_called()
    name = script_name()
    say(f"skep: {name} ended without calling worker.run(): put it in the last line\n")
    return True


def _script_frame() -> Optional[FrameType]:
    """What runs the script, from its first line to its last; None if it is not Python code that runs it."""
    main = vars(sys.modules["__main__"])
    frame: Optional[FrameType] = sys._getframe()
    while frame is not None and not (frame.f_globals is main and frame.f_code.co_name == "<module>"):
        frame = frame.f_back
    return frame


def _look(script: FrameType, process: int) -> None:
    if os.getpid() == process and _has_returned(script) and complain():
        sys.stderr = cast(TextIO, _FailingAtExit(sys.stderr))


def _has_returned(script: FrameType) -> bool:
    """Whether a frame has ended with a return, and not with an exception or sys.exit(): scripts that end with
    these have said why."""
    last = script.f_code.co_code[script.f_lasti]
    return dis.opname[last].startswith("RETURN_")


class _FailingAtExit:
    """stderr, but for the last flush of an interpreter that ends.

    This makes Python exit with status 120. Nothing else changes the status so late and yet lets the other atexit
    handlers run and files be flushed: sys.exit() is ignored then, and os._exit() loses output.
    """

    def __init__(self, stream: Any) -> None:
        self._stream = stream

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)

    def flush(self) -> None:
        self._stream.flush()
        if sys.is_finalizing():
            raise OSError("worker.run() was not called")
