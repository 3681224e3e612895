"""What a child does that user code forks and that comes back from there."""

import os
import sys
from typing import NoReturn, Optional

from .description import show_traceback


def leave(error: Optional[BaseException] = None) -> NoReturn:
    """Ends a forked child that comes back from user code, perhaps with an error, as Python would.

    At once: what is still to happen in the conversation, in the script and atexit is the worker's own affair.
    """
    try:
        if error is not None:
            show_traceback(error)
        for stream in filter(None, (sys.stdout, sys.stderr)):
            stream.flush()
    finally:
        os._exit(0 if error is None else 1)
