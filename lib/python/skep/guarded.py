"""Finds out whether two threads use one object at once."""

import os
import sys
import threading
import traceback
from typing import Any, Callable, List, Optional, TypeVar, cast

Guarded = TypeVar("Guarded")

# What Python looks up in the class, and never through __getattr__.
SPECIAL = ("call", "len", "contains", "iter", "next", "getitem", "setitem", "delitem", "enter", "exit")

_FILES = (__file__, os.path.join(os.path.dirname(__file__), "thread_checks.py"))  # of no interest in a stack


def guard(thing: Guarded) -> Guarded:
    """An object that passes everything on to another one, but to one thread at a time.

        model = skep.guard(load_model())

    A thread that calls a method, calls the object or uses it as a container, while another thread is inside of such a
    use, gets a RuntimeError with the stacks of both: the worker is not as thread-safe as it says. A thread may use
    the object from inside its own methods. Attributes that are no methods are passed on unguarded, operators not at
    all. For tests, and for the first days: a use costs about a microsecond more.
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
        return lambda *args, **named: _use(self, name, value, *args, **named)

    def __bool__(self) -> bool:
        return bool(self._skep_thing)

    def __setattr__(self, name: str, value: Any) -> None:
        _use(self, name, setattr, self._skep_thing, name, value)

    def __delattr__(self, name: str) -> None:
        _use(self, name, delattr, self._skep_thing, name)


def _use(guard: _Guard, name: str, function: Callable[..., Any], /, *args: Any, **named: Any) -> Any:
    lock = guard._skep_lock
    if not lock.acquire(blocking=False):
        raise RuntimeError(both_stacks(f"'{name}' of a guarded object", guard._skep_user))
    before = guard._skep_user
    try:
        object.__setattr__(guard, "_skep_user", threading.current_thread())
        return function(*args, **named)
    finally:
        object.__setattr__(guard, "_skep_user", before)
        lock.release()


def both_stacks(what: str, other: Optional[threading.Thread]) -> str:
    """That this thread uses something while another one is at it, and where the two are."""
    this = threading.current_thread()
    lines = [f"{this.name} uses {what}", *_stack(this)]
    if other is not None:
        lines += [f"while {other.name} is at it", *_stack(other)]
    return "\n".join(lines)


def _stack(thread: threading.Thread) -> List[str]:
    frame = sys._current_frames().get(cast(int, thread.ident))
    stack = traceback.extract_stack(frame)
    return [line.rstrip("\n") for line in traceback.format_list([at for at in stack if at.filename not in _FILES])]


def _special(name: str) -> Callable[..., Any]:
    def method(self: _Guard, *args: Any, **named: Any) -> Any:
        function = getattr(type(self._skep_thing), name, None)
        if function is None:
            raise TypeError(f"'{type(self._skep_thing).__name__}' object has no {name}()")
        return _use(self, name, function, self._skep_thing, *args, **named)

    return method


for _name in SPECIAL:
    setattr(_Guard, f"__{_name}__", _special(f"__{_name}__"))
