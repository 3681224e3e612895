"""What the host accepts of a result beyond its being JSON; it kills a worker that sends anything else.

Usual results pass with a few looks of C speed. Only a result that is refused is taken apart in Python, to name
the place at fault.
"""

import json
from typing import Any, List, Optional, Set

from .json_facts import (
    HIGHEST,
    LOWEST,
    MOST_MEMORY_PER_BYTE,
    has_big_integer,
    is_deeper,
    may_have_big_integer,
    memory,
    repeats_key,
)
from .limits import Limits
from .places import place, shorten

# In the host's memory.
_ENVELOPE_BYTES = 1024
_ATTACHMENT_BYTES = 24


class Rules:
    """The rules of a host with these limits; how long a result may be shows only once it is in its frame.

    What they are for has a name, by which objections call it.
    """

    def __init__(self, limits: Limits, name: str = "result") -> None:
        self.name = name
        self._longest = min(limits.frame_bytes, limits.json_bytes)
        self._depth = limits.json_depth - 1  # the message around the result is one level
        self._tree_bytes = limits.tree_bytes
        self._attachments = limits.attachments
        # A text of that length is small enough for the host's memory, whatever it holds.
        self._light = (limits.tree_bytes - _ENVELOPE_BYTES) // MOST_MEMORY_PER_BYTE

    def clear(self, text: bytes, depth: int, integers: bool) -> bool:
        """Whether there is no objection(), at a glance, to an encoded result of that plain_shape()."""
        return depth <= self._depth and len(text) <= self._light and not (integers and may_have_big_integer(text))

    def objection(self, text: bytes, attachments: int, depth: Optional[int], keys_in_doubt: bool) -> Optional[str]:
        """What the host would not accept of an encoded result, if anything; the depth if it is known."""
        if len(text) > self._longest:
            return None  # which is going to be objection enough
        if attachments > self._attachments:
            return f"{self.name} holds {attachments} attachments; the limit is {self._attachments}"
        if len(text) + attachments > self._light:
            around = _ENVELOPE_BYTES + _ATTACHMENT_BYTES * attachments
            size, limit = around + memory(text, self._tree_bytes - around), self._tree_bytes
            if size > limit:
                return f"{self.name} takes {size} bytes of the host's memory; the limit is {limit} bytes"
        too_deep = is_deeper(text, self._depth) if depth is None else depth > self._depth
        if too_deep or (keys_in_doubt and repeats_key(text)) or has_big_integer(text):
            return _Search(self._depth, self.name).find(json.loads(text.decode(), object_pairs_hook=_Members))
        return None


class _Members(List[Any]):
    """A decoded object, with the members as they come."""


class _Search:
    """A way through a decoded result to the first value that breaks a rule."""

    def __init__(self, depth: int, name: str) -> None:
        self._depth = depth
        self._name = name
        self._path: List[Any] = []

    def find(self, value: Any) -> Optional[str]:
        """What is wrong with a value or something in it."""
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
