"""Ends of a worker's process, and their exit statuses."""

import atexit
import contextlib
import os
import signal
import sys
import threading
from typing import Callable, NoReturn, Optional

from .diagnostics import printable, show_traceback, write_to_stderr

EXIT_FAILED = 1  # a hook or a command failed
EXIT_NOT_STARTED_BY_POOL = 64
EXIT_HOST_GONE = 70
EXIT_PROTOCOL_ERROR = 76
EXIT_UNSUITABLE = 78


class Terminate(BaseException):
    """Raised in user code when SIGTERM has arrived."""


_has_guard = False  # if true, the host's guard kills the process group


def set_guard(has_guard: bool) -> None:
    """Sets whether the host's guard kills the processes that this process has started."""
    global _has_guard
    _has_guard = has_guard


def exit_without_host() -> NoReturn:
    """Ends this process at once, from any thread, because the host is gone.

    Over stdio, where the host may be on another machine, kills the process group as well. Over sockets the host's guard
    kills the group a moment later.
    """
    if not _has_guard and os.getpgrp() == os.getpid():
        os.killpg(0, signal.SIGKILL)
    os._exit(EXIT_HOST_GONE)


def exit_forked_child(error: Optional[BaseException] = None) -> NoReturn:
    """Ends a forked child that returns from user code, or leaves it by an error, with the status that Python would use.

    Ends the child at once: the rest of the conversation, of the script and atexit belong to the worker. The child must
    not close an event loop: it shares the selector with the worker, and the worker's loop would get no more events.
    """
    status = 1
    try:
        if error is None or issubclass(type(error), Terminate):
            status = 0
        elif issubclass(type(error), SystemExit):
            status = _status(getattr(error, "code", None))
        else:
            show_traceback(error)
    finally:
        exit_at_once(status)


def exit_at_once(status: int) -> NoReturn:
    """Ends this process without its handlers of atexit and in spite of its threads. Flushes stdout and stderr."""
    try:
        flush_output()
    finally:
        os._exit(status)


def run_to_end(function: Callable[[], object]) -> NoReturn:
    """Runs a function in a forked worker, then ends the process as Python would, but leaves all objects alone.

    An interpreter that ends frees its objects, and so would copy each page that the worker shares with its template.
    """
    status = 0
    try:
        function()
    except SystemExit as end:
        status = _status(end.code)
    except BaseException as error:
        sys.excepthook(type(error), error, error.__traceback__)
        status = 1
    end_threads: Callable[[], None] = getattr(threading, "_shutdown")
    end_threads()
    run_exit_handlers: Callable[[], None] = getattr(atexit, "_run_exitfuncs")
    run_exit_handlers()
    exit_at_once(status)


def drop_exit_handlers() -> None:
    """Drops the handlers of atexit that a template has registered: they belong to all of its workers."""
    getattr(atexit, "_clear")()


def flush_output() -> None:
    """Flushes stdout and stderr."""
    for stream in filter(None, (sys.stdout, sys.stderr)):
        with contextlib.suppress(Exception):  # the stream may be closed, or replaced by user code
            stream.flush()


def _status(code: object) -> int:
    """Returns the exit status of sys.exit(code); writes a code that is no number to stderr."""
    if code is None:
        return 0
    if isinstance(code, int):
        return code & 0xFF
    write_to_stderr(f"{code}\n")
    return 1


def exit_for_protocol_error(error: Exception) -> NoReturn:
    """Ends the worker from another thread: user code may keep the main thread busy for any time."""
    report_protocol_error(error)
    os._exit(EXIT_PROTOCOL_ERROR)


def report_protocol_error(error: Exception) -> None:
    """Writes the reason why the worker ends to stderr."""
    write_to_stderr(f"skep: the host broke the protocol: {printable(str(error))}\n")
