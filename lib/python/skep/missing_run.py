"""Notices a script that a pool has started, and that comes to its end without having called worker.run()."""

import atexit
import dis
import os
import sys
from types import FrameType
from typing import Any, Optional, TextIO, cast


def expect_run() -> None:
    """From now on the end of the script is looked at, in this process alone and not in forked children."""
    run_is_called()  # there is one sentence to be said, however many workers the script creates
    script = _script_frame()
    if script is not None:
        atexit.register(_look, script, os.getpid())


def run_is_called() -> None:
    """The script is as it should be."""
    atexit.unregister(_look)


def say_what_is_missing() -> None:
    """Tells the user what to do, on stderr."""
    name = os.path.basename(sys.argv[0]) or "this script"
    print(f"skep: {name} ended without calling worker.run(): put it in the last line", file=sys.stderr, flush=True)


def _script_frame() -> Optional[FrameType]:
    """What runs the script, from its first line to its last; None if it is not Python code that runs it."""
    main = vars(sys.modules["__main__"])
    frame: Optional[FrameType] = sys._getframe()
    while frame is not None and not (frame.f_globals is main and frame.f_code.co_name == "<module>"):
        frame = frame.f_back
    return frame


def _look(script: FrameType, process: int) -> None:
    if os.getpid() == process and _has_returned(script):
        say_what_is_missing()
        sys.stderr = cast(TextIO, _FailingAtExit(sys.stderr))


def _has_returned(script: FrameType) -> bool:
    """Whether it was a return that a frame has ended with, and neither an exception nor sys.exit(), which have
    reasons of their own to leave run() out."""
    last = script.f_code.co_code[script.f_lasti]
    return dis.opname[last].startswith("RETURN_")


class _FailingAtExit:
    """stderr, but for the last flush of an interpreter that ends.

    This makes it end with status 120. Nothing else changes the status so late and still lets atexit handlers run
    and files be flushed; sys.exit() is ignored here, and os._exit() loses output.
    """

    def __init__(self, stream: Any) -> None:
        self._stream = stream

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)

    def flush(self) -> None:
        self._stream.flush()
        if sys.is_finalizing():
            raise OSError("worker.run() was not called")
