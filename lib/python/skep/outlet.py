"""Where the values go that a command yields."""

import functools
from typing import Any, Callable, Generator, List, Tuple

from .call import Call
from .channel import frame_length
from .collected import Collected
from .errors import Cancelled
from .messages import Answers
from .originals import SimpleQueue
from .pool_host import PoolHost

_AROUND = frame_length(())


def drive(generator: "Generator[Any, None, Any]", deliver: Callable[[Any], None]) -> Any:
    """Delivers what a generator yields; what it returns. It is closed whatever happens, so that it can clean up.

    A cancellation is raised where the generator is, as in any other command.
    """
    go_on: Callable[[], Any] = generator.__next__
    try:
        while True:
            try:
                value = go_on()
            except StopIteration as end:
                return end.value
            try:
                deliver(value)
                go_on = generator.__next__
            except Cancelled as cancelled:
                go_on = functools.partial(generator.throw, cancelled)
    finally:
        generator.close()


def collect(generator: "Generator[Any, None, Any]", command: str) -> List[Any]:
    """What a generator yields, for a caller who wants one answer."""
    collected = Collected(command)
    drive(generator, collected.add)
    return collected.values


class Outlet:
    """Sends chunks to the consumer of a stream, no faster than it takes them."""

    def __init__(self, call: Call, credit: Tuple[int, int], answers: Answers, host: PoolHost) -> None:
        self._call = call
        self._answers = answers
        self._batch = host.outbox.batch
        self._credit = host.credit
        self._mailbox: "SimpleQueue[None]" = SimpleQueue()
        self._credit.begin(call.id, credit, self._mailbox)

    def close(self) -> None:
        """The stream is over."""
        self._credit.finish(self._call.id)

    def send(self, value: Any) -> None:
        """Sends one chunk when the host has credit for it. Interrupted only while it waits for that."""
        call, window = self._call, self._call.window
        body, attachments = self._answers.chunk(call.id, call.command, value)
        size = frame_length(body, attachments) - _AROUND
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
