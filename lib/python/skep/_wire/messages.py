"""The messages of a worker, within the limits of its host."""

import json
from typing import Any, Callable, Dict, List, Optional, Sequence, Set, Tuple, Union

from .._process.diagnostics import error_text, type_name, user_traceback, write_to_stderr
from .attachments import Attachment, Share, attachment_member, keep_in_frame
from .channel import Message, frame_length
from .conversion import ARRAY_BEGIN, ResultEncoder
from .errors import CallError, Error, ResultTooLarge, UnserializableResult, validate_code
from .json_rules import Rules
from .protocol import Limits

Answer = Message
EncodeResult = Callable[[int, Any], Optional[bytes]]

_encode = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode  # json.dumps() may be patched

_ESCAPED_CHARACTER = 6  # bytes
_ERROR_OVERHEAD = 1024  # in the host's memory
_DATA = b',"data":'

# The text before attachment_member(), and the text before the value of a message without attachments.
_VALUE = b',"value":'
_RESULT, _CHUNK = ((head, head + _VALUE) for head in (b'{"type":"result","id":%d', b'{"type":"chunk","id":%d'))
_RESULT_OVERHEAD = 64  # bytes of the frame besides the value, at most

_ERROR = b'{"type":"error","id":%d'  # the text before the error

# In a message with arrays, the first attachment begins at a multiple of so many bytes from the begin of the frame: then
# the host can use large arrays in place.
_ALIGNMENT = 16
_HEADER_SIZE = 8

# Beyond so many numbers in a list, arrays are worth an advice. A number and its comma take two bytes or more.
_MANY_NUMBERS = 100_000
_MANY_NUMBERS_TEXT = 2 * _MANY_NUMBERS
_MANY_COMMAS = b"," * _MANY_NUMBERS
_NUMBER_CHARACTERS = b"0123456789+-.eE[]"
_advised_commands: Set[str] = set()


class Answers:
    """Makes answers to calls that a host with these limits accepts.

    `encode_result` is skep._loop's function for results of plain types. It returns None for other results.
    """

    def __init__(
        self, limits: Limits, encode_result: Optional[EncodeResult] = None, share: Share = keep_in_frame
    ) -> None:
        self._encode_result = encode_result
        self._share = share
        self._limits = limits
        self._rules = Rules(limits)
        self._encoder = ResultEncoder(self._rules)
        self._length_limit = min(limits.json_bytes, limits.frame_bytes - frame_length(()))
        self._unchecked_length = min(self._length_limit, _MANY_NUMBERS_TEXT)
        # The cost of a text in the host's memory is its bytes and little more.
        self._error_limit = min(self._length_limit, limits.tree_bytes - _ERROR_OVERHEAD)

    def result(self, call_id: int, command: str, value: Any) -> Answer:
        """Returns the answer with a result. Raises UnserializableResult or ResultTooLarge if the host refuses it."""
        text = None if self._encode_result is None else self._encode_result(call_id, value)
        return self._value(_RESULT, call_id, command, value) if text is None else ((text,), ())

    def unchecked_result(self) -> Tuple[int, int]:
        """Returns the size and the depth up to which a result of plain types without big integers needs no check."""
        size, depth = self._rules.clear_limits
        return min(size, self._unchecked_length - _RESULT_OVERHEAD), depth

    def chunk(self, call_id: int, command: str, value: Any) -> Answer:
        """Returns the message with a value that a command has yielded. Raises the errors of result()."""
        return self._value(_CHUNK, call_id, command, value)

    def _value(self, heads: Tuple[bytes, bytes], call_id: int, command: str, value: Any) -> Answer:
        text, views = self._encoder.encode(value, command)
        attachments: Sequence[Attachment] = ()
        body: Sequence[bytes]
        if views:
            attachments = self._share(views)
            begin = (heads[0] % call_id, *attachment_member(attachments), _VALUE, text)
            body = (*begin, _aligning_end(sum(map(len, begin))) if ARRAY_BEGIN in text else b"}")
        else:
            body = heads[1] % call_id, text, b"}"
        if views or len(text) + _RESULT_OVERHEAD > self._unchecked_length:
            self._check_size(body, attachments, command)
            _advise_arrays(text, command)
        return body, attachments

    def error(self, call_id: int, error: BaseException) -> Answer:
        """Returns the answer with an error, cut to the limits of the host.

        Converting the data of an Error may run user code. Propagates exceptions of that code, except for an Exception.
        """
        description = self._cut_to_fit(call_id, describe(error))
        body = _error(call_id, description)
        if "code" in description:
            data, obstacle = self._data(error, len(body))
            if data:
                body = _error(call_id, description, data)
            elif obstacle:
                description["message"] = with_remark(description["message"], f"its data is left out: {obstacle}")
                body = _error(call_id, self._cut_to_fit(call_id, description))
        return (body,), ()

    def errors(self, call_ids: Sequence[int], error: BaseException) -> List[Answer]:
        """Returns the answers of error() for several calls. Formats the error once."""
        longest = max(call_ids)
        (body,), _ = self.error(longest, error)
        rest = body[len(_ERROR % longest) :]
        return [((_ERROR % call_id, rest), ()) for call_id in call_ids]

    def _cut_to_fit(self, call_id: int, description: Dict[str, str]) -> Dict[str, str]:
        """Returns an error description that is short enough for the host. The code is never cut."""
        if len(_error(call_id, description)) <= self._error_limit:
            return description
        minimum = {**description, "type": "", "message": "", "traceback": ""}
        length = (self._error_limit - len(_error(call_id, minimum))) // (2 * _ESCAPED_CHARACTER)
        return {**minimum, "type": description["type"][:length], "message": description["message"][:length]}

    def _data(self, error: BaseException, overhead: int) -> Tuple[bytes, str]:
        """Returns the data of an Error as JSON text, if it has any, and the reason why the data cannot be sent.

        `overhead` is the size of the message without the data.
        """
        limits = self._limits._replace(
            json_depth=self._limits.json_depth - 1,  # data is a level deeper than a result
            tree_bytes=self._limits.tree_bytes - overhead,
        )
        try:
            data = getattr(error, "data", None)
            if data is None:
                return b"", ""
            text, attachments = ResultEncoder(Rules(limits, "data"), lists_arrays=True).encode(data, "error")
        except UnserializableResult as refusal:
            return b"", refusal.reason
        except Exception as failure:  # of a to_dict(), say
            return b"", f"converting it raised {type_name(type(failure))}"
        size = overhead + len(_DATA) + len(text)
        if attachments:
            return b"", "it holds bytes, which only results can"
        if size > self._length_limit:
            return b"", f"with it the answer takes {size} bytes; the limit is {self._length_limit} bytes"
        return text, ""

    def _check_size(self, body: Sequence[bytes], attachments: Sequence[Attachment], command: str) -> None:
        size, limit = frame_length(body, attachments), self._limits.frame_bytes
        if size > limit:
            reason = f"result of '{command}' takes a frame of {size} bytes; the limit is {limit} bytes"
            raise ResultTooLarge(reason)
        size, limit = sum(map(len, body)), self._limits.json_bytes
        if size > limit:
            reason = f"result takes {size} bytes of JSON; the limit is {limit} bytes"
            raise UnserializableResult(command, reason)


def _aligning_end(length: int) -> bytes:
    """Returns the end of a message, after so many bytes of JSON, with spaces that align the attachments."""
    return b"}".rjust(1 + -(_HEADER_SIZE + length + 1) % _ALIGNMENT)


def _advise_arrays(text: bytes, command: str) -> None:
    """Reports a command that sends many numbers as text, once."""
    if len(text) <= _MANY_NUMBERS_TEXT or command in _advised_commands:
        return
    if _MANY_COMMAS in text.translate(None, _NUMBER_CHARACTERS):
        _advised_commands.add(command)
        write_to_stderr(
            f"skep: command '{command}' returns a list of more than {_MANY_NUMBERS:,} numbers, which travel as text. "
            "Return a numpy array or skep.array(...) instead: its bytes travel beside the JSON\n"
        )


def encode(message: Union[Dict[str, Any], str]) -> bytes:
    """Returns a message, or a part of one, as JSON text. It may hold any text."""
    # "replace": exception messages and command names may hold lone surrogates, but JSON cannot.
    return _encode(message).encode("utf-8", "replace")


def _error(call_id: int, description: Dict[str, str], data: bytes = b"") -> bytes:
    error = encode(description)
    if data:
        error = error[:-1] + _DATA + data + b"}"
    return _ERROR % call_id + b',"error":%b}' % error


# Limits of an error's texts, in bytes of UTF-8, as at the host: an exception may carry any amount of text. The start of
# a message says most, and the end of a traceback.
_TYPE_LIMIT = 256
_MESSAGE_LIMIT = 64 * 1024
_TRACEBACK_LIMIT = 256 * 1024
_REMARK_LIMIT = 1024


def describe(error: BaseException) -> Dict[str, str]:
    """Returns the error object for the caller, without the data of an Error."""
    description = {
        "type": _head(type_name(type(error)), _TYPE_LIMIT) or "?",  # type() can make a class without a name
        "message": _head(error_text(error), _MESSAGE_LIMIT),
        "traceback": "",
    }
    code = _error_code(error)
    if code is not None:
        description["code"] = code
    elif not issubclass(type(error), CallError):
        description["traceback"] = _tail(user_traceback(error), _TRACEBACK_LIMIT)
    return description


def with_remark(message: str, remark: str) -> str:
    """Returns a message, cut if it is long, and the remark."""
    remark = f" ({_head(remark, _REMARK_LIMIT)})"
    return _head(message, _MESSAGE_LIMIT - len(remark.encode())) + remark


def _error_code(error: BaseException) -> Optional[str]:
    try:
        return validate_code(getattr(error, "code", None)) if issubclass(type(error), Error) else None
    except BaseException:  # a subclass has broken `code`: an error like any other
        return None


def _head(text: str, limit: int) -> str:
    # A character takes a byte or more. "replace" is for lone surrogates, "ignore" for a character cut in half.
    return text[:limit].encode("utf-8", "replace")[:limit].decode("utf-8", "ignore")


def _tail(text: str, limit: int) -> str:
    return text[-limit:].encode("utf-8", "replace")[-limit:].decode("utf-8", "ignore")
