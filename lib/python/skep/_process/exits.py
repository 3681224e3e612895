"""How the process of a worker ends, and with which exit status."""

import contextlib
import os
import signal
import sys
from typing import NoReturn, Optional

from .diagnostics import printable, show_traceback, write_to_stderr

EXIT_FAILED = 1  # a hook or a command failed
EXIT_NOT_STARTED_BY_POOL = 64
EXIT_HOST_GONE = 70
EXIT_PROTOCOL_ERROR = 76
EXIT_UNSUITABLE = 78


class Terminate(BaseException):
    """SIGTERM has arrived: leave user code and stop."""


_has_guard = False  # whether the host's guard ends what this process has started


def set_guard(has_guard: bool) -> None:
    """Says whether the host's guard ends what this process has started."""
    global _has_guard
    _has_guard = has_guard


def exit_without_host() -> NoReturn:
    """The host is gone: ends this process at once, from any thread. Over stdio, which may come from another machine, it
    takes along what it has started; over sockets the host's guard ends that a moment later."""
    if not _has_guard and os.getpgrp() == os.getpid():
        os.killpg(0, signal.SIGKILL)
    os._exit(EXIT_HOST_GONE)


def exit_forked_child(error: Optional[BaseException] = None) -> NoReturn:
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
    write_to_stderr(f"{code}\n")
    return 1


def exit_for_protocol_error(error: Exception) -> NoReturn:
    """Ends the worker from a thread that is not the main one: user code may be busy there for any time."""
    report_protocol_error(error)
    os._exit(EXIT_PROTOCOL_ERROR)


def report_protocol_error(error: Exception) -> None:
    """Says on stderr why the worker gives up."""
    write_to_stderr(f"skep: the host broke the protocol: {printable(str(error))}\n")
