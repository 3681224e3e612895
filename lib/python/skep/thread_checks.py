"""Watches over the threads of a script that has not been changed for it: thread_safety_checks of a pool."""

import contextlib
import functools
import inspect
import sys
import threading
from types import FunctionType
from typing import Any, Callable, Dict, Optional, Set, Tuple

from .concurrent_profile import ConcurrentProfile
from .guarded import SPECIAL, both_stacks
from .profile import Profile
from .saying import say
from .work import Work

# What is wrong with sharing the objects of these between threads.
UNSAFE_LIBRARIES = {
    "matplotlib": "pyplot has one current figure for all threads: give each call a Figure of its own",
    "pandas": "its objects change inside even where they are only read: give each thread a copy of its own",
    "sqlite3": "a connection belongs to the thread that has opened it: open one for each thread",
}

_MOST_REPORTS = 100  # of which each has two stacks
_LOCKS = (type(threading.Lock()), type(threading.RLock()), threading.Condition, threading.Semaphore)


class ThreadChecks:
    """Says on stderr, once each, which unsafe libraries are loaded, and which methods meet in one object.

    A strict one also raises an error in the method that comes second, each time.
    """

    def __init__(self, strict: bool = False) -> None:
        self._strict = strict
        self._named: Set[str] = set()
        self._met: Set[Tuple[type, str, str]] = set()
        self._users: Dict[int, "_Use"] = {}  # by the id of an object that a thread is inside of
        self._lock = threading.Lock()

    def look_for_libraries(self) -> None:
        """Looks at what has been imported by now."""
        for name, reason in UNSAFE_LIBRARIES.items():
            if name in sys.modules and name not in self._named:
                self._named.add(name)
                say(f"skep: thread_safety_checks: {name} is not safe in several threads: {reason}\n")

    def watch_classes(self, module: str = "__main__") -> None:
        """Has the methods of the classes that a module defines watched; their objects stay what they are."""
        for kind in list(vars(sys.modules[module]).values()):
            if isinstance(kind, type) and kind.__module__ == module and not issubclass(kind, BaseException):
                self._watch(kind)

    def _watch(self, kind: type) -> None:
        for name, function in list(vars(kind).items()):
            is_special = name.startswith("__") and name.endswith("__")
            if isinstance(function, FunctionType) and (not is_special or name[2:-2] in SPECIAL):
                if not _returns_at_once(function):
                    with contextlib.suppress(Exception):  # its metaclass may refuse
                        setattr(kind, name, self._watched(name, function))

    def _watched(self, name: str, function: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(function)
        def method(self_: Any, /, *args: Any, **named: Any) -> Any:  # _is_inside() looks for self_
            use = self._enter(self_, name)
            try:
                return function(self_, *args, **named)
            finally:
                if use is not None:
                    self._leave(self_, use)

        return method

    def _enter(self, thing: Any, name: str) -> "Optional[_Use]":
        this = threading.current_thread()
        with self._lock:
            use = self._users.get(id(thing))
            if use is None or not _is_inside(use.thread, thing):  # an interrupt may have kept it from leaving
                use = self._users[id(thing)] = _Use(this, name)
            if use.thread is this:
                use.depth += 1
                return use
            meeting = (type(thing), name, use.name)
            is_news = meeting not in self._met and len(self._met) < _MOST_REPORTS
            if not (is_news or self._strict) or _has_lock(thing):
                return None
            stacks = both_stacks(f"'{name}' of a {type(thing).__qualname__}", use.thread)
            if is_news:
                self._met.add(meeting)
        if is_news:
            say(f"skep: thread_safety_checks: {stacks}\n")
        if self._strict:
            raise RuntimeError(stacks)
        return None

    def _leave(self, thing: Any, use: "_Use") -> None:
        with self._lock:
            use.depth -= 1
            if use.depth == 0:
                del self._users[id(thing)]


class _Use:
    __slots__ = ("thread", "name", "depth")

    def __init__(self, thread: threading.Thread, name: str) -> None:
        self.thread = thread
        self.name = name  # of the outermost method
        self.depth = 0


def _has_lock(thing: Any) -> bool:
    """Whether an object takes care of its threads by itself."""
    try:
        slots = [getattr(thing, name, None) for kind in type(thing).__mro__ for name in getattr(kind, "__slots__", ())]
        return any(isinstance(value, _LOCKS) for value in [*getattr(thing, "__dict__", {}).values(), *slots])
    except Exception:  # of user code
        return True


def _returns_at_once(function: Callable[..., Any]) -> bool:
    """Whether what a function does comes after its call."""
    kinds = (inspect.isgeneratorfunction, inspect.iscoroutinefunction, inspect.isasyncgenfunction)
    return any(is_kind(function) for is_kind in kinds)


def _is_inside(thread: threading.Thread, thing: Any) -> bool:
    """Whether a thread is in a watched method of an object."""
    frame = sys._current_frames().get(thread.ident or 0)
    while frame is not None:
        if frame.f_code.co_filename == __file__ and frame.f_locals.get("self_") is thing:
            return True
        frame = frame.f_back
    return False


def begin_checks(profile: Profile, work: Work, mode: str) -> None:
    """Begins to watch, if calls of the worker meet in threads. `mode`: "report" or "strict"."""
    is_wanted = mode in ("report", "strict")
    if is_wanted and isinstance(profile, ConcurrentProfile) and work.thread_safe and profile.capacity > 1:
        profile.checks = ThreadChecks(mode == "strict")
        profile.checks.look_for_libraries()
        profile.checks.watch_classes()
