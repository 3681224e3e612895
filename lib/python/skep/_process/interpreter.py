"""What the SDK needs of the interpreter: queue and socket in C, and real threads."""

import _thread
import importlib
import os
import sys
import sysconfig
import threading
from types import BuiltinFunctionType
from typing import TYPE_CHECKING, Any, Optional

if TYPE_CHECKING:
    from queue import SimpleQueue
    from socket import socket
else:
    SimpleQueue = importlib.import_module("_queue").SimpleQueue
    socket = importlib.import_module("_socket").socket

__all__ = ["SimpleQueue", "replacement_of_threads", "socket", "threading_kind"]

_PATIENCE = 5.0  # seconds for a thread to start


# The SDK hears the host while a command runs, and interrupts it. That takes a thread that runs whatever the main thread does.
# gevent and eventlet replace threads by coroutines, which run when the main thread waits and lets them.


def replacement_of_threads() -> Optional[str]:
    """Says why the SDK has no threads, and what to do about it; None if it has."""
    for module, is_patched, cure in _LIBRARIES:
        is_replaced = getattr(sys.modules.get(module), is_patched, None)
        if callable(is_replaced) and any(map(is_replaced, ("_thread", "thread", "threading"))):
            return _REPLACED.format(module.partition(".")[0]) + f": use {cure}, or do not patch"
    # Debuggers replace these, too, by what starts a thread in the end: so the last word is that of a try.
    starters = (_thread.start_new_thread, getattr(threading, _STARTER))
    if all(isinstance(start, BuiltinFunctionType) for start in starters) or all(map(_starts_thread, starters)):
        return None
    return _REPLACED.format("a library") + " (_thread.start_new_thread starts none)"


_REPLACED = "{} has replaced threads by something else, and the SDK needs threads to hear its pool while a command runs"
_LIBRARIES = (
    ("gevent.monkey", "is_module_patched", "monkey.patch_all(thread=False)"),
    ("eventlet.patcher", "is_monkey_patched", "eventlet.monkey_patch(thread=False)"),
)
_STARTER = "_start_joinable_thread" if hasattr(threading, "_start_joinable_thread") else "_start_new_thread"


def _starts_thread(start: Any) -> bool:
    """Whether it starts a thread that runs while this one does not let it."""
    threads: "SimpleQueue[str]" = SimpleQueue()

    def report() -> None:
        threads.put(os.readlink("/proc/thread-self"))

    try:
        start(report) if start.__name__ == "_start_joinable_thread" else start(report, ())
        return threads.get(timeout=_PATIENCE) != os.readlink("/proc/thread-self")
    except Exception:
        return False


def threading_kind() -> str:
    """What hello says of it: nothing for an interpreter with a GIL."""
    if not sysconfig.get_config_var("Py_GIL_DISABLED"):
        return ""
    # It comes back when a module is imported that cannot do without.
    has_gil = getattr(sys, "_is_gil_enabled", lambda: True)()
    return " (free-threaded build, with its GIL on)" if has_gil else " (free-threaded)"
