"""The messages a worker sends, and how they keep to the limits of its host."""

import json
from typing import Any, Dict, List, Sequence, Tuple

from .channel import frame_length
from .convert import ResultEncoder, unserializable
from .errors import CallError, describe
from .limits import Limits
from .rules import Rules

# The JSON object, perhaps in parts, and the attachments.
Answer = Tuple[Sequence[bytes], Sequence[memoryview]]

_ESCAPED_CHARACTER = 6  # bytes
_AROUND_ERROR = 1024  # in the host's memory


class Answers:
    """Makes answers to calls that a host with these limits accepts."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._encoder = ResultEncoder(Rules(limits))
        self._longest = min(limits.json_bytes, limits.frame_bytes - frame_length(()))
        # Text takes the host's memory by its bytes, and little is around it.
        self._longest_error = min(self._longest, limits.tree_bytes - _AROUND_ERROR)

    def result(self, call_id: int, command: str, value: Any) -> Answer:
        """What a command has returned; CallError if the host would not accept it."""
        text, attachments = self._encoder.encode(value, command)
        body = b'{"type":"result","id":%d%b,"value":' % (call_id, _lengths(attachments)), text, b"}"
        if frame_length(body, attachments) > self._longest:
            self._check_size(body, attachments, command)
        return body, attachments

    def error(self, call_id: int, error: BaseException) -> Answer:
        """What a command has raised, cut to what the host accepts."""
        kind, message, traceback = describe(error)
        body = _error(call_id, kind, message, traceback)
        if sum(map(len, body)) > self._longest_error:
            # Two texts of escaped characters, and room for what is around them.
            most = self._longest_error // (2 * _ESCAPED_CHARACTER + 4)
            body = _error(call_id, kind[:most], message[:most], "")
        return body, ()

    def _check_size(self, body: Sequence[bytes], attachments: Sequence[memoryview], command: str) -> None:
        size, limit = frame_length(body, attachments), self._limits.frame_bytes
        if size > limit:
            reason = f"result of '{command}' takes a frame of {size} bytes; the limit is {limit} bytes"
            raise CallError("ResultTooLarge", reason)
        size, limit = sum(map(len, body)), self._limits.json_bytes
        if size > limit:
            raise unserializable(command, f"result takes {size} bytes of JSON; the limit is {limit} bytes")


def encode(message: Dict[str, Any]) -> Sequence[bytes]:
    """A message that may hold any text."""
    # "replace": exception messages and command names may hold lone surrogates, which are not JSON
    return (json.dumps(message, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace"),)


def _error(call_id: int, kind: str, message: str, traceback: str) -> Sequence[bytes]:
    error = {"type": kind, "message": message, "traceback": traceback}
    return encode({"type": "error", "id": call_id, "error": error})


def _lengths(attachments: List[memoryview]) -> bytes:
    if not attachments:
        return b""
    return b',"attachments":[%b]' % ",".join(str(len(part)) for part in attachments).encode()
