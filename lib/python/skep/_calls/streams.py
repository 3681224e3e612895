"""Streams of commands that yield: chunks for the consumer, and the credit that bounds them."""

import functools
import threading
from typing import Any, Callable, Dict, Generator, List, Protocol, Tuple

from .._process.interpreter import SimpleQueue
from .._wire.attachments import message_size
from .._wire.errors import Cancelled, ResultTooLarge
from .._wire.messages import Answers
from .call import Call
from .outbox import Batch


class Mailbox(Protocol):
    """A queue in which a thread or a task waits for items."""

    def put(self, item: Any) -> None: ...


class Account:
    """The credit of one stream, in chunks and bytes. Its mailbox gets an item when the credit or the call changes."""

    def __init__(self, credit: Tuple[int, int], mailbox: Mailbox) -> None:
        self.chunks, self.bytes = credit
        self.mailbox = mailbox

    def spend(self, size: int) -> bool:
        """Spends credit on a chunk of `size` bytes. Returns false if no credit is left. With the lock held."""
        if self.chunks <= 0 or self.bytes <= 0:
            return False
        self.chunks -= 1
        self.bytes -= size
        return True

    @property
    def is_short(self) -> bool:
        """True if no chunk may be sent."""
        return self.chunks <= 0 or self.bytes <= 0


class Credit:
    """The credit accounts of all streams of this worker.

    The spending thread has its window closed. The thread that listens to the host grants credit.
    """

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self._accounts: Dict[int, Account] = {}

    def begin(self, call_id: int, credit: Tuple[int, int], mailbox: Mailbox) -> Account:
        """Opens the account of a stream and returns it."""
        account = self._accounts[call_id] = Account(credit, mailbox)
        return account

    def spend(self, call_id: int, size: int) -> bool:
        """Spends credit on a chunk of `size` bytes. Returns false if no credit is left."""
        with self.lock:
            return self._accounts[call_id].spend(size)

    def grant(self, call_id: int, credit: Tuple[int, int]) -> None:
        """Adds credit to an account, if it is open. Thread-safe."""
        with self.lock:
            account = self._accounts.get(call_id)
            if account is None:
                return
            was_short = account.is_short
            account.chunks += credit[0]
            account.bytes += credit[1]
        if was_short:
            account.mailbox.put(None)

    def wake(self, call_id: int) -> None:
        """Wakes the thread or task that waits for credit."""
        account = self._accounts.get(call_id)
        if account is not None:
            account.mailbox.put(None)

    def finish(self, call_id: int) -> None:
        """Closes the account."""
        del self._accounts[call_id]

    def close(self) -> None:
        """Renews the lock in a forked child, where other threads never release it."""
        self.lock = threading.Lock()


_MAX_CHUNKS = 10_000


class ChunkList:
    """The values of a command that yields without a stream. Bounded."""

    def __init__(self, command: str) -> None:
        self.values: List[Any] = []
        self._command = command

    def add(self, value: Any) -> None:
        """Appends a value. Raises ResultTooLarge if there are too many."""
        if len(self.values) == _MAX_CHUNKS:
            raise ResultTooLarge(f"'{self._command}' yields more than {_MAX_CHUNKS} values; call it as a stream")
        self.values.append(value)


def drive(generator: "Generator[Any, None, Any]", deliver: Callable[[Any], None]) -> Any:
    """Delivers the values of a generator and returns its result. Closes it in any case, so that it can clean up.

    Raises a cancellation inside the generator, as in any other command.
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
        del advance  # the traceback of a cancellation refers to this frame: a cycle that would keep the chunk
        generator.close()


def collect(generator: "Generator[Any, None, Any]", command: str) -> List[Any]:
    """Returns the values of a generator, for a call without a stream."""
    chunks = ChunkList(command)
    drive(generator, chunks.add)
    return chunks.values


class ChunkSender:
    """Sends chunks to the consumer of a stream as its credit allows."""

    def __init__(self, call: Call, credit: Tuple[int, int], answers: Answers, batch: Batch, account: Credit) -> None:
        self._call = call
        self._answers = answers
        self._batch = batch
        self._credit = account
        self._mailbox: "SimpleQueue[None]" = SimpleQueue()
        self._credit.begin(call.id, credit, self._mailbox)

    def close(self) -> None:
        """Ends the stream."""
        self._credit.finish(self._call.id)

    def send(self, value: Any) -> None:
        """Waits for credit and sends one chunk. Interrupted only while it waits."""
        call, window = self._call, self._call.window
        body, attachments = self._answers.chunk(call.id, call.command, value)
        size = message_size(body, attachments)
        window.close()
        while not self._credit.spend(call.id, size):
            self._batch.flush()
            window.open(call.id)
            self._end_if_cancelled()  # the host gives a cancelled call no credit
            self._mailbox.get()
            window.close()
        self._batch.add(body, attachments)
        window.open(call.id)
        self._end_if_cancelled()

    def _end_if_cancelled(self) -> None:
        if self._call.cancelled():  # the generator has swallowed the cancellation
            raise Cancelled
