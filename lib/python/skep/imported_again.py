"""The worker's script as a child of multiprocessing imports it: as a module, to find functions in it."""

import sys
from types import FrameType
from typing import Optional

from .saying import say, script_name

_NAME = "__mp_main__"  # of the script in such a child, and in the server that forks such children

# Why such a child cannot serve.
NO_POOL = (
    "multiprocessing started this process inside a skep worker, and only the worker itself has a pool: call worker.run() "
    "under `if __name__ == '__main__':` alone"
)


def is_imported_again() -> bool:
    """Whether the code that runs is called by the import of the script in a child."""
    frame: Optional[FrameType] = sys._getframe()
    while frame is not None:
        if frame.f_code.co_name == "<module>" and frame.f_globals.get("__name__") == _NAME:
            return True
        frame = frame.f_back
    return False


def warn_of_missing_guard() -> None:
    """Says on stderr what the script should have."""
    script = script_name()
    say(
        f"skep: multiprocessing imports {script} in a child, where worker.run() does nothing: keep the call under "
        "`if __name__ == '__main__':`\n"
    )
