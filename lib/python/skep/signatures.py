"""What a function takes and what kind of function it is, as whoever calls it sees it."""

import functools
import inspect
from types import FunctionType, MethodType
from typing import Any, Callable, List, Optional, cast


def function_in(kind: str, target: Any) -> Callable[..., Any]:
    """What a decorator is given to register, without a staticmethod() around it; TypeError if it cannot be called."""
    function = target.__func__ if isinstance(target, staticmethod) else target
    if not callable(function):
        raise TypeError(f"a {kind} is a function, not {function!r}")
    return cast(Callable[..., Any], function)


def signature_of(kind: str, name: str, function: Callable[..., Any]) -> inspect.Signature:
    """The parameters of a function; TypeError if it has none to look at.

    The outermost function decides, since that is what is called: a wrapper may add arguments and provide others. The
    signature of a wrapped function counts only where the wrapper is written in C and has none, as lru_cache().
    """
    try:
        try:
            return _outermost_signature(function)
        except ValueError:
            if not wrapped_functions(function):
                raise
            return inspect.signature(function)
    except ValueError as error:
        raise TypeError(f"{kind} '{name}' has no signature to check arguments against: {error}") from None


def wrapped_functions(function: Callable[..., Any]) -> List[Callable[..., Any]]:
    """The functions behind a wrapper that functools.wraps() has made, the innermost last."""
    found: List[Callable[..., Any]] = []
    wrapped = _wrapped(function)
    while wrapped is not None and wrapped not in found:
        found.append(wrapped)
        wrapped = _wrapped(wrapped)
    return found


def is_async(function: Callable[..., Any]) -> bool:
    """Whether a function declares that it returns something to be awaited, or iterated by `async for`."""
    return _declares(inspect.iscoroutinefunction, function) or _declares(inspect.isasyncgenfunction, function)


def is_generator(function: Callable[..., Any]) -> bool:
    """Whether a function declares that calling it runs none of its code."""
    return _declares(inspect.isgeneratorfunction, function) or _declares(inspect.isasyncgenfunction, function)


def _declares(is_one: Callable[[Any], bool], function: Any) -> bool:
    while isinstance(function, functools.partial):
        function = function.func
    if is_one(function):
        return True
    is_object = not inspect.isroutine(function) and not inspect.isclass(function)
    return is_object and is_one(getattr(type(function), "__call__", None))


def _wrapped(function: Callable[..., Any]) -> Optional[Callable[..., Any]]:
    wrapped = getattr(function, "__wrapped__", None)
    return wrapped if callable(wrapped) else None


def _outermost_signature(function: Callable[..., Any]) -> inspect.Signature:
    declared = getattr(function, "__signature__", None)
    wrapped = wrapped_functions(function)
    if declared is not None and any(getattr(each, "__signature__", None) is declared for each in wrapped):
        function = _bare(function)  # functools.wraps() has copied it: it says nothing about the wrapper
    return inspect.signature(function, follow_wrapped=False)


def _bare(function: Any) -> Callable[..., Any]:
    """A function without its attributes."""
    if isinstance(function, MethodType):
        return cast(Callable[..., Any], MethodType(_bare(function.__func__), function.__self__))
    if inspect.isclass(function):
        return cast(Callable[..., Any], function)
    if not isinstance(function, FunctionType):
        return cast(Callable[..., Any], MethodType(type(function).__call__, function))
    bare = FunctionType(
        function.__code__, function.__globals__, function.__name__, function.__defaults__, function.__closure__
    )
    bare.__kwdefaults__ = function.__kwdefaults__
    return bare
