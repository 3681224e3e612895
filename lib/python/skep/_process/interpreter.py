"""Features of the interpreter that libraries replace: functions and classes in C, and threads."""

import _thread
import importlib
import importlib.util
import os
import sys
import sysconfig
import threading
from importlib.machinery import BuiltinImporter, PathFinder
from types import BuiltinFunctionType
from typing import TYPE_CHECKING, Any, Dict, Optional, Tuple



def _unpatched(name: str) -> Dict[str, Any]:
    """Returns the original content of a module in C, without replacements by libraries.

    Returns the present content in an interpreter that does not find the original.
    """
    module = importlib.import_module(name)
    patched = dict(vars(module))
    spec = BuiltinImporter.find_spec(name) or PathFinder.find_spec(name)
    if spec is None or spec.loader is None:
        return patched
    copy = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(copy)
    content = dict(vars(copy))
    # Python 3.9 replaces the module by the copy, and in Python 3.8 both are one object: restore the patches for others.
    sys.modules[name] = module
    vars(module).update(patched)
    for removed in vars(module).keys() - patched.keys():
        del vars(module)[removed]
    return content


# gevent replaces these. A thread of the SDK that waits in a replacement gets a hub of gevent, and Python sometimes
# crashes at its end because of the hub.
if TYPE_CHECKING:
    from os import fork
    from queue import SimpleQueue
    from select import epoll, poll
    from socket import socket
    from time import sleep
else:
    fork = importlib.import_module("posix").fork
    SimpleQueue = importlib.import_module("_queue").SimpleQueue
    socket = importlib.import_module("_socket").socket
    _select = _unpatched("select")
    epoll, poll = _select["epoll"], _select["poll"]
    sleep = _unpatched("time")["sleep"]

__all__ = [
    "SimpleQueue",
    "epoll",
    "fork",
    "own_descriptor",
    "poll",
    "replacement_of_threads",
    "sleep",
    "socket",
    "threading_kind",
]

_PATIENCE = 5.0  # seconds until a thread counts as not started


def own_descriptor(descriptor: int) -> epoll:
    """Returns the owner of any descriptor: its last reference closes the descriptor, in C.

    So an interrupt cannot prevent the closing. A file would do the same, and warn.
    """
    return epoll.fromfd(descriptor)


# The SDK needs a thread that runs independently of the main thread: it receives the host's messages while a command
# runs, and interrupts the command. gevent and eventlet replace threads by coroutines, which run only while the main
# thread waits.
_REPLACED = "{} has replaced threads by something else, and the SDK needs threads to hear its pool while a command runs"
_LIBRARIES = (
    ("gevent.monkey", "is_module_patched", "monkey.patch_all(thread=False)"),
    ("eventlet.patcher", "is_monkey_patched", "eventlet.monkey_patch(thread=False)"),
)

# How the threading module starts a thread, and the arguments besides the function: since Python 3.13 there are no others.
_HAS_JOINABLE_THREADS = hasattr(threading, "_start_joinable_thread")
_STARTER = "_start_joinable_thread" if _HAS_JOINABLE_THREADS else "_start_new_thread"
_STARTER_ARGUMENTS: Tuple[Any, ...] = () if _HAS_JOINABLE_THREADS else ((),)


def replacement_of_threads() -> Optional[str]:
    """Returns the reason why the SDK has no threads, with the remedy; None if threads are real."""
    for module, predicate, remedy in _LIBRARIES:
        is_replaced = getattr(sys.modules.get(module), predicate, None)
        if callable(is_replaced) and any(map(is_replaced, ("_thread", "thread", "threading"))):
            return _REPLACED.format(module.partition(".")[0]) + f": use {remedy}, or do not patch"
    # Debuggers wrap these functions, and still start threads: a trial decides.
    starters = ((_thread.start_new_thread, ((),)), (getattr(threading, _STARTER), _STARTER_ARGUMENTS))
    if all(isinstance(start, BuiltinFunctionType) for start, _ in starters):
        return None
    if all(_starts_thread(start, arguments) for start, arguments in starters):
        return None
    return _REPLACED.format("a library") + " (_thread.start_new_thread starts none)"


def _starts_thread(start: Any, arguments: Tuple[Any, ...]) -> bool:
    """Returns true if a function starts a thread that runs while this thread keeps control."""
    threads: "SimpleQueue[str]" = SimpleQueue()

    def report() -> None:
        threads.put(os.readlink("/proc/thread-self"))

    try:
        start(report, *arguments)
        return threads.get(timeout=_PATIENCE) != os.readlink("/proc/thread-self")
    except Exception:
        return False


def threading_kind() -> str:
    """Returns the remark of the hello about a free-threaded interpreter; empty for an interpreter with a GIL."""
    if not sysconfig.get_config_var("Py_GIL_DISABLED"):
        return ""
    # The GIL returns with the import of a module that needs it.
    has_gil = getattr(sys, "_is_gil_enabled", lambda: True)()
    return " (free-threaded build, with its GIL on)" if has_gil else " (free-threaded)"
