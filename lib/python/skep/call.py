"""The call that is being answered, as user code sees it."""

import time
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, Dict, Iterator, List, Optional, Sequence

from .credit import credit_in
from .errors import ProtocolError
from .window import Window

if TYPE_CHECKING:
    from .host import Host


class Call:
    """One call from the host: `id`, `command`, `args`, and what the caller sent along."""

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
        self.credit = credit_in(message["stream"]) if "stream" in message else None
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
    sent = now if sent_ms is None else min(now, welcomed + sent_ms / 1000)
    return sent + left_ms / 1000


# Where one call runs at a time, threads that a command starts work for that same call: a plain global is right. Where
# several do, each thread and each task has its own.
_running: Optional[Call] = None
_running_here: "ContextVar[Optional[Call]]" = ContextVar("skep.call", default=None)


def set_running(call: Optional[Call]) -> None:
    """Makes a call the current one, everywhere."""
    global _running
    _running = call


def set_running_here(call: Optional[Call]) -> None:
    """Makes a call the current one of this thread or task, and of the tasks that it starts."""
    _running_here.set(call)


@contextmanager
def running(call: Call) -> Iterator[None]:
    """Makes a call the current one for a while."""
    before, before_here = _running, _running_here.get()
    set_running(call)
    set_running_here(call)
    try:
        yield
    finally:
        set_running(before)
        set_running_here(before_here)


def current() -> Call:
    """The call being answered; RuntimeError outside of one."""
    call = _running_here.get() or _running
    if call is None:
        raise RuntimeError("no call is running: skep.current() and skep.attachments() work inside a command")
    return call


def attachments() -> List[memoryview]:
    """The binary data sent with the call being answered, in order, read-only."""
    return current().attachments
