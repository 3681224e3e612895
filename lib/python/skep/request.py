"""One question to the host, and the answer to it."""

import threading
import time
from typing import Any, Dict, List, Mapping, Optional, Tuple, Type

from .call import Call
from .channel import Frame, frame_length
from .convert import ResultEncoder
from .credit import Mailbox
from .errors import Cancelled, HostError, UnserializableResult
from .limits import Limits
from .messages import Answer, encode, lengths
from .placeholders import with_attachments
from .rules import Rules
from .trace import span_here

CANCELLED = "skep.Cancelled"
_LONGEST_NAME = 256  # bytes
_HIGHEST_NUMBER = 2**63 - 1


class Request:
    """A tool call: what is asked, for how long, and where the answer is awaited.

    Into its mailbox come a Frame, which is the result, an exception, which is what to raise, and None: send it now.
    """

    def __init__(self, call: Call, name: str, timeout: Optional[float], mailbox: Mailbox) -> None:
        if not isinstance(name, str):
            raise TypeError(f"the name of a tool is text, not {name!r}")
        if timeout is not None and not timeout > 0:
            raise ValueError(f"the timeout of a tool call is more than 0 seconds, not {timeout!r}")
        self.call = call
        self.name = name
        self.mailbox = mailbox
        self.cancelled: Type[BaseException] = Cancelled  # what is raised when the call is cancelled
        self.number = 0  # until it is sent
        self._span = span_here(call)
        self._timeout = timeout
        self._remaining = call.remaining
        waits = [wait for wait in (timeout, self._remaining) if wait is not None]
        self._end = time.monotonic() + min(waits) if waits else None

    def encode(self, args: Mapping[str, Any], limits: Limits) -> None:
        """Makes the arguments ready to be sent; ValueError if there is no way, or the host would not take them."""
        encoded_name = encode(self.name)
        if len(encoded_name) > _LONGEST_NAME:
            raise ValueError(f"there is no tool '{self.name[:_LONGEST_NAME]}...': names are shorter")
        self._text, self._attachments = encode_args(self.name, args, limits)
        parent = b',"parent_span":"%b"' % self._span.id.encode() if self._span else b""
        self._rest = b'%b,"name":%b,"args":' % (parent, encoded_name)
        body, attachments = self.message(_HIGHEST_NUMBER)
        size, limit = sum(map(len, body)), limits.json_bytes
        if size <= limit:
            size, limit = frame_length(body, attachments), min(limits.frame_bytes, limits.tool_call_bytes)
        if size > limit:
            raise _refusal(self.name, f"with them the message takes {size} bytes; the limit is {limit} bytes")

    def message(self, number: int) -> Answer:
        """The message that asks it, under that number."""
        head = b'{"type":"tool_call","id":%d,"tool_call":%d%b' % (self.call.id, number, lengths(self._attachments))
        return (head, self._rest, self._text, b"}"), self._attachments

    def left(self) -> Optional[float]:
        """Seconds that are left to wait, None for as long as it takes."""
        return None if self._end is None else min(max(0.0, self._end - time.monotonic()), threading.TIMEOUT_MAX)

    def timed_out(self) -> TimeoutError:
        """The error when nothing is left."""
        own = self._timeout is not None and (self._remaining is None or self._timeout < self._remaining)
        when = f"within {self._timeout} s" if own else "before the deadline of the call"
        return TimeoutError(f"tool '{self.name}' has not answered {when}")


def encode_args(tool: str, args: Mapping[str, Any], limits: Limits) -> Tuple[bytes, List[memoryview]]:
    """Arguments as JSON text and attachments; ValueError if there is no way, or the host would not take them."""
    try:
        return ResultEncoder(Rules(limits, "args")).encode(args, tool)
    except UnserializableResult as refusal:
        raise _refusal(tool, refusal.reason) from None


def _refusal(tool: str, reason: str) -> ValueError:
    return ValueError(f"the arguments of tool '{tool}' cannot be sent: {reason}")


def host_error(error: Dict[str, Any]) -> HostError:
    """What a tool_error tells; KeyError or TypeError if it is malformed."""
    kind, message = error["type"], error["message"]
    if type(kind) is not str or type(message) is not str:
        raise TypeError("the type and message of an error are text")
    return HostError(kind, message, error.get("code"), error.get("data"))


def value_in(result: Frame) -> Any:
    """What a tool has returned, with its attachments in their places; all of them as a list where it has none."""
    value, attachments = result.message["value"], result.attachments
    if not attachments:
        return value
    return list(attachments) if value is None else with_attachments(value, attachments)
