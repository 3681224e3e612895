"""The messages a worker sends, and how they keep to the limits of its host."""

import json
from typing import Any, Dict, List, Optional, Sequence, Tuple, Union

from .._process.diagnostics import message_of, type_name, user_traceback
from .channel import frame_length
from .conversion import ResultEncoder
from .errors import CallError, Error, ResultTooLarge, UnserializableResult, valid_code
from .json_rules import Rules
from .protocol import Limits

# The JSON object, perhaps in parts, and the attachments.
Answer = Tuple[Sequence[bytes], Sequence[memoryview]]

_encode = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode  # json.dumps() may be patched

_ESCAPED_CHARACTER = 6  # bytes
_AROUND_ERROR = 1024  # in the host's memory
_DATA = b',"data":'

# What precedes the value; for the call's id and lengths().
_RESULT = b'{"type":"result","id":%d%b,"value":'
_CHUNK = b'{"type":"chunk","id":%d%b,"value":'


class Answers:
    """Makes answers to calls that a host with these limits accepts."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._encoder = ResultEncoder(Rules(limits))
        self._longest = min(limits.json_bytes, limits.frame_bytes - frame_length(()))
        # Text takes the host's memory by its bytes, and little is around it.
        self._longest_error = min(self._longest, limits.tree_bytes - _AROUND_ERROR)

    def result(self, call_id: int, command: str, value: Any) -> Answer:
        """What a command has returned; UnserializableResult or ResultTooLarge if the host would not accept it."""
        return self._value(_RESULT, call_id, command, value)

    def chunk(self, call_id: int, command: str, value: Any) -> Answer:
        """The same for what it has yielded."""
        return self._value(_CHUNK, call_id, command, value)

    def _value(self, head: bytes, call_id: int, command: str, value: Any) -> Answer:
        text, attachments = self._encoder.encode(value, command)
        body = head % (call_id, lengths(attachments) if attachments else b""), text, b"}"
        if frame_length(body, attachments) > self._longest:
            self._check_size(body, attachments, command)
        return body, attachments

    def error(self, call_id: int, error: BaseException) -> Answer:
        """What a command has raised, cut to what the host accepts. To convert the data of an Error may run user
        code; what that raises, unless it is an Exception, comes through."""
        described = self._fitting(call_id, describe(error))
        body = _error(call_id, described)
        if "code" in described:
            data, obstacle = self._data(error, len(body))
            if data:
                body = _error(call_id, described, data)
            elif obstacle:
                described["message"] = with_remark(described["message"], f"its data is left out: {obstacle}")
                body = _error(call_id, self._fitting(call_id, described))
        return (body,), ()

    def _fitting(self, call_id: int, described: Dict[str, str]) -> Dict[str, str]:
        """An error that is short enough for the host. Its code is never cut."""
        if len(_error(call_id, described)) <= self._longest_error:
            return described
        bare = {**described, "type": "", "message": "", "traceback": ""}
        most = (self._longest_error - len(_error(call_id, bare))) // (2 * _ESCAPED_CHARACTER)
        return {**bare, "type": described["type"][:most], "message": described["message"][:most]}

    def _data(self, error: BaseException, around: int) -> Tuple[bytes, str]:
        """The data of an Error, if it has any, as JSON text; or what stops it from being sent. The message takes
        that many bytes without it."""
        limits = self._limits._replace(
            json_depth=self._limits.json_depth - 1,  # it is a level further in than a result
            tree_bytes=self._limits.tree_bytes - around,
        )
        try:
            data = getattr(error, "data", None)
            if data is None:
                return b"", ""
            text, attachments = ResultEncoder(Rules(limits, "data")).encode(data, "error")
        except UnserializableResult as refusal:
            return b"", refusal.reason
        except Exception as failure:  # of a to_dict(), say
            return b"", f"converting it raised {type_name(type(failure))}"
        size = around + len(_DATA) + len(text)
        if attachments:
            return b"", "it holds bytes, which only results can"
        if size > self._longest:
            return b"", f"with it the answer takes {size} bytes; the limit is {self._longest} bytes"
        return text, ""

    def _check_size(self, body: Sequence[bytes], attachments: Sequence[memoryview], command: str) -> None:
        size, limit = frame_length(body, attachments), self._limits.frame_bytes
        if size > limit:
            reason = f"result of '{command}' takes a frame of {size} bytes; the limit is {limit} bytes"
            raise ResultTooLarge(reason)
        size, limit = sum(map(len, body)), self._limits.json_bytes
        if size > limit:
            reason = f"result takes {size} bytes of JSON; the limit is {limit} bytes"
            raise UnserializableResult(command, reason)


def encode(message: Union[Dict[str, Any], str]) -> bytes:
    """A message, or a part of one, that may hold any text."""
    # "replace": exception messages and command names may hold lone surrogates, which are not JSON
    return _encode(message).encode("utf-8", "replace")


def _error(call_id: int, described: Dict[str, str], data: bytes = b"") -> bytes:
    error = encode(described)
    if data:
        error = error[:-1] + _DATA + data + b"}"
    return b'{"type":"error","id":%d,"error":%b}' % (call_id, error)


def lengths(attachments: List[memoryview]) -> bytes:
    """The member of a message that says how long its attachments are, if it has any."""
    if not attachments:
        return b""
    return b',"attachments":[%b]' % ",".join(str(len(part)) for part in attachments).encode()


# An exception may carry any amount of text; what travels is bounded, in bytes of UTF-8, as at the host. The start
# of a message says most, and the end of a traceback.
_TYPE_LIMIT = 256
_MESSAGE_LIMIT = 64 * 1024
_TRACEBACK_LIMIT = 256 * 1024
_REMARK_LIMIT = 1024


def describe(error: BaseException) -> Dict[str, str]:
    """The error object that the caller gets, but for the data of an Error."""
    described = {
        "type": _start(type_name(type(error)), _TYPE_LIMIT) or "?",  # type() makes classes without a name
        "message": _start(message_of(error), _MESSAGE_LIMIT),
        "traceback": "",
    }
    code = _code(error)
    if code is not None:
        described["code"] = code
    elif not issubclass(type(error), CallError):
        described["traceback"] = _end(user_traceback(error), _TRACEBACK_LIMIT)
    return described


def with_remark(message: str, remark: str) -> str:
    """A message and, however long it is, what has to be said after it."""
    remark = f" ({_start(remark, _REMARK_LIMIT)})"
    return _start(message, _MESSAGE_LIMIT - len(remark.encode())) + remark


def _code(error: BaseException) -> Optional[str]:
    try:
        return valid_code(getattr(error, "code", None)) if issubclass(type(error), Error) else None
    except BaseException:  # a subclass has spoilt it: an error like any other
        return None


def _start(text: str, limit: int) -> str:
    # A character has a byte or more. "replace" is for lone surrogates, "ignore" for the character cut in half.
    return text[:limit].encode("utf-8", "replace")[:limit].decode("utf-8", "ignore")


def _end(text: str, limit: int) -> str:
    return text[-limit:].encode("utf-8", "replace")[-limit:].decode("utf-8", "ignore")
