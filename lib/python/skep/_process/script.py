"""The worker's script: its name, its run, its import by multiprocessing, and its end without worker.run()."""

import atexit
import builtins
import dis
import os
import sys
from types import FrameType, ModuleType
from typing import Any, Optional, Sequence, TextIO, cast

from .diagnostics import user_frames, write_to_stderr


def script_name() -> str:
    """Returns the file name of the worker's script, for messages."""
    arguments = getattr(sys, "argv", None)
    return os.path.basename(arguments[0] if arguments else "") or "this script"


def become_script(path: str, arguments: Sequence[str]) -> None:
    """Makes this process look like the process of `python3 SCRIPT ARGUMENT...`."""
    sys.argv[:] = [path, *arguments]
    if not getattr(sys.flags, "safe_path", sys.flags.isolated):  # with these flags, Python adds no folder
        sys.path[0] = os.path.dirname(os.path.realpath(path))
    main = ModuleType("__main__")
    main.__file__ = os.path.abspath(path) if sys.version_info >= (3, 9) else path
    vars(main)["__builtins__"] = builtins
    sys.modules["__main__"] = main


def run_script(source: bytes) -> None:
    """Runs the script that this process has become, until its end.

    Passes an uncaught Exception to sys.excepthook, then raises SystemExit with status 1.
    """
    main = sys.modules["__main__"]
    try:
        exec(compile(source, str(main.__file__), "exec", dont_inherit=True), vars(main))
    except Exception as error:
        frames = user_frames(error)
        sys.excepthook(type(error), error.with_traceback(frames), frames)
        sys.exit(1)


_is_missing = True


def expect_run() -> None:
    """Registers the check at the end of the script. Forked children do not check."""
    script = _script_frame()
    if script is not None:
        atexit.register(_check_end, script, os.getpid())


def confirm_run() -> None:
    """Records that the script has called worker.run()."""
    global _is_missing
    _is_missing = False


def report_missing_run() -> bool:
    """Writes to stderr, once, that the script has not called worker.run(). Returns true if the message was written."""
    if not _is_missing:
        return False
    confirm_run()
    name = script_name()
    write_to_stderr(f"skep: {name} ended without calling worker.run(): put it in the last line\n")
    return True


def _script_frame() -> Optional[FrameType]:
    """Returns the frame that runs the script from first line to last; None if the script is not run by Python code."""
    main = vars(sys.modules["__main__"])
    frame: Optional[FrameType] = sys._getframe()
    while frame is not None and not (frame.f_globals is main and frame.f_code.co_name == "<module>"):
        frame = frame.f_back
    return frame


def _check_end(script: FrameType, process: int) -> None:
    if os.getpid() == process and _has_returned(script) and report_missing_run():
        sys.stderr = cast(TextIO, _FailingAtExit(sys.stderr))


def _has_returned(script: FrameType) -> bool:
    """Returns true if a frame has ended with a return: an exception or sys.exit() is a sufficient reason."""
    last = script.f_code.co_code[script.f_lasti]
    return dis.opname[last].startswith("RETURN_")


class _FailingAtExit:
    """stderr, with a last flush that fails.

    The failure makes Python exit with status 120. Nothing else changes the status so late while other atexit handlers
    run and files are flushed: Python ignores sys.exit() by then, and os._exit() loses output.
    """

    def __init__(self, stream: Any) -> None:
        self._stream = stream

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)

    def flush(self) -> None:
        self._stream.flush()
        if sys.is_finalizing():
            raise OSError("worker.run() was not called")


_NAME_IN_CHILD = "__mp_main__"  # in children of multiprocessing, and in its fork server

# The reason why such a child cannot serve.
NO_POOL = (
    "multiprocessing started this process inside a skep worker, and only the worker itself has a pool: call "
    "worker.run() under `if __name__ == '__main__':` alone"
)


def is_multiprocessing_import() -> bool:
    """Returns true if multiprocessing is importing the script in a child, and this call comes from that import."""
    frame: Optional[FrameType] = sys._getframe()
    while frame is not None:
        if frame.f_code.co_name == "<module>" and frame.f_globals.get("__name__") == _NAME_IN_CHILD:
            return True
        frame = frame.f_back
    return False


def warn_of_missing_guard() -> None:
    """Writes to stderr that the script needs a guard around worker.run()."""
    script = script_name()
    write_to_stderr(
        f"skep: multiprocessing imports {script} in a child, where worker.run() does nothing: keep the call under "
        "`if __name__ == '__main__':`\n"
    )
