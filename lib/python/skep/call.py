"""The call that is being answered, as user code sees it."""

import time
from typing import Any, Callable, Dict, List, Optional, Sequence

from .errors import ProtocolError


class Call:
    """One call from the host: `id`, `command`, `args`, and what the caller sent along."""

    __slots__ = ("id", "command", "args", "_message", "_attachments", "_deadline", "_is_cancelled")

    def __init__(
        self,
        message: Dict[str, Any],
        attachments: Sequence[memoryview],
        is_cancelled: Callable[[int], bool],
    ) -> None:
        try:
            self.id: int = message["id"]
            self.command: str = message["command"]
            self.args: Dict[str, Any] = message["args"]
            left_ms = message.get("deadline_ms")
            self._deadline = None if left_ms is None else time.monotonic() + left_ms / 1000
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


# One call runs at a time, and threads that a command starts work for that same call: a plain global is right.
_running: Optional[Call] = None


def set_running(call: Optional[Call]) -> None:
    """Makes a call the current one."""
    global _running
    _running = call


def current() -> Call:
    """The call being answered; RuntimeError outside of one."""
    if _running is None:
        raise RuntimeError("no call is running: skep.current() and skep.attachments() work inside a command")
    return _running


def attachments() -> List[memoryview]:
    """The binary data sent with the call being answered, in order, read-only."""
    return current().attachments
