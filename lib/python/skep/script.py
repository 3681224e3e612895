"""Runs a script inside this process as `python3 SCRIPT ARGUMENT...` would."""

import builtins
import os
import sys
from types import ModuleType
from typing import Sequence

from .description import user_frames


def become_script(path: str, arguments: Sequence[str]) -> None:
    """Makes this process look like that of the script."""
    sys.argv[:] = [path, *arguments]
    if not getattr(sys.flags, "safe_path", sys.flags.isolated):  # with these, Python adds no folder of its own
        sys.path[0] = os.path.dirname(os.path.realpath(path))
    main = ModuleType("__main__")
    main.__file__ = os.path.abspath(path) if sys.version_info >= (3, 9) else path
    vars(main)["__builtins__"] = builtins
    sys.modules["__main__"] = main


def run_script(source: bytes) -> None:
    """Runs the script that this process has become; returns when it comes to its end.

    An Exception that it does not catch goes where Python lets it go, and ends in SystemExit with status 1.
    """
    main = sys.modules["__main__"]
    try:
        exec(compile(source, str(main.__file__), "exec", dont_inherit=True), vars(main))
    except Exception as error:
        frames = user_frames(error)
        sys.excepthook(type(error), error.with_traceback(frames), frames)
        sys.exit(1)
