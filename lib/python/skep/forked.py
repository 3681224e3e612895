"""What a child does that user code forks and that comes back from there."""

import contextlib
import os
import sys
from typing import NoReturn, Optional

from .description import show_traceback
from .interrupts import Terminate
from .saying import say


def leave(error: Optional[BaseException] = None) -> NoReturn:
    """Ends a forked child that comes back from user code, perhaps with an error, as Python would.

    At once: what is still to happen in the conversation, in the script and atexit is the worker's own affair. An event
    loop that the child closed would hear nothing any more in the worker, as they share what it waits with.
    """
    status = 1
    try:
        if error is None or issubclass(type(error), Terminate):
            status = 0
        elif issubclass(type(error), SystemExit):
            status = _status(getattr(error, "code", None))
        else:
            show_traceback(error)
        for stream in filter(None, (sys.stdout, sys.stderr)):
            with contextlib.suppress(Exception):  # it may be closed, or something of the user's
                stream.flush()
    finally:
        os._exit(status)


def _status(code: object) -> int:
    """What sys.exit(code) ends a process with; says what is no number."""
    if code is None:
        return 0
    if isinstance(code, int):
        return code & 0xFF
    say(f"{code}\n")
    return 1
