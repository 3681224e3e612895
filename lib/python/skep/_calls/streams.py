"""The streams of commands that yield: where the values go, and how far they may run ahead of their consumer."""

import functools
import threading
from typing import Any, Callable, Dict, Generator, List, Protocol, Tuple

from .._process.interpreter import SimpleQueue
from .._wire.channel import frame_length
from .._wire.errors import Cancelled, ResultTooLarge
from .._wire.messages import Answers
from .call import Call
from .outbox import Batch


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


_MAX_CHUNKS = 10_000


class ChunkList:
    """A list that does not grow for ever."""

    def __init__(self, command: str) -> None:
        self.values: List[Any] = []
        self._command = command

    def add(self, value: Any) -> None:
        """Appends a value; ResultTooLarge if there are too many."""
        if len(self.values) == _MAX_CHUNKS:
            raise ResultTooLarge(f"'{self._command}' yields more than {_MAX_CHUNKS} values; call it as a stream")
        self.values.append(value)


_EMPTY_FRAME = frame_length(())


def drive(generator: "Generator[Any, None, Any]", deliver: Callable[[Any], None]) -> Any:
    """Delivers what a generator yields; what it returns. It is closed whatever happens, so that it can clean up.

    A cancellation is raised where the generator is, as in any other command.
    """
    advance: Callable[[], Any] = generator.__next__
    try:
        while True:
            try:
                value = advance()
            except StopIteration as end:
                return end.value
            try:
                deliver(value)
                advance = generator.__next__
            except Cancelled as cancelled:
                advance = functools.partial(generator.throw, cancelled)
    finally:
        generator.close()


def collect(generator: "Generator[Any, None, Any]", command: str) -> List[Any]:
    """What a generator yields, for a caller who wants one answer."""
    chunks = ChunkList(command)
    drive(generator, chunks.add)
    return chunks.values


class ChunkSender:
    """Sends chunks to the consumer of a stream, no faster than it takes them."""

    def __init__(self, call: Call, credit: Tuple[int, int], answers: Answers, batch: Batch, account: Credit) -> None:
        self._call = call
        self._answers = answers
        self._batch = batch
        self._credit = account
        self._mailbox: "SimpleQueue[None]" = SimpleQueue()
        self._credit.begin(call.id, credit, self._mailbox)

    def close(self) -> None:
        """The stream is over."""
        self._credit.finish(self._call.id)

    def send(self, value: Any) -> None:
        """Sends one chunk when the host has credit for it. Interrupted only while it waits for that."""
        call, window = self._call, self._call.window
        body, attachments = self._answers.chunk(call.id, call.command, value)
        size = frame_length(body, attachments) - _EMPTY_FRAME
        window.close()
        while not self._credit.spend(call.id, size):
            self._batch.flush()
            window.open(call.id)
            self._end_if_cancelled()  # rather than wait for credit that nobody is going to give
            self._mailbox.get()
            window.close()
        self._batch.add(body, attachments)
        window.open(call.id)
        self._end_if_cancelled()

    def _end_if_cancelled(self) -> None:
        if self._call.cancelled():  # and the generator has gone on all the same
            raise Cancelled
