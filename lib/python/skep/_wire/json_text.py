"""JSON text by the protocol: UTF-8, no NaN, no Infinity. Uses orjson where it is installed."""

import importlib
import json
from typing import Any, Callable, Dict, Union

orjson: Any
try:
    orjson = importlib.import_module("orjson")  # no import statement: type checkers need not find orjson

    _ONLY_JSON_TYPES = (
        orjson.OPT_PASSTHROUGH_DATACLASS | orjson.OPT_PASSTHROUGH_DATETIME | orjson.OPT_PASSTHROUGH_SUBCLASS
    )
except (ImportError, AttributeError):  # not installed, or too old
    orjson = None

# For a shorter text, an inspection before the encoding does not pay.
_LONG = 256
_NEEDS_NO_ESCAPE = bytes(code for code in range(0x20, 0x100) if code not in b'"\\')
_ESCAPES = ((b"\\", b"\\\\"), (b'"', b'\\"'), (b"\n", b"\\n"), (b"\r", b"\\r"), (b"\t", b"\\t"))
_ESCAPABLE = frozenset(b'\\"\n\r\t')


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is not JSON")


# Any: typing does not know the C functions of the json module.
_decoder: Any = json.JSONDecoder(parse_constant=_refuse_constant)
_scan = _decoder.scan_once


def _decode(data: Union[bytes, memoryview]) -> Any:
    text = str(data, "utf-8")
    try:
        value, end = _scan(text, 0)
    except StopIteration:
        end = -1
    # The whole decoder handles white space around the value, and errors.
    return value if end == len(text) else _decoder.decode(text)


_encoding: Any = json.encoder  # as above
_escape: Callable[[str], str] = _encoding.encode_basestring  # text, with its quotes

# Decodes JSON. Raises ValueError for everything else.
decode: Callable[[Union[bytes, memoryview]], Any] = orjson.loads if orjson else _decode


class Encoder:
    """Encodes values. Values of types that JSON lacks go through `convert` first.

    Raises ValueError or TypeError for a value that cannot be sent.
    """

    def __init__(self, convert: Callable[[Any], Any]) -> None:
        # A circular structure ends in RecursionError: finding it earlier is not worth the bookkeeping.
        encoder = json.JSONEncoder(
            ensure_ascii=False, check_circular=False, allow_nan=False, separators=(",", ":"), default=convert
        )
        self._to_text = _without_setup(encoder, convert)

    def encode_any(self, value: Any) -> bytes:
        """Returns a value as JSON text. The value may hold values for `convert`."""
        return self._to_text(value).encode()

    def encode(self, value: Any) -> bytes:
        """Returns a value of JSON types as JSON text: of exactly these types, not of types derived from them."""
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
        """Encodes a long text in a fifth of the time, as most of its characters need no escape."""
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
        except TypeError:  # the value is not of JSON types alone
            return self.encode_any(value)
        # orjson writes null for NaN; the SDK refuses NaN.
        return data if b"null" not in data else self.encode_any(value)


def _holds_long_text(mapping: Dict[Any, Any]) -> bool:
    if len(mapping) > 16 or not any(type(item) is str and len(item) >= _LONG for item in mapping.values()):
        return False
    return all(type(key) is str for key in mapping)


def _without_setup(encoder: json.JSONEncoder, convert: Callable[[Any], Any]) -> Callable[[Any], str]:
    """Returns encode() of an encoder that keeps its C encoder instead of making one for each value."""
    make, escape = _encoding.c_make_encoder, _encoding.c_encode_basestring
    try:
        encode = make(None, convert, escape, None, ":", ",", False, False, False)
    except TypeError:  # only CPython has these functions, and may change them
        return encoder.encode
    return lambda value: "".join(encode(value, 0))
