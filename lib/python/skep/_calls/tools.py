"""Tool calls: requests of commands to their host."""

import queue
import threading
import time
from collections import deque
from typing import Any, Callable, Deque, Dict, List, Mapping, Optional, Sequence, Set, Tuple, Type

from .._process.interpreter import SimpleQueue
from .._wire.arrays import ArrayError
from .._wire.attachments import Attachment, Share, attachment_member
from .._wire.channel import Frame, frame_length
from .._wire.conversion import ResultEncoder, with_attachments
from .._wire.errors import Cancelled, HostError, ProtocolError, UnserializableResult
from .._wire.json_rules import Rules
from .._wire.messages import Answer, encode
from .._wire.protocol import Limits
from .call import Call, thread_window
from .outbox import Outbox, Progress
from .streams import Mailbox
from .telemetry import current_span

CANCELLED = "skep.Cancelled"
_MAX_NAME_BYTES = 256
_HIGHEST_NUMBER = 2**63 - 1


class Request:
    """A tool call: its tool, arguments, timeout, and the mailbox of its thread or task.

    The mailbox gets a Frame, the result; an exception to raise; or None when the request's turn to be sent has come.
    """

    def __init__(self, call: Call, name: str, timeout: Optional[float], mailbox: Mailbox) -> None:
        if not isinstance(name, str):
            raise TypeError(f"the name of a tool is text, not {name!r}")
        if timeout is not None and not timeout > 0:
            raise ValueError(f"the timeout of a tool call is more than 0 seconds, not {timeout!r}")
        self.call = call
        self.name = name
        self.mailbox = mailbox
        self.cancellation: Type[BaseException] = Cancelled  # the error of a cancelled call
        self.number = 0  # until it is sent
        self._span = current_span(call)
        self._timeout = timeout
        self._remaining = call.remaining
        waits = [wait for wait in (timeout, self._remaining) if wait is not None]
        self._deadline = time.monotonic() + min(waits) if waits else None

    def encode(self, args: Mapping[str, Any], limits: Limits, share: Share) -> None:
        """Encodes the arguments. Raises ValueError if the host would refuse the message."""
        encoded_name = encode(self.name)
        if len(encoded_name) > _MAX_NAME_BYTES:
            raise ValueError(f"there is no tool '{self.name[:_MAX_NAME_BYTES]}...': names are shorter")
        self._text, views = encode_args(self.name, args, limits)
        self._attachments: Sequence[Attachment] = share(views) if views else ()
        self._member = attachment_member(self._attachments)
        parent = b',"parent_span":"%b"' % self._span.id.encode() if self._span else b""
        self._tail = b'%b,"name":%b,"args":' % (parent, encoded_name)
        body, attachments = self.message(_HIGHEST_NUMBER)
        size, limit = sum(map(len, body)), limits.json_bytes
        if size <= limit:
            size, limit = frame_length(body, attachments), min(limits.frame_bytes, limits.tool_call_bytes)
        if size > limit:
            raise _refusal(self.name, f"with them the message takes {size} bytes; the limit is {limit} bytes")

    def message(self, number: int) -> Answer:
        """Returns the message with this number."""
        head = b'{"type":"tool_call","id":%d,"tool_call":%d' % (self.call.id, number)
        return (head, *self._member, self._tail, self._text, b"}"), self._attachments

    def wait_time(self) -> Optional[float]:
        """Returns the seconds until the deadline, None without a deadline."""
        if self._deadline is None:
            return None
        return min(max(0.0, self._deadline - time.monotonic()), threading.TIMEOUT_MAX)

    def timeout_error(self) -> TimeoutError:
        """Returns the error for a passed deadline."""
        is_own_timeout = self._timeout is not None and (self._remaining is None or self._timeout < self._remaining)
        limit_text = f"within {self._timeout} s" if is_own_timeout else "before the deadline of the call"
        return TimeoutError(f"tool '{self.name}' has not answered {limit_text}")


def encode_args(tool: str, args: Mapping[str, Any], limits: Limits) -> Tuple[bytes, List[memoryview]]:
    """Returns arguments as JSON text and attachments. Raises ValueError if they cannot be sent."""
    try:
        return ResultEncoder(Rules(limits, "args")).encode(args, tool)
    except UnserializableResult as refusal:
        raise _refusal(tool, refusal.reason) from None


def _refusal(tool: str, reason: str) -> ValueError:
    return ValueError(f"the arguments of tool '{tool}' cannot be sent: {reason}")


def host_error(error: Dict[str, Any]) -> HostError:
    """Returns the error of a tool_error message. Raises KeyError or TypeError if it is malformed."""
    kind, message = error["type"], error["message"]
    if type(kind) is not str or type(message) is not str:
        raise TypeError("the type and message of an error are text")
    return HostError(kind, message, error.get("code"), error.get("data"))


def result_value(result: Frame) -> Any:
    """Returns a tool's result with attachments in their places; the list of attachments if the result is null.

    Raises HostError for a malformed array.
    """
    value, attachments = result.message["value"], result.attachments
    if not attachments:
        return value
    if value is None:
        return list(attachments)
    try:
        return with_attachments(value, attachments)
    except ArrayError as error:
        raise HostError("skep.InvalidArray", str(error)) from None


class _Account:
    """The unanswered requests of one call. Requests beyond the host's limit are queued until one is answered."""

    def __init__(self, room: int) -> None:
        self.free = room
        self.requests: Set[Request] = set()
        self.queue: Deque[Request] = deque()


class Tools:
    """Sends requests, and hands the answers to their mailboxes. Thread-safe.

    The thread that listens to the host acquires only the lock of the accounts. No thread holds this lock while sending.
    """

    def __init__(
        self, outbox: Outbox, progress: Progress, limits: Limits, cancel: Callable[[int], None], share: Share
    ) -> None:
        self._outbox = outbox
        self._progress = progress
        self.limits = limits
        self.share = share
        self._cancel = cancel
        self._last_number = 0
        self._pending: Dict[int, Request] = {}
        self.accounts: Dict[int, _Account] = {}
        self._lock = threading.Lock()

    def call(self, call: Call, name: str, timeout: Optional[float], args: Mapping[str, Any]) -> Any:
        """Calls a tool and returns its result. On a thread that may block."""
        answers: "SimpleQueue[Any]" = SimpleQueue()
        request = Request(call, name, timeout, answers)
        request.encode(args, self.limits, self.share)
        window = thread_window(call)
        was_open = window.close()  # closed already in a coroutine that a plain command waits for
        try:
            self.submit(request)
            while True:
                try:
                    window.open(call.id)
                    item = answers.get(timeout=request.wait_time())
                except queue.Empty:
                    raise request.timeout_error() from None
                finally:
                    window.close()
                if self.handle_item(request, item):
                    return result_value(item)
        finally:
            self.withdraw(request)
            if was_open:
                window.open(call.id)

    # --- the thread that listens to the host

    def deliver(self, frame: Frame) -> None:
        """Hands an answer of the host to its request. Ignores an answer to a withdrawn request."""
        message = frame.message
        item: Any = frame
        if message["type"] == "tool_error":
            item = host_error(message["error"])
        elif "value" not in message:
            raise ProtocolError("a tool_result message has no value")
        request = self._pending.pop(message["tool_call"], None)
        if request is None:
            return
        self._make_room(request)
        if message["type"] == "tool_error" and item.type == CANCELLED:
            self._cancel(request.call.id)
            item = request.cancellation()
        request.mailbox.put(item)

    def wake(self, call_id: int) -> None:
        """Ends the waits of a cancelled call."""
        with self._lock:
            account = self.accounts.get(call_id)
            requests = list(account.requests) if account else []
        for request in requests:
            request.mailbox.put(request.cancellation())

    # --- the thread that answers the call, or that has made the request; with the window closed

    def finish(self, call: Call) -> None:
        """Ends the requests of an answered call. Threads that still wait get an error."""
        with self._lock:
            account = self.accounts.pop(call.id, None)
        for request in account.requests if account else ():
            self._pending.pop(request.number, None)
            request.mailbox.put(_call_over_error(request))

    def submit(self, request: Request) -> None:
        """Sends a request, or queues it until there is room. Raises its cancellation if the call is cancelled."""
        call = request.call
        if call.cancelled():  # the host would answer the same
            raise request.cancellation()
        with self._lock:
            account = self.accounts.setdefault(call.id, _Account(self.limits.tool_calls))
            account.requests.add(request)
            has_room = account.free > 0
            if has_room:
                account.free -= 1
            else:
                account.queue.append(request)
        if call.cancelled():  # it may have been cancelled before wake() could see the request
            raise request.cancellation()
        if has_room:
            self._send(request)

    def handle_item(self, request: Request, item: Any) -> bool:
        """Returns true for an item that is the result. Raises an error, and sends the request at its turn."""
        if isinstance(item, BaseException):
            raise item
        if item is None:
            self._send(request)
        return item is not None

    def _send(self, request: Request) -> None:
        self._progress.flush(request.call)

        def message() -> Any:
            # Numbered under the lock: numbers must rise in the order of sending.
            self._last_number = request.number = self._last_number + 1
            self._pending[request.number] = request
            return request.message(request.number)

        if not self._outbox.send_for_call(request.call, message):
            raise _call_over_error(request)

    def withdraw(self, request: Request) -> None:
        """Withdraws a request. A request that was sent keeps its place until the host has answered it."""
        with self._lock:
            account = self.accounts.get(request.call.id)
            if account is None or request not in account.requests:
                return
            if request in account.queue:
                account.queue.remove(request)
                account.requests.remove(request)
                return
        if request.call.is_over:  # and finish() has missed an account that was opened later
            self.accounts.pop(request.call.id, None)
        elif request.number == 0:  # the request had a place
            self._make_room(request)

    def _make_room(self, request: Request) -> None:
        with self._lock:
            account = self.accounts.get(request.call.id)
            if account is None:
                return
            account.requests.discard(request)
            if account.queue:
                account.queue.popleft().mailbox.put(None)
            else:
                account.free += 1


def _call_over_error(request: Request) -> RuntimeError:
    return RuntimeError(f"cannot call tool '{request.name}': the call that it is for has been answered")
