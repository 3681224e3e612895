"""What a value is made of, found by passes of C speed over the types in it, one nesting level at a time."""

from itertools import chain
from typing import Any, Dict, Iterable, Iterator, List, Optional, Tuple

_SCALARS = frozenset((str, int, float, bool, type(None)))
_CONTAINERS = frozenset((dict, list, tuple))
_JSON_TYPES = _SCALARS | _CONTAINERS
_TEXT = frozenset((str,))

# What is nested more deeply, perhaps because it contains itself, is left to those who go about it with care.
_DEEPEST = 500


def plain_shape(value: Any) -> Optional[Tuple[int, bool]]:
    """How deep a value is and whether integers are in it; None unless it is made of the plain JSON types alone
    and all its keys are text, as what most commands return. A scalar has depth 0, [] has 1."""
    kind = type(value)
    if kind in _SCALARS:
        return 0, kind is int
    if kind not in _CONTAINERS:
        return None
    if kind is not dict:
        kinds = set(map(type, value))
    elif _TEXT.issuperset(map(type, value)):
        kinds = set(map(type, value.values()))
    else:
        return None
    return (1, int in kinds) if kinds <= _SCALARS else _nested_shape(value)


def are_text(keys: Iterable[Any]) -> bool:
    """Whether all keys are of type str itself; only others can differ and yet become the same text."""
    return _TEXT.issuperset(map(type, keys))


def _nested_shape(value: Any) -> Optional[Tuple[int, bool]]:
    integers = False
    containers = [value]
    for depth in range(1, _DEEPEST):
        mappings = [item for item in containers if type(item) is dict]
        arrays = [item for item in containers if type(item) is not dict]
        if not are_text(chain.from_iterable(mappings)):
            return None
        kinds = set(map(type, _members(mappings, arrays)))
        integers = integers or int in kinds
        if kinds <= _SCALARS:
            return depth, integers
        if not kinds <= _JSON_TYPES:
            return None
        containers = [item for item in _members(mappings, arrays) if type(item) in _CONTAINERS]
        # Each one once: what occurs many times, or contains itself, must not multiply from level to level.
        if len(set(map(id, containers))) != len(containers):
            containers = list({id(item): item for item in containers}.values())
    return None


def _members(mappings: List[Dict[Any, Any]], arrays: List[Any]) -> Iterator[Any]:
    return chain(chain.from_iterable(map(dict.values, mappings)), chain.from_iterable(arrays))
