"""What is to be done with the value that user code returns: the value decides, not the function."""

import functools
import inspect
from collections.abc import AsyncGenerator, Awaitable, Generator
from typing import Any, Callable, TypeVar

# The types of most results.
DATA = frozenset((dict, list, str, int, float, bool, type(None), tuple, bytes))

AWAITABLE = "awaitable"
GENERATOR = "generator"
ASYNC_GENERATOR = "async generator"

_Fact = TypeVar("_Fact")


def per_type(function: Callable[[type], _Fact]) -> Callable[[type], _Fact]:
    """lru_cache() of what a function says of types; alone it would hide from type checkers what that is."""
    return functools.lru_cache(maxsize=1024)(function)


def kind_of(value: Any) -> str:
    """AWAITABLE, GENERATOR, ASYNC_GENERATOR, or nothing for data. Objects count that behave like generators."""
    kind = _kind_of_type(type(value))
    # Those of types.coroutine() are of the type of generators.
    return AWAITABLE if kind == GENERATOR and inspect.isawaitable(value) else kind


@per_type
def _kind_of_type(type_of_value: type) -> str:
    if issubclass(type_of_value, Generator):
        return GENERATOR
    if issubclass(type_of_value, AsyncGenerator):
        return ASYNC_GENERATOR
    return AWAITABLE if issubclass(type_of_value, Awaitable) else ""


def check_has_run(what: str, value: Any) -> Any:
    """The value; TypeError for a generator: none of its code has run, which would look like success."""
    kind = kind_of(value)
    if kind in (GENERATOR, ASYNC_GENERATOR):
        raise TypeError(f"{what} returned {'an' if kind == ASYNC_GENERATOR else 'a'} {kind}, which has run none of its code")
    return value
