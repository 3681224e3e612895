"""Rules of the host for results, beyond the rules of JSON. The host kills a worker that breaks them.

A usual result costs a few passes in C over its types and over its text, without white space and unnecessary escapes. Python code walks only through a result that breaks a rule, to name the place at fault.
"""

import functools
import json
import re
from itertools import chain
from typing import Any, Callable, Dict, Iterable, Iterator, List, Optional, Set, Tuple, TypeVar

from .protocol import Limits

_Fact = TypeVar("_Fact")


def per_type(function: Callable[[type], _Fact]) -> Callable[[type], _Fact]:
    """lru_cache() for a function of a type, with the return type for type checkers."""
    return functools.lru_cache(maxsize=1024)(function)


_SCALARS = frozenset((str, int, float, bool, type(None)))
_CONTAINERS = frozenset((dict, list, tuple))
_JSON_TYPES = _SCALARS | _CONTAINERS
_TEXT = frozenset((str,))

# A value that is nested more deeply, as one that contains itself is, is left to slower and more careful code.
_MAX_DEPTH = 500


def plain_shape(value: Any) -> Optional[Tuple[int, bool]]:
    """Returns the depth of a value and whether it holds integers.

    Returns None unless the value is made of plain JSON types and all keys are text, as most results are. A scalar has
    depth 0, [] has depth 1.
    """
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
    """Returns true if all keys are of type str itself. Other keys may differ and still become the same text."""
    return _TEXT.issuperset(map(type, keys))


def _nested_shape(value: Any) -> Optional[Tuple[int, bool]]:
    integers = False
    containers = [value]
    for depth in range(1, _MAX_DEPTH):
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
        # Each container once: a container that occurs often, or contains itself, must not multiply at each level.
        if len(set(map(id, containers))) != len(containers):
            containers = list({id(item): item for item in containers}.values())
    return None


def _members(mappings: List[Dict[Any, Any]], arrays: List[Any]) -> Iterator[Any]:
    return chain(chain.from_iterable(map(dict.values, mappings)), chain.from_iterable(arrays))


# The range of the host's integers.
LOWEST, HIGHEST = -(2**63), 2**64 - 1

# The cost of values in the host's memory, by the protocol. A string or a key takes its UTF-8 bytes in addition.
_VALUE_BYTES = 24
_CONTAINER_BYTES = 56
_MEMBER_BYTES = 40
MAX_MEMORY_PER_BYTE = _CONTAINER_BYTES // len("[]")  # [] has the highest cost per byte

_DIGITS = bytes(ord("0") if code in b"-0123456789" else ord(" ") for code in range(256))
_BIG = b"0" * 20  # digits; the first may be a minus
_LONG = 4096
_SAMPLING = 9  # any 19 characters hold two neighbours of a sample of each ninth
_LONG_INTEGER = re.compile(rb"(?:^|[\[,:])(-?\d{19,})(?![\d.eE])")

_STRING = re.compile(rb'"[^"]*"')
_SQUARE = bytes.maketrans(b"{}", b"[]")
_NEITHER_BRACKETS_NOR_QUOTES = bytes(code for code in range(256) if code not in b'{}[]"')


def memory(text: bytes, limit: int) -> int:
    """Returns the cost of a text in the host's memory: an upper bound up to the limit, exact beyond it."""
    # Counting the content of strings can only add to the cost.
    bound = _memory(text, len(text))
    if bound <= limit:
        return bound
    unescaped, skeleton = _unescaped(text), _skeleton(text)
    still_escaped = unescaped.count(b"\\") + 4 * unescaped.count(b"\\u")  # as in \n and \u0000
    return _memory(skeleton, len(unescaped) - len(skeleton) - skeleton.count(b'"') - still_escaped)


def is_deeper(text: bytes, limit: int) -> bool:
    """Returns true if arrays and objects are nested more deeply than the limit."""
    if text.count(b"[") + text.count(b"{") <= limit:
        return False
    brackets = _unescaped(text).translate(_SQUARE, _NEITHER_BRACKETS_NOR_QUOTES)
    brackets = _STRING.sub(b"", brackets.replace(b'""', b""))
    for _ in range(limit):
        brackets = brackets.replace(b"[]", b"")
    return brackets != b""


def may_have_big_integer(text: bytes) -> bool:
    """Returns false if no integer can be outside the host's range; true may be a false alarm."""
    if len(text) > _LONG and text[::_SAMPLING].translate(_DIGITS).find(b"00") < 0:
        return False
    return text.translate(_DIGITS).find(_BIG) >= 0


def has_big_integer(text: bytes) -> bool:
    """Returns true if an integer is outside the host's range."""
    if not may_have_big_integer(text):
        return False
    return any(not LOWEST <= int(found) <= HIGHEST for found in _LONG_INTEGER.findall(_skeleton(text)))


def repeats_key(text: bytes) -> bool:
    """Returns true if an object has two members of the same name."""
    repeated = []

    def collect_repeated(members: List[Tuple[str, Any]]) -> None:
        if len(dict(members)) != len(members):
            repeated.append(True)

    json.loads(text.decode(), object_pairs_hook=collect_repeated)
    return bool(repeated)


def _unescaped(text: bytes) -> bytes:
    """Returns the text with at most a byte for each escaped character. The only quotes left start or end a string."""
    if b"\\" not in text:
        return text
    return text.replace(b"\\\\", b".").replace(b'\\"', b".")


def _skeleton(text: bytes) -> bytes:
    """Returns the text with a lone quote for each string."""
    return _STRING.sub(b'"', _unescaped(text))


def _memory(skeleton: bytes, string_bytes: int) -> int:
    arrays, objects = skeleton.count(b"["), skeleton.count(b"{")
    items = skeleton.count(b",") + arrays + objects - skeleton.count(b"[]") - skeleton.count(b"{}")
    return (
        _VALUE_BYTES * (1 + items)
        + (_CONTAINER_BYTES - _VALUE_BYTES) * (arrays + objects)
        + _MEMBER_BYTES * skeleton.count(b":")
        + string_bytes
    )


_MAX_PLACE_LENGTH = 240


def place(root: str, keys: Iterable[Any]) -> str:
    """Returns the name of a place in a value for messages, such as `result.items[3]`, from the root's name."""
    return shorten(root + "".join(map(_step, keys)))


def shorten(text: str) -> str:
    """Returns the text, or its two ends if it is long: keys may be of any length."""
    half = _MAX_PLACE_LENGTH // 2
    return text if len(text) <= _MAX_PLACE_LENGTH else f"{text[:half]}...{text[-half:]}"


def _step(key: Any) -> str:
    return f".{key}" if isinstance(key, str) and key.isidentifier() else f"[{key!r}]"


# Costs in the host's memory.
_ENVELOPE_BYTES = 1024
_ATTACHMENT_BYTES = 24
_PLACE_BYTES = 240  # of an attachment in shared memory, in addition

_LENGTH_OF_PLACE = -(-_PLACE_BYTES // MAX_MEMORY_PER_BYTE)  # of text with that cost


class Rules:
    """The rules of a host with these limits, except for the length of the frame, known later.

    `name` is the name of the value in objections.
    """

    def __init__(self, limits: Limits, name: str = "result") -> None:
        self.name = name
        self._length_limit = min(limits.frame_bytes, limits.json_bytes)
        self._depth = limits.json_depth - 1  # the message is a level above the result
        self._tree_bytes = limits.tree_bytes
        self._attachments = limits.attachments
        self._places = limits.places
        # A text of this length fits into the host's memory with any content.
        self._safe_length = (limits.tree_bytes - _ENVELOPE_BYTES) // MAX_MEMORY_PER_BYTE

    @property
    def clear_limits(self) -> Tuple[int, int]:
        """The size of the text and the depth up to which is_clear() is true, big integers apart."""
        return self._safe_length, self._depth

    def is_clear(self, text: bytes, depth: int, integers: bool) -> bool:
        """Returns true if a result with this plain_shape() keeps the rules by a quick check. False decides nothing."""
        return depth <= self._depth and len(text) <= self._safe_length and not (integers and may_have_big_integer(text))

    def find_objection(
        self, text: bytes, attachments: int, depth: Optional[int], may_repeat_keys: bool
    ) -> Optional[str]:
        """Returns the reason why the host would refuse an encoded result, None if it accepts it.

        `depth` is None if it is unknown.
        """
        if len(text) > self._length_limit:
            return None  # the check of the frame's length refuses it
        if attachments > self._attachments:
            return f"{self.name} holds {attachments} attachments; the limit is {self._attachments}"
        places = min(attachments, self._places)
        if len(text) + attachments + places * _LENGTH_OF_PLACE > self._safe_length:
            overhead = _ENVELOPE_BYTES + _ATTACHMENT_BYTES * attachments + _PLACE_BYTES * places
            size, limit = overhead + memory(text, self._tree_bytes - overhead), self._tree_bytes
            if size > limit:
                return f"{self.name} takes {size} bytes of the host's memory; the limit is {limit} bytes"
        is_too_deep = is_deeper(text, self._depth) if depth is None else depth > self._depth
        if is_too_deep or (may_repeat_keys and repeats_key(text)) or has_big_integer(text):
            return _Search(self._depth, self.name).find(json.loads(text.decode(), object_pairs_hook=_Members))
        return None


class _Members(List[Any]):
    """A decoded object: its members in order, with repeated keys."""


class _Search:
    """Walks through a decoded result to the first value that breaks a rule."""

    def __init__(self, depth: int, name: str) -> None:
        self._depth = depth
        self._name = name
        self._path: List[Any] = []

    def find(self, value: Any) -> Optional[str]:
        """Returns the objection to a value or to a value in it, None if there is none."""
        if type(value) is int and not LOWEST <= value <= HIGHEST:
            return f"integer at {self._place()} is not within -2**63 ... 2**64-1; return a string instead"
        if not isinstance(value, list):
            return None
        if len(self._path) >= self._depth:
            return f"{self._place()} is nested too deeply; the limit is {self._depth} levels"
        objection = self._find_repeated(value) if isinstance(value, _Members) else None
        for key, item in value if isinstance(value, _Members) else enumerate(value):
            if objection is not None:
                break
            self._path.append(key)
            objection = self.find(item)
            self._path.pop()
        return objection

    def _find_repeated(self, members: List[Any]) -> Optional[str]:
        seen: Set[str] = set()
        for key, _ in members:
            if key in seen:
                return f"two keys in {self._place()} become {shorten(repr(key))}; JSON keys are strings"
            seen.add(key)
        return None

    def _place(self) -> str:
        return place(self._name, self._path)
