"""The call that is being answered, as user code sees it, and the host that has made it."""

import threading
import time
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, Dict, Iterator, List, Mapping, Optional, Sequence, Tuple

from .._wire.errors import ProtocolError
from .interrupts import Window


class Host:
    """The other end of a call. Its methods may be called on any thread."""

    welcomed = 0.0  # when it said welcome, on the monotonic clock
    correlation = ""  # what the ids of calls begin with for which the caller has none

    def call_tool(self, call: "Call", name: str, timeout: Optional[float], args: Mapping[str, Any]) -> Any:
        """What call_host() does for a call."""
        raise NotImplementedError

    async def call_tool_async(self, call: "Call", name: str, timeout: Optional[float], args: Mapping[str, Any]) -> Any:
        """What call_host_async() does for a call."""
        raise NotImplementedError

    def report(self, call: "Call", fraction: float, text: str) -> None:
        """What progress() does for a call."""


class Call:
    """One call from the host: `id`, `command`, `args`, and what the caller sent along."""

    __module__ = "skep"

    __slots__ = (
        *("id", "command", "args", "credit", "host", "window", "is_over", "deadline"),
        *("_message", "_attachments"),
    )

    def __init__(
        self, message: Dict[str, Any], attachments: Sequence[memoryview], host: "Host", window: Window
    ) -> None:
        if message.get("type") != "call":
            raise ProtocolError(f"a message of type {message.get('type')!r} on the data channel")
        try:
            self.id: int = message["id"]
            self.command: str = message["command"]
            self.args: Dict[str, Any] = message["args"]
            self.deadline = _deadline(message, host.welcomed)
        except (KeyError, TypeError, OverflowError) as error:  # the last of a time beyond all floats
            raise ProtocolError(f"a call message is malformed: {error!r}") from None
        if type(self.id) is not int or type(self.command) is not str or type(self.args) is not dict:
            raise ProtocolError("a call needs an integer id, a command name and an object of arguments")
        self.credit = parse_credit(message["stream"]) if "stream" in message else None
        self.host = host
        self.window = window
        self.is_over = False  # whether it has been answered
        self._message = message
        self._attachments = attachments

    @property
    def session(self) -> Optional[str]:
        """The id of the session the call belongs to."""
        return self._message.get("session")

    @property
    def correlation_id(self) -> str:
        """The id under which the call shows up in the host's logs: the caller's, or one that the host has made."""
        return self._message.get("correlation_id") or f"{self.host.correlation}{self.id}"

    @property
    def metadata(self) -> Dict[str, Any]:
        """What the caller attached for whoever handles the call."""
        return self._message.get("metadata") or {}

    @property
    def attachments(self) -> List[memoryview]:
        """The binary data sent with the call, in order, read-only."""
        return list(self._attachments)

    @property
    def remaining(self) -> Optional[float]:
        """Seconds left until the caller's deadline, never negative; None without a deadline."""
        return None if self.deadline is None else max(0.0, self.deadline - time.monotonic())

    def cancelled(self) -> bool:
        """Whether the caller has cancelled the call; for work in other threads, which is not interrupted."""
        return self.window.is_cancelled(self.id)


def _deadline(message: Dict[str, Any], welcomed: float) -> Optional[float]:
    """When the caller's time is up, on the monotonic clock; the host counts from when it sent the call.

    A call that was pipelined, to wait behind another, says when it was sent: `sent_ms` after the welcome.
    """
    left_ms: Optional[float] = message.get("deadline_ms")
    sent_ms: Optional[float] = message.get("sent_ms")
    if left_ms is None:
        return None
    now = time.monotonic()
    start = now if sent_ms is None else min(now, welcomed + sent_ms / 1000)
    return start + left_ms / 1000


# Where one call runs at a time, threads that a command starts work for that same call: a plain global is right. Where
# several do, each thread and each task has its own.
_global_call: Optional[Call] = None
_context_call: "ContextVar[Optional[Call]]" = ContextVar("skep.call", default=None)


def set_global_call(call: Optional[Call]) -> None:
    """Makes a call the current one, everywhere."""
    global _global_call
    _global_call = call


def set_context_call(call: Optional[Call]) -> None:
    """Makes a call the current one of this thread or task, and of the tasks that it starts."""
    _context_call.set(call)


@contextmanager
def current_call(call: Call) -> Iterator[None]:
    """Makes a call the current one for a while."""
    previous, previous_in_context = _global_call, _context_call.get()
    set_global_call(call)
    set_context_call(call)
    try:
        yield
    finally:
        set_global_call(previous)
        set_context_call(previous_in_context)


def current() -> Call:
    """The call being answered; RuntimeError outside of one."""
    call = _context_call.get() or _global_call
    if call is None:
        raise RuntimeError("no call is running: skep.current() and skep.attachments() work inside a command")
    return call


def attachments() -> List[memoryview]:
    """The binary data sent with the call being answered, in order, read-only."""
    return current().attachments


def parse_credit(message: object) -> Tuple[int, int]:
    """What a message of the host says of it; ProtocolError if that is no credit."""
    if type(message) is dict:
        chunks, size = message.get("chunks"), message.get("bytes")
        if type(chunks) is int and type(size) is int and chunks >= 0 and size >= 0:
            return chunks, size
    raise ProtocolError("credit needs a number of chunks and one of bytes")


_NO_WINDOW = Window()


def thread_window(call: Call) -> Window:
    """The window of the thread that runs this: threads that user code has started are not interrupted."""
    return call.window if call.window.thread == threading.get_ident() else _NO_WINDOW


@contextmanager
def uninterrupted(call: Call) -> Iterator[None]:
    """Closes the window of the call while the block runs, which is not to be left half done.

    One that was closed stays so: signal handlers and finalizers come here from the middle of what is not to be interrupted.
    """
    window = thread_window(call)
    is_open = window.close()
    try:
        yield
    finally:
        if is_open:
            window.open(call.id)


def call_host(name: str, timeout: Optional[float] = None, /, **args: Any) -> Any:
    """Asks the host for something while a command runs: calls the tool that it has registered under that name.

        user = skep.call_host("lookup_user", id=42)

    Arguments are converted like the result of a command; `bytes` in them become attachments. Returns what the tool
    returns, with a read-only memoryview where its value stands for an attachment; where its value is null and it has
    attachments, a list of these.
    Waits for at most `timeout` seconds (more than 0, None: no limit of its own), and in no case beyond the deadline
    of the call. May be used by the thread that runs the command, and by threads that work for it. Of more requests than
    the host takes of one call at a time (16 by default), the later ones wait until an earlier one is answered.
    Raises skep.HostError if the tool fails or there is none of that name, TimeoutError, ValueError if the arguments
    cannot be sent or are too large, RuntimeError outside of a call, after its end, in a forked child, and on an event
    loop that the SDK runs (use call_host_async() there). skep.Cancelled if the call is, or was, cancelled.
    """
    call = current()
    return call.host.call_tool(call, name, timeout, args)


async def call_host_async(name: str, timeout: Optional[float] = None, /, **args: Any) -> Any:
    """call_host() for `async def` commands: the loop goes on meanwhile. A cancelled call shows as CancelledError."""
    call = current()
    return await call.host.call_tool_async(call, name, timeout, args)


def progress(fraction: float, text: str = "") -> None:
    """Tells the caller how far the command is: a fraction from 0 to 1 (what is beyond is cut), and perhaps a text.

    The newest counts. The first is sent at once, the ones after it at most every 20 ms, the last before the answer in
    any case: so a loop may report as often as it likes. Of a text, the first 1024 characters are sent.
    Waits for nobody, on any thread, and does nothing once the call has been answered. Raises ValueError for NaN,
    TypeError for what is no number or no text, RuntimeError outside of a call.
    """
    fraction = float(fraction)
    if fraction != fraction:
        raise ValueError("progress is a number from 0 to 1, not NaN")
    if not isinstance(text, str):
        raise TypeError(f"the text of a progress is a str, not {text!r}")
    call = current()
    call.host.report(call, min(max(fraction, 0.0), 1.0), text)
