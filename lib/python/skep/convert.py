"""Turns what a command returns into JSON and attachments.

The common result, made of plain JSON types, costs one C-level encode and one C-level look at its types. Only
what that encoder does not know comes to the conversions here, and only a result that it refuses is walked
through in Python, to name the value at fault.
"""

import dataclasses
import decimal
import enum
import functools
import json
import math
import pathlib
import uuid
from typing import Any, Callable, Iterable, List, Optional, Set, Tuple

from .errors import CallError, type_name
from .json_text import Encoder

_SCALARS = frozenset((str, int, float, bool, type(None)))
_CONTAINERS = frozenset((dict, list, tuple))
_JSON_TYPES = _SCALARS | _CONTAINERS
_BINARY = (bytes, bytearray, memoryview)
_METHODS = ("_asdict", "model_dump", "to_dict", "tolist", "isoformat")
_CONVERSIONS = (
    ((set, frozenset), list),
    ((enum.Enum,), lambda member: member.value),
    ((pathlib.PurePath, uuid.UUID, decimal.Decimal), str),
)
_ADVICE = "; return JSON types or give the type a to_dict()"


class ResultEncoder:
    """Encodes one result at a time."""

    def __init__(self) -> None:
        self._attachments: List[memoryview] = []
        self._json = Encoder(self._convert)

    def encode(self, value: Any, command: str) -> Tuple[bytes, List[memoryview]]:
        """The result of a command as JSON text and attachments; CallError if it cannot be sent."""
        self._attachments = attachments = []
        try:
            if is_json(value):
                return self._json.encode(value), attachments
            return self._json.encode_any(plain(value)), attachments
        except (TypeError, ValueError, RecursionError) as error:
            refusal = error
        # Out here, so that a to_dict() that fails again on the second visit is reported as just that.
        reason = explain(value, refusal)
        raise CallError("UnserializableResult", f"result of '{command}' cannot be sent: {reason}")

    def _convert(self, value: Any) -> Any:
        if isinstance(value, _BINARY):
            self._attachments.append(_contiguous(value))
            return {"$attachment": len(self._attachments) - 1}
        return plain(converter(type(value))(value))


def is_json(value: Any) -> bool:
    """Whether a value is made of the plain JSON types alone, as what most commands return."""
    kind = type(value)
    if kind in _SCALARS:
        return True
    if kind not in _CONTAINERS:
        return False
    # Passes of C speed over the types; Python code runs per container, not per value.
    values = value.values() if kind is dict else value
    kinds = set(map(type, values))
    if kinds <= _SCALARS:
        return True
    return kinds <= _JSON_TYPES and all(is_json(item) for item in values if type(item) in _CONTAINERS)


def plain(value: Any) -> Any:
    """The value with its named tuples as dicts; the C encoder would silently make lists of them."""
    return _without_records(value) if _holds_records((value,)) else value


@functools.lru_cache(maxsize=1024)
def _role(kind: type) -> str:
    if issubclass(kind, tuple) and hasattr(kind, "_asdict"):
        return "record"
    return "container" if issubclass(kind, (dict, list, tuple)) else "leaf"


def _holds_records(values: Iterable[Any]) -> bool:
    # Two passes of C speed over the types; Python code runs per container, not per value.
    roles = set(map(_role, set(map(type, values))))
    if "record" in roles:
        return True
    if "container" not in roles:
        return False
    for value in values:
        if isinstance(value, dict):
            value = value.values()
        elif not isinstance(value, (list, tuple)):
            continue
        if _holds_records(value):
            return True
    return False


def _without_records(value: Any) -> Any:
    if _role(type(value)) == "record":
        value = value._asdict()
    if isinstance(value, dict):
        return {key: _without_records(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_without_records(item) for item in value]
    return value


def _contiguous(data: Any) -> memoryview:
    view = memoryview(data)
    # cast() insists on a contiguous view without empty dimensions
    return view.cast("B") if view.c_contiguous and view.nbytes else memoryview(view.tobytes())


@functools.lru_cache(maxsize=1024)
def converter(kind: type) -> Callable[[Any], Any]:
    """How values of a type become JSON, one level deep; TypeError if there is no way."""
    if dataclasses.is_dataclass(kind):
        names = [field.name for field in dataclasses.fields(kind)]
        return lambda value: {name: getattr(value, name) for name in names}
    for name in _METHODS:
        if callable(getattr(kind, name, None)):
            return lambda value: getattr(value, name)()
    for kinds, convert in _CONVERSIONS:
        if issubclass(kind, kinds):
            return convert
    raise TypeError(f"JSON cannot hold {type_name(kind)}")


def explain(value: Any, error: Exception) -> str:
    """What stops a value from being sent, and where in it that is."""
    path: List[str] = ["result"]
    try:
        obstacle = _find_obstacle(value, path, set())
    except RecursionError:
        return "it is nested too deeply"
    if obstacle is None:
        return "it is nested too deeply" if isinstance(error, RecursionError) else str(error)
    return obstacle.format(place="".join(path))


def _find_obstacle(value: Any, path: List[str], parents: Set[int]) -> Optional[str]:
    """The first thing JSON cannot hold, as a format with {place}; `path` then leads to it."""
    kind = type(value)
    if isinstance(value, (str, int, float, type(None))):
        return _scalar_obstacle(value)
    if isinstance(value, _BINARY):
        return None
    if id(value) in parents:
        return "{place} contains itself"
    parents.add(id(value))
    if _role(kind) != "container":
        try:
            convert = converter(kind)
        except TypeError:
            return f"value of type '{type_name(kind)}' at {{place}}" + _ADVICE
        obstacle = _find_obstacle(convert(value), path, parents)
    elif isinstance(value, dict):
        obstacle = _key_obstacle(value) or _first_obstacle(value.items(), path, parents)
    else:
        obstacle = _first_obstacle(enumerate(value), path, parents)
    parents.discard(id(value))
    return obstacle


def _first_obstacle(items: Iterable[Tuple[Any, Any]], path: List[str], parents: Set[int]) -> Optional[str]:
    for key, item in items:
        path.append(f".{key}" if isinstance(key, str) and key.isidentifier() else f"[{key!r}]")
        obstacle = _find_obstacle(item, path, parents)
        if obstacle is not None:
            return obstacle
        path.pop()
    return None


def _scalar_obstacle(value: Any) -> Optional[str]:
    if isinstance(value, float) and not math.isfinite(value):
        return f"{value!r} at {{place}}; JSON has no NaN or Infinity, return None or a string instead"
    try:
        json.dumps(value, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        return "string at {place} is not Unicode text (it holds a lone surrogate); return bytes instead"
    except ValueError as error:  # an integer of more digits than Python is willing to print
        return f"number at {{place}}: {error}"
    return None


def _key_obstacle(mapping: dict) -> Optional[str]:
    for key in mapping:
        if not isinstance(key, (str, int, float, type(None))):
            return f"key of type '{type_name(type(key))}' in {{place}}; JSON keys are strings"
        obstacle = _scalar_obstacle(key)
        if obstacle is not None:
            return "key: " + obstacle
    return None
