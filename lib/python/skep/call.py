"""The call that is being answered, as user code sees it."""

import time
from contextlib import contextmanager
from typing import Any, Callable, Dict, Iterator, List, Optional, Sequence

from .errors import ProtocolError


class Call:
    """One call from the host: `id`, `command`, `args`, and what the caller sent along."""

    __slots__ = ("id", "command", "args", "_message", "_attachments", "_deadline", "_is_cancelled")

    def __init__(
        self,
        message: Dict[str, Any],
        attachments: Sequence[memoryview],
        is_cancelled: Callable[[int], bool],
        welcomed: float,
    ) -> None:
        try:
            self.id: int = message["id"]
            self.command: str = message["command"]
            self.args: Dict[str, Any] = message["args"]
            self._deadline = _deadline(message, welcomed)
        except (KeyError, TypeError) as error:
            raise ProtocolError(f"a call message is malformed: {error!r}") from None
        if type(self.id) is not int or type(self.command) is not str or type(self.args) is not dict:
            raise ProtocolError("a call needs an integer id, a command name and an object of arguments")
        self._message = message
        self._attachments = attachments
        self._is_cancelled = is_cancelled

    @property
    def session(self) -> Optional[str]:
        """The id of the session the call belongs to."""
        return self._message.get("session")

    @property
    def correlation_id(self) -> Optional[str]:
        """The id under which the call shows up in the host's logs."""
        return self._message.get("correlation_id")

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
        return None if self._deadline is None else max(0.0, self._deadline - time.monotonic())

    def cancelled(self) -> bool:
        """Whether the caller has cancelled the call; for work in other threads, which is not interrupted."""
        return self._is_cancelled(self.id)


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


# One call runs at a time, and threads that a command starts work for that same call: a plain global is right.
_running: Optional[Call] = None


def set_running(call: Optional[Call]) -> None:
    """Makes a call the current one."""
    global _running
    _running = call


@contextmanager
def running(call: Call) -> Iterator[None]:
    """Makes a call the current one for a while."""
    before = _running
    set_running(call)
    try:
        yield
    finally:
        set_running(before)


def current() -> Call:
    """The call being answered; RuntimeError outside of one."""
    if _running is None:
        raise RuntimeError("no call is running: skep.current() and skep.attachments() work inside a command")
    return _running


def attachments() -> List[memoryview]:
    """The binary data sent with the call being answered, in order, read-only."""
    return current().attachments
