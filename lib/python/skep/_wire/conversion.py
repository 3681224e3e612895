"""Conversion of results, and of the data of an Error, to JSON and attachments, and of placeholders to attachments.

The common result, made of plain JSON types, costs one encode in C and a few passes in C over its types and its text.
The conversions here serve the types that the encoder in C does not know. Python code walks only through a result that
the encoder or the host refuses, to name the value at fault.
"""

import dataclasses
import decimal
import enum
import json
import math
import pathlib
import re
import uuid
from contextlib import contextmanager
from typing import Any, Callable, Dict, Iterable, Iterator, List, Optional, Sequence, Set, Tuple

from .._process.diagnostics import type_name
from .arrays import Array, ArrayError, flat, form, from_form, has_form, is_numpy_array, to_sendable
from .errors import UnserializableResult
from .json_rules import Rules, are_text, per_type, place, plain_shape
from .json_text import Encoder

_BINARY = (bytes, bytearray, memoryview)
_ATTACHED = (*_BINARY, Array)
_METHODS = ("_asdict", "model_dump", "to_dict", "tolist", "isoformat")
_CONVERSIONS: Tuple[Tuple[Tuple[type, ...], Callable[[Any], Any]], ...] = (
    ((set, frozenset), list),
    ((enum.Enum,), lambda member: member.value),
    ((pathlib.PurePath, uuid.UUID, decimal.Decimal), str),
)
_REFERENCE_BEGIN = b'{"$attachment":'
_REFERENCE = re.compile(rb'\{"\$attachment":(\d{1,9})\}')
# In the text of an object that stands for an array.
ARRAY_BEGIN = b'"$array":{"$attachment":'
_LEAVES = frozenset(("leaf",))
# Roles that allow two keys to become the same text: _asdict() and items() of a special dict may return anything.
_KEY_REPEATING_ROLES = frozenset(("record", "special dict", "odd keys"))
_ADVICE = "; return JSON types or give the type a to_dict()"


class ResultEncoder:
    """Encodes one value at a time by the rules of the host; without rules, by the rules of JSON.

    With `lists_arrays`, arrays of numpy become lists, for messages that cannot have attachments.
    """

    def __init__(self, rules: Optional[Rules] = None, lists_arrays: bool = False) -> None:
        self._rules = rules
        self._name = "result" if rules is None else rules.name
        self._lists_arrays = lists_arrays
        self._attachments: List[memoryview] = []
        self._arrays = 0  # among the attachments
        self._may_repeat_keys = False
        self._json = Encoder(self._convert)

    def encode(self, value: Any, command: str) -> Tuple[bytes, List[memoryview]]:
        """Returns a command's result as JSON text and attachments. Raises UnserializableResult if it cannot be sent."""
        try:
            shape = plain_shape(value)
            if shape is None:
                text, depth = self._json.encode_any(self._plain(value)), None
                _check_references(text, len(self._attachments), self._arrays)
            else:
                text, (depth, integers) = self._json.encode(value), shape
                if self._rules is None or self._rules.is_clear(text, depth, integers):
                    return text, []
            self._check(text, depth, command)
            return text, self._attachments
        except (TypeError, ValueError, RecursionError) as error:
            refusal, count = error, len(self._attachments)
        finally:
            # Releases the result: a view of a bytearray would keep the bytearray from being resized.
            self._attachments = []
            self._arrays = 0
            self._may_repeat_keys = False
        # Outside of the handler, so that a to_dict() that fails again is reported as such.
        try:
            reason = explain(value, refusal, self._name, count)
        finally:
            del refusal  # its traceback refers to this frame: a cycle that would keep the result
        raise UnserializableResult(command, reason)

    def _check(self, text: bytes, depth: Optional[int], command: str) -> None:
        if self._rules is not None:
            objection = self._rules.find_objection(text, len(self._attachments), depth, self._may_repeat_keys)
            if objection is not None:
                raise UnserializableResult(command, objection)

    def _convert(self, value: Any) -> Any:
        if isinstance(value, _BINARY):
            self._attachments.append(flat(memoryview(value)))
            return {"$attachment": len(self._attachments) - 1}
        if self._lists_arrays and is_numpy_array(type(value)):
            return self._plain(value.tolist())
        converted = converter(type(value))(value)
        return self._attach(converted) if type(converted) is Array else self._plain(converted)

    def _attach(self, array: Array) -> Dict[str, Any]:
        self._attachments.append(array.data)
        self._arrays += 1
        return form(array, len(self._attachments) - 1)

    def _plain(self, value: Any) -> Any:
        """Returns the value with dicts for named tuples: the encoder in C would make lists of them."""
        traits = _traits((value,))
        if not traits.isdisjoint(_KEY_REPEATING_ROLES):
            self._may_repeat_keys = True
        return _without_records(value) if "record" in traits else value


@per_type
def _role(kind: type) -> str:
    if issubclass(kind, tuple) and hasattr(kind, "_asdict"):
        return "record"
    if kind is not dict and issubclass(kind, dict):
        return "special dict"
    return "container" if issubclass(kind, (dict, list, tuple)) else "leaf"


def _traits(values: Iterable[Any]) -> Set[str]:
    """Returns the roles of values and of all values in them, and "odd keys" if a dict has keys that are no text."""
    # Two passes in C over the types: Python code runs per container, not per value.
    traits = set(map(_role, set(map(type, values))))
    if traits == _LEAVES:
        return traits
    for value in values:
        if isinstance(value, dict):
            if not are_text(value):
                traits.add("odd keys")
            traits |= _traits(value.values())
        elif isinstance(value, (list, tuple)):
            traits |= _traits(value)
    return traits


def _without_records(value: Any) -> Any:
    if _role(type(value)) == "record":
        value = value._asdict()
    if isinstance(value, dict):
        return {key: _without_records(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_without_records(item) for item in value]
    return value


@per_type
def converter(kind: type) -> Callable[[Any], Any]:
    """Returns the conversion of a type's values to JSON, one level deep. Raises TypeError if there is none."""
    if dataclasses.is_dataclass(kind):
        names = [field.name for field in dataclasses.fields(kind)]
        return lambda value: {name: getattr(value, name) for name in names}
    if kind is Array:
        return lambda value: value
    if is_numpy_array(kind):
        return to_sendable
    for name in _METHODS:
        if callable(getattr(kind, name, None)):
            return lambda value: getattr(value, name)()
    for kinds, convert in _CONVERSIONS:
        if issubclass(kind, kinds):
            return convert
    raise TypeError(f"JSON cannot hold {type_name(kind)}")


class _AmbiguousReference(ValueError):
    """Data of the value has the form of a reference to one of the value's attachments, or of an array."""


def _check_references(text: bytes, attachments: int, arrays: int) -> None:
    """Raises _AmbiguousReference if data in the text would pass for an attachment or an array.

    Each reference must stand for one attachment, and each form of an array for one array.
    """
    if not attachments:
        return
    if text.count(_REFERENCE_BEGIN) > attachments:
        if sum(int(index) < attachments for index in _REFERENCE.findall(text)) > attachments:
            raise _AmbiguousReference('data such as {"$attachment": 0} is ambiguous beside binary data')
    if text.count(ARRAY_BEGIN) > arrays and _count_forms(json.loads(text.decode()), attachments) > arrays:
        raise _AmbiguousReference('data such as {"$array": ..., "dtype": ..., "shape": ...} is ambiguous')


def _count_forms(value: Any, attachments: int) -> int:
    """Returns the number of objects that pass for an array."""
    if isinstance(value, list):
        return sum(_count_forms(item, attachments) for item in value)
    if not isinstance(value, dict):
        return 0
    if has_form(value) and _refers(value["$array"], attachments):
        return 1
    return sum(_count_forms(item, attachments) for item in value.values())


def explain(value: Any, error: Exception, name: str, attachments: int = 0) -> str:
    """Returns the reason why a value with that many attachments cannot be sent, with the place in the value."""
    path: List[Any] = []
    try:
        obstacle = _find_obstacle(value, path, set(), attachments if isinstance(error, _AmbiguousReference) else 0)
    except RecursionError:
        return "it is nested too deeply"
    if obstacle is None:
        return "it is nested too deeply" if isinstance(error, RecursionError) else str(error)
    return obstacle.replace("{place}", place(name, path))


def _find_obstacle(value: Any, path: List[Any], parents: Set[int], attachments: int) -> Optional[str]:
    """Returns the first obstacle as a format with {place}, None if there is none. `path` then leads to the obstacle.

    References to the first so many attachments are obstacles.
    """
    kind = type(value)
    if isinstance(value, (str, int, float, type(None))):
        return _scalar_obstacle(value)
    if isinstance(value, _ATTACHED):
        return None
    if id(value) in parents:
        return "{place} contains itself"
    parents.add(id(value))
    if _role(kind) not in ("container", "special dict"):
        try:
            convert = converter(kind)
        except TypeError:
            return f"value of type '{type_name(kind)}' at {{place}}" + _ADVICE
        try:
            converted = convert(value)
        except ArrayError as error:
            return f"value at {{place}}: {error}"
        obstacle = _find_obstacle(converted, path, parents, attachments)
    elif isinstance(value, dict) and _refers(value, attachments):
        obstacle = f"{value} at {{place}} would refer to binary data of the message; use another key"
    elif attachments and isinstance(value, dict) and has_form(value) and isinstance(value["$array"], _BINARY):
        obstacle = "{place} would pass for an array; use skep.array(), or another key than $array"
    elif isinstance(value, dict):
        obstacle = _key_obstacle(value) or _first_obstacle(value.items(), path, parents, attachments)
    else:
        obstacle = _first_obstacle(enumerate(value), path, parents, attachments)
    parents.discard(id(value))
    return obstacle


def _first_obstacle(
    items: Iterable[Tuple[Any, Any]], path: List[Any], parents: Set[int], attachments: int
) -> Optional[str]:
    for key, item in items:
        path.append(key)
        obstacle = _find_obstacle(item, path, parents, attachments)
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
    except ValueError as error:  # an integer of more digits than Python prints
        return f"number at {{place}}: {error}"
    return None


def _key_obstacle(mapping: Dict[Any, Any]) -> Optional[str]:
    for key in mapping:
        if not isinstance(key, (str, int, float, type(None))):
            return f"key of type '{type_name(type(key))}' in {{place}}; JSON keys are strings"
        obstacle = _scalar_obstacle(key)
        if obstacle is not None:
            return "key: " + obstacle
    return None


def _refers(value: Any, attachments: int) -> bool:
    """Returns True if a dict stands for one of so many attachments, as {"$attachment": 0} does."""
    if not isinstance(value, dict) or len(value) != 1:
        return False
    index = dict.get(value, "$attachment")
    return isinstance(index, int) and not isinstance(index, bool) and 0 <= index < attachments


def with_attachments(value: Any, attachments: Sequence[Any], path: Tuple[Any, ...] = ("result",)) -> Any:
    """Returns the value with attachments and arrays in the places of their forms, such as {"$attachment": 0}.

    Raises ArrayError for a malformed array. `path` begins with the name of the value.
    """
    with _limited_depth(path[0]):
        return _with_attached(value, attachments, path, attachments.__getitem__)


def with_arrays(args: Dict[str, Any], names: Any, attachments: Sequence[memoryview]) -> Dict[str, Any]:
    """Returns the arguments of a call with arrays in the arguments of these names.

    Other data of the same form, and references to attachments, stay data. Raises ArrayError for a malformed array.
    """
    if type(names) is not list:
        raise ArrayError(f"`arrays` must be a list of the names of arguments, not {names!r}")
    with _limited_depth("an argument"):
        return {
            name: _with_attached(value, attachments, (name,), None) if name in names else value
            for name, value in args.items()
        }


@contextmanager
def _limited_depth(name: str) -> Iterator[None]:
    """Raises ArrayError for a value that is nested more deeply than the interpreter can follow."""
    try:
        yield
    except RecursionError:
        raise ArrayError(f"{name} is nested too deeply") from None


def _with_attached(
    value: Any, attachments: Sequence[Any], path: Tuple[Any, ...], resolve: Optional[Callable[[int], Any]]
) -> Any:
    if type(value) is list:
        return [_with_attached(item, attachments, (*path, index), resolve) for index, item in enumerate(value)]
    if type(value) is not dict:
        return value
    if resolve is not None and _refers(value, len(attachments)):
        return resolve(value["$attachment"])
    if has_form(value) and _refers(value["$array"], len(attachments)):
        data = memoryview(attachments[value["$array"]["$attachment"]])
        return from_form(value, data, path)
    return {key: _with_attached(item, attachments, (*path, key), resolve) for key, item in value.items()}
