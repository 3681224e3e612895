"""JSON as the protocol wants it: UTF-8, no NaN, no Infinity. With orjson where the user has it installed."""

import importlib
import json
from typing import Any, Callable, Dict, Union

orjson: Any
try:
    orjson = importlib.import_module("orjson")  # no statement, so that type checkers need not find it

    _ONLY_JSON_TYPES = (
        orjson.OPT_PASSTHROUGH_DATACLASS | orjson.OPT_PASSTHROUGH_DATETIME | orjson.OPT_PASSTHROUGH_SUBCLASS
    )
except (ImportError, AttributeError):  # not there, or too old
    orjson = None

# A shorter text is not worth a look before it is encoded.
_LONG = 256
_NEEDS_NO_ESCAPE = bytes(code for code in range(0x20, 0x100) if code not in b'"\\')
_ESCAPES = ((b"\\", b"\\\\"), (b'"', b'\\"'), (b"\n", b"\\n"), (b"\r", b"\\r"), (b"\t", b"\\t"))
_ESCAPABLE = frozenset(b'\\"\n\r\t')


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is not JSON")


# Any: typing does not know what the json module has in C.
_decoder: Any = json.JSONDecoder(parse_constant=_refuse_constant)
_scan = _decoder.scan_once


def _decode(data: Union[bytes, memoryview]) -> Any:
    text = str(data, "utf-8")
    try:
        value, end = _scan(text, 0)
    except StopIteration:
        end = -1
    # White space around the value, and errors, are for the whole decoder.
    return value if end == len(text) else _decoder.decode(text)


_encoding: Any = json.encoder  # as above
_escape: Callable[[str], str] = _encoding.encode_basestring  # text, with its quotes

# Takes what is JSON and nothing else, as _decode does.
decode: Callable[[Union[bytes, memoryview]], Any] = orjson.loads if orjson else _decode


class Encoder:
    """Encodes values; what JSON does not know goes through `convert` first.

    Raises ValueError or TypeError for what cannot be sent.
    """

    def __init__(self, convert: Callable[[Any], Any]) -> None:
        # Circular structures end in RecursionError, so the bookkeeping that finds them earlier is not worth it.
        encoder = json.JSONEncoder(
            ensure_ascii=False, check_circular=False, allow_nan=False, separators=(",", ":"), default=convert
        )
        self._to_text = _without_setup(encoder, convert)

    def encode_any(self, value: Any) -> bytes:
        """A value that may hold what `convert` is for, as JSON text."""
        return self._to_text(value).encode()

    def encode(self, value: Any) -> bytes:
        """A value of JSON types alone, exactly those and not types derived from them, as JSON text."""
        kind = type(value)
        if kind is str:
            return self._encode_text(value)
        if orjson:
            return self._encode_with_orjson(value)
        if kind is dict and _holds_long_text(value):
            pairs = ((self._encode_text(key), self.encode(item)) for key, item in value.items())
            return b"{%b}" % b",".join(b"%b:%b" % pair for pair in pairs)
        return self.encode_any(value)

    def _encode_text(self, text: str) -> bytes:
        """A long text takes a fifth of the time this way, as most of its characters stand for themselves."""
        if len(text) < _LONG:
            return _escape(text).encode()
        data = text.encode()
        special = frozenset(data.translate(None, _NEEDS_NO_ESCAPE))
        if not special <= _ESCAPABLE:
            return self.encode_any(text)
        for character, escape in _ESCAPES:
            if character[0] in special:
                data = data.replace(character, escape)
        return b'"%b"' % data

    def _encode_with_orjson(self, value: Any) -> bytes:
        try:
            data: bytes = orjson.dumps(value, option=_ONLY_JSON_TYPES)
        except TypeError:  # it is not only of JSON types
            return self.encode_any(value)
        # orjson writes null for NaN, which is to be refused.
        return data if b"null" not in data else self.encode_any(value)


def _holds_long_text(mapping: Dict[Any, Any]) -> bool:
    if len(mapping) > 16 or not any(type(item) is str and len(item) >= _LONG for item in mapping.values()):
        return False
    return all(type(key) is str for key in mapping)


def _without_setup(encoder: json.JSONEncoder, convert: Callable[[Any], Any]) -> Callable[[Any], str]:
    """Its encode(), but without making a new C encoder each time."""
    make, escape = _encoding.c_make_encoder, _encoding.c_encode_basestring
    try:
        encode = make(None, convert, escape, None, ":", ",", False, False, False)
    except TypeError:  # not CPython, where they are None, or a Python in which they have changed
        return encoder.encode
    return lambda value: "".join(encode(value, 0))
