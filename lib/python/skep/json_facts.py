"""What a JSON text of ours holds, found by passes of C speed over it, without decoding it where that is possible.

Such a text has no white space, and no escaped characters but those that JSON wants escaped.
"""

import json
import re
from typing import Any, List, Tuple

# What the host can hold of an integer.
LOWEST, HIGHEST = -(2**63), 2**64 - 1

# What the host's memory takes, by the protocol; a string or a key takes its UTF-8 bytes in addition.
_VALUE_BYTES = 24
_CONTAINER_BYTES = 56
_MEMBER_BYTES = 40
MOST_MEMORY_PER_BYTE = _CONTAINER_BYTES // len("[]")  # nothing makes more of less

_DIGITS = bytes(ord("0") if code in b"-0123456789" else ord(" ") for code in range(256))
_BIG = b"0" * 20  # digits, the first of which may be a minus
_LONG = 4096
_SAMPLING = 9  # any 19 characters hold two neighbours of a sample of each ninth
_LONG_INTEGER = re.compile(rb"(?:^|[\[,:])(-?\d{19,})(?![\d.eE])")

_STRING = re.compile(rb'"[^"]*"')
_SQUARE = bytes.maketrans(b"{}", b"[]")
_NEITHER_BRACKETS_NOR_QUOTES = bytes(code for code in range(256) if code not in b'{}[]"')


def memory(text: bytes, limit: int) -> int:
    """What the host's memory takes for a text, exactly if that is beyond the limit."""
    # Whatever strings hold can only add to what is counted.
    bound = _memory(text, len(text))
    if bound <= limit:
        return bound
    unescaped, skeleton = _unescaped(text), _skeleton(text)
    still_escaped = unescaped.count(b"\\") + 4 * unescaped.count(b"\\u")  # as in \n and \u0000
    return _memory(skeleton, len(unescaped) - len(skeleton) - skeleton.count(b'"') - still_escaped)


def is_deeper(text: bytes, limit: int) -> bool:
    """Whether arrays and objects are nested more deeply than that."""
    if text.count(b"[") + text.count(b"{") <= limit:
        return False
    brackets = _unescaped(text).translate(_SQUARE, _NEITHER_BRACKETS_NOR_QUOTES)
    brackets = _STRING.sub(b"", brackets.replace(b'""', b""))
    for _ in range(limit):
        brackets = brackets.replace(b"[]", b"")
    return brackets != b""


def may_have_big_integer(text: bytes) -> bool:
    """Whether anything looks like an integer that the host cannot hold, even if it is none."""
    if len(text) > _LONG and text[::_SAMPLING].translate(_DIGITS).find(b"00") < 0:
        return False
    return text.translate(_DIGITS).find(_BIG) >= 0


def has_big_integer(text: bytes) -> bool:
    """Whether there is an integer that the host cannot hold."""
    if not may_have_big_integer(text):
        return False
    return any(not LOWEST <= int(found) <= HIGHEST for found in _LONG_INTEGER.findall(_skeleton(text)))


def repeats_key(text: bytes) -> bool:
    """Whether an object has two members of the same name."""
    repeated = []

    def look(members: List[Tuple[str, Any]]) -> None:
        if len(dict(members)) != len(members):
            repeated.append(True)

    json.loads(text.decode(), object_pairs_hook=look)
    return bool(repeated)


def _unescaped(text: bytes) -> bytes:
    """The text with a byte, if any, for each escaped character, and without a quote that does not end a string."""
    if b"\\" not in text:
        return text
    return text.replace(b"\\\\", b".").replace(b'\\"', b".")


def _skeleton(text: bytes) -> bytes:
    """The text with a lone quote for each string."""
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
