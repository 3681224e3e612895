"""Frames as bytes, and back, as strictly as a host reads them."""

import json
import math
import struct

from .outcome import Broken

HEADER = struct.Struct(">II")

# Those of a pool that is not told otherwise.
LIMITS = {
    "frame_bytes": 64 << 20,
    "json_bytes": 64 << 20,
    "json_depth": 512,
    "tree_bytes": 512 << 20,
    "attachments": 65536,
    "message_bytes": 128 << 10,
    "tool_calls": 16,
    "tool_call_bytes": 8 << 20,
}


class Frame:
    """One message of the worker: the JSON object, its attachments, and the size of both together."""

    def __init__(self, message, attachments, size):
        self.message = message
        self.attachments = attachments
        self.size = size

    def __repr__(self):
        text = json.dumps(self.message, ensure_ascii=False)
        return text if len(text) <= 200 else text[:200] + "..."


def frame(message, attachments=()):
    """A frame as bytes; the lengths of the attachments are added to the message. One in shared memory is given as its item."""
    if attachments:
        items = [part if type(part) is dict else len(part) for part in attachments]
        message = {**message, "attachments": items}
    payload = b"".join(part for part in attachments if type(part) is not dict)
    return raw_frame(json.dumps(message, ensure_ascii=False, separators=(",", ":")).encode(), payload)


def raw_frame(text, payload=b""):
    """A frame around any bytes."""
    return HEADER.pack(4 + len(text) + len(payload), len(text)) + text + payload


class FrameReader:
    """Cuts what arrives into frames."""

    def __init__(self, limits):
        self.memory = None  # the shared memory, if any
        self._limits = limits
        self._data = bytearray()

    @property
    def is_inside_frame(self):
        return bool(self._data)

    def feed(self, data):
        self._data += data

    def next(self):
        """The next whole frame, or None; raises Broken for what a host would not take."""
        if len(self._data) < HEADER.size:
            return None
        length, json_length = HEADER.unpack_from(self._data)
        if length > self._limits["frame_bytes"]:
            start = bytes(self._data[:20])
            raise Broken(f"a frame of {length} bytes is beyond limits.frame_bytes, or no frame: it begins with {start!r}")
        if json_length > min(self._limits["json_bytes"], length - 4):
            raise Broken(f"the JSON of {json_length} bytes is beyond limits.json_bytes or its frame of {length} bytes")
        if len(self._data) < 4 + length:
            return None
        text = bytes(self._data[HEADER.size : HEADER.size + json_length])
        payload = bytes(self._data[HEADER.size + json_length : 4 + length])
        del self._data[: 4 + length]
        message = parse(text)
        self._check_tree(message)
        self._check_size(message.get("type"), length, json_length)
        attachments = self._split(message, payload)
        return Frame(message, attachments, len(text) + sum(map(len, attachments)))

    def _check_tree(self, message):
        try:
            depth, size = measure(message)
        except UnicodeEncodeError:
            raise Broken("a text holds half a surrogate pair") from None
        if depth > self._limits["json_depth"]:
            raise Broken(f"a message of {depth} levels is beyond limits.json_depth")
        if size > self._limits["tree_bytes"]:
            raise Broken(f"a message that counts for {size} bytes is beyond limits.tree_bytes")

    def _check_size(self, kind, length, json_length):
        if kind in ("result", "error", "chunk"):
            return
        name = "tool_call_bytes" if kind == "tool_call" else "message_bytes"
        size = length if kind == "tool_call" else json_length
        if size > self._limits[name]:
            raise Broken(f"a message of type {kind!r} and {size} bytes is beyond limits.{name}")

    def _split(self, message, payload):
        items = message.get("attachments", [])
        shared = [item for item in items if type(item) is dict] if self.memory and type(items) is list else []
        if type(items) is not list or any(item not in shared and not is_length(item) for item in items):
            raise Broken(f"'attachments' is no list of lengths: {items!r}")
        if len(items) > self._limits["attachments"]:
            raise Broken(f"{len(items)} attachments are beyond limits.attachments")
        lengths = [item for item in items if type(item) is int]
        if sum(lengths) != len(payload):
            raise Broken(f"a frame has {len(payload)} bytes of attachments and announces {sum(lengths)}")
        parts, position = [], 0
        shared_parts = iter(self.memory.read(shared) if shared else ())
        for item in items:
            if type(item) is dict:
                parts.append(next(shared_parts))
            else:
                parts.append(payload[position : position + item])
                position += item
        return parts


def is_length(item):
    return type(item) is int and item >= 0


def parse(text):
    """The JSON object of a message."""
    try:
        message = json.loads(
            text.decode("utf-8"),
            object_pairs_hook=_unique,
            parse_int=_integer,
            parse_float=_finite,
            parse_constant=_finite,
        )
    except (ValueError, RecursionError) as error:
        raise Broken(f"a frame does not hold JSON: {error}") from None
    if type(message) is not dict:
        raise Broken(f"a frame holds {text[:40]!r} instead of an object")
    return message


def measure(value):
    """Depth of a message, and what it counts for by the formula of the protocol."""
    deepest = total = 0
    rest = [(value, 1)]
    while rest:
        item, depth = rest.pop()
        if type(item) is dict:
            deepest = max(deepest, depth)
            total += 56 * (depth > 1) + sum(40 + len(key.encode()) for key in item)
            rest += [(member, depth + 1) for member in item.values()]
        elif type(item) is list:
            deepest = max(deepest, depth)
            total += 56
            rest += [(element, depth + 1) for element in item]
        else:
            total += 24 + (len(item.encode()) if type(item) is str else 0)
    return deepest, total


def _unique(pairs):
    members = dict(pairs)
    if len(members) != len(pairs):
        raise ValueError("a key comes twice")
    return members


def _integer(text):
    number = int(text)
    if not -(1 << 63) <= number < 1 << 64:
        raise ValueError(f"{text} does not fit into 64 bits")
    return number


def _finite(text):
    number = float(text)
    if not math.isfinite(number):
        raise ValueError(f"{text} is not finite")
    return number
