"""Checks for concurrent use of one object by two threads: of a guarded object, or of any object of a script."""

import contextlib
import functools
import inspect
import sys
import threading
import traceback
from types import FunctionType
from typing import Any, Callable, Dict, List, Optional, Set, Tuple, TypeVar, cast

from .._process.diagnostics import write_to_stderr

Guarded = TypeVar("Guarded")

# Methods that Python looks up in the class, and never through __getattr__.
SPECIAL = ("call", "len", "contains", "iter", "next", "getitem", "setitem", "delitem", "enter", "exit")


def guard(thing: Guarded) -> Guarded:
    """Wraps an object so that only one thread at a time may use it.

        model = skep.guard(load_model())

    A use is a call of a method, a call of the object, or its use as a container. A thread may use the object from
    inside the object's own methods. Attributes that are not methods are unguarded, and operators are missing. For
    tests, and for the first days: each use costs about a microsecond more.

    Args:
        thing: the object to guard.
    Returns:
        The wrapper. It raises RuntimeError, with the stacks of both threads, for a use during another thread's use:
        the worker is less thread-safe than declared.
    """
    return cast(Guarded, _Guard(thing))


class _Guard:
    __slots__ = ("_skep_thing", "_skep_lock", "_skep_user")

    def __init__(self, thing: Any) -> None:
        object.__setattr__(self, "_skep_thing", thing)
        object.__setattr__(self, "_skep_lock", threading.RLock())
        object.__setattr__(self, "_skep_user", None)

    def __getattr__(self, name: str) -> Any:
        value = getattr(self._skep_thing, name)
        if not callable(value):
            return value
        return lambda *args, **keywords: _use(self, name, value, *args, **keywords)

    def __bool__(self) -> bool:
        return bool(self._skep_thing)

    def __setattr__(self, name: str, value: Any) -> None:
        _use(self, name, setattr, self._skep_thing, name, value)

    def __delattr__(self, name: str) -> None:
        _use(self, name, delattr, self._skep_thing, name)


def _use(guard: _Guard, name: str, function: Callable[..., Any], /, *args: Any, **keywords: Any) -> Any:
    lock = guard._skep_lock
    if not lock.acquire(blocking=False):
        raise RuntimeError(both_stacks(f"'{name}' of a guarded object", guard._skep_user))
    before = guard._skep_user
    try:
        object.__setattr__(guard, "_skep_user", threading.current_thread())
        return function(*args, **keywords)
    finally:
        object.__setattr__(guard, "_skep_user", before)
        lock.release()


def both_stacks(subject: str, other_thread: Optional[threading.Thread]) -> str:
    """Returns the report of a use by this thread during another thread's use, with both stacks."""
    this = threading.current_thread()
    lines = [f"{this.name} uses {subject}", *_stack(this)]
    if other_thread is not None:
        lines += [f"while {other_thread.name} is at it", *_stack(other_thread)]
    return "\n".join(lines)


def _stack(thread: threading.Thread) -> List[str]:
    frame = sys._current_frames().get(cast(int, thread.ident))
    stack = traceback.extract_stack(frame)
    return [line.rstrip("\n") for line in traceback.format_list([at for at in stack if at.filename != __file__])]


def _special(name: str) -> Callable[..., Any]:
    def method(self: _Guard, *args: Any, **keywords: Any) -> Any:
        function = getattr(type(self._skep_thing), name, None)
        if function is None:
            raise TypeError(f"'{type(self._skep_thing).__name__}' object has no {name}()")
        return _use(self, name, function, self._skep_thing, *args, **keywords)

    return method


for _name in SPECIAL:
    setattr(_Guard, f"__{_name}__", _special(f"__{_name}__"))


# Libraries whose objects threads must not share, and the reasons.
UNSAFE_LIBRARIES = {
    "matplotlib": "pyplot has one current figure for all threads: give each call a Figure of its own",
    "pandas": "its objects change inside even where they are only read: give each thread a copy of its own",
    "sqlite3": "a connection belongs to the thread that has opened it: open one for each thread",
}

_MOST_REPORTS = 100  # each has two stacks
_LOCKS = (type(threading.Lock()), type(threading.RLock()), threading.Condition, threading.Semaphore)


class ThreadChecks:
    """Reports on stderr, once each, loaded unsafe libraries and methods that run concurrently in one object.

    In strict mode, also raises an error in the second method, each time.
    """

    def __init__(self, strict: bool = False) -> None:
        self._strict = strict
        self._named: Set[str] = set()
        self._met: Set[Tuple[type, str, str]] = set()
        self._users: Dict[int, "_Use"] = {}  # by the id of an object whose method a thread runs
        self._lock = threading.Lock()

    def look_for_libraries(self) -> None:
        """Reports unsafe libraries among the modules imported so far."""
        for name, reason in UNSAFE_LIBRARIES.items():
            if name in sys.modules and name not in self._named:
                self._named.add(name)
                write_to_stderr(f"skep: thread_safety_checks: {name} is not safe in several threads: {reason}\n")

    def watch_classes(self, module: str = "__main__") -> None:
        """Watches the methods of the classes defined in a module. The objects keep their types."""
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
        def method(self_: Any, /, *args: Any, **keywords: Any) -> Any:  # _is_inside() looks for self_
            use = self._enter(self_, name)
            try:
                return function(self_, *args, **keywords)
            finally:
                if use is not None:
                    self._leave(self_, use)

        return method

    def _enter(self, thing: Any, name: str) -> "Optional[_Use]":
        this = threading.current_thread()
        with self._lock:
            use = self._users.get(id(thing))
            if use is None or not _is_inside(use.thread, thing):  # an interrupt may have prevented _leave()
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
            write_to_stderr(f"skep: thread_safety_checks: {stacks}\n")
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
    """Returns true if an object seems to protect itself: it has a lock."""
    try:
        slots = [getattr(thing, name, None) for kind in type(thing).__mro__ for name in getattr(kind, "__slots__", ())]
        return any(isinstance(value, _LOCKS) for value in [*getattr(thing, "__dict__", {}).values(), *slots])
    except Exception:  # of user code
        return True


def _returns_at_once(function: Callable[..., Any]) -> bool:
    """Returns true if a function does its work after the call returns."""
    kinds = (inspect.isgeneratorfunction, inspect.iscoroutinefunction, inspect.isasyncgenfunction)
    return any(is_kind(function) for is_kind in kinds)


def _is_inside(thread: threading.Thread, thing: Any) -> bool:
    """Returns true if a thread runs a watched method of an object."""
    frame = sys._current_frames().get(thread.ident or 0)
    while frame is not None:
        if frame.f_code.co_filename == __file__ and frame.f_locals.get("self_") is thing:
            return True
        frame = frame.f_back
    return False
