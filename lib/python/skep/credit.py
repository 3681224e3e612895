"""How far a stream may run ahead of its consumer."""

import threading
from typing import Any, Dict, Protocol, Tuple

from .errors import ProtocolError


class Mailbox(Protocol):
    """Where somebody waits for what other threads put in."""

    def put(self, item: Any) -> None: ...


class Account:
    """What one call may still send, as chunks and bytes; its mailbox gets something when there is reason to look."""

    def __init__(self, credit: Tuple[int, int], mailbox: Mailbox) -> None:
        self.chunks, self.bytes = credit
        self.mailbox = mailbox

    @property
    def is_short(self) -> bool:
        """Whether nothing more may be sent."""
        return self.chunks <= 0 or self.bytes <= 0


class Credit:
    """The accounts of all streams of this worker.

    Who spends has its interrupts closed; the host grants more through the thread that listens to it.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._accounts: Dict[int, Account] = {}

    def begin(self, call_id: int, credit: Tuple[int, int], mailbox: Mailbox) -> None:
        """Opens the account of a stream."""
        self._accounts[call_id] = Account(credit, mailbox)

    def spend(self, call_id: int, size: int) -> bool:
        """Pays for a chunk of so many bytes; False if nothing is left."""
        with self._lock:
            account = self._accounts[call_id]
            if account.is_short:
                return False
            account.chunks -= 1
            account.bytes -= size
            return True

    def grant(self, call_id: int, credit: Tuple[int, int]) -> None:
        """Adds to an account, if it is open. On any thread."""
        with self._lock:
            account = self._accounts.get(call_id)
            if account is None:
                return
            was_short = account.is_short
            account.chunks += credit[0]
            account.bytes += credit[1]
        if was_short:
            account.mailbox.put(None)

    def wake(self, call_id: int) -> None:
        """Has whoever waits for more look what has happened to the call."""
        account = self._accounts.get(call_id)
        if account is not None:
            account.mailbox.put(None)

    def finish(self, call_id: int) -> None:
        """Closes the account."""
        del self._accounts[call_id]

    def close(self) -> None:
        """In a forked child: what was in progress in other threads is not going to end there."""
        self._lock = threading.Lock()


def credit_in(message: object) -> Tuple[int, int]:
    """What a message of the host says of it; ProtocolError if that is no credit."""
    if type(message) is dict:
        chunks, size = message.get("chunks"), message.get("bytes")
        if type(chunks) is int and type(size) is int and chunks >= 0 and size >= 0:
            return chunks, size
    raise ProtocolError("credit needs a number of chunks and one of bytes")
