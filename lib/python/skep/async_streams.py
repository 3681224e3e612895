"""Where the values go that an async generator yields."""

import asyncio
from typing import Any, AsyncGenerator, Awaitable, Callable, Generator, List, Tuple, Union, cast

from .call import Call
from .channel import frame_length
from .collected import Collected
from .loop_mailbox import LoopMailbox
from .loop_window import LoopWindow
from .messages import Answers
from .pool_host import PoolHost
from .returned import GENERATOR, kind_of

AnyGenerator = Union["AsyncGenerator[Any, None]", "Generator[Any, None, Any]"]
_Deliver = Callable[[Any], Awaitable[None]]


async def drive_async(generator: AnyGenerator, deliver: _Deliver) -> Any:
    """Delivers what a generator yields; what it returns. It is closed whatever happens, so that it can clean up."""
    if kind_of(generator) == GENERATOR:
        return await _drive_plain(cast("Generator[Any, None, Any]", generator), deliver)
    generator = cast("AsyncGenerator[Any, None]", generator)
    try:
        async for value in generator:
            await deliver(value)
    finally:
        await generator.aclose()


async def _drive_plain(generator: "Generator[Any, None, Any]", deliver: _Deliver) -> Any:
    try:
        while True:
            try:
                value = next(generator)
            except StopIteration as end:
                return end.value
            await deliver(value)
    finally:
        generator.close()


async def collect_async(generator: AnyGenerator, command: str) -> List[Any]:
    """What a generator yields, for a caller who wants one answer."""
    collected = Collected(command)

    async def add(value: Any) -> None:
        collected.add(value)

    await drive_async(generator, add)
    return collected.values


class AsyncOutlet:
    """Sends chunks to the consumer of a stream, no faster than it takes them. On the event loop."""

    def __init__(
        self, call: Call, window: LoopWindow, credit: Tuple[int, int], answers: Answers, host: PoolHost
    ) -> None:
        self._call = call
        self._window = window
        self._answers = answers
        self._batch = host.outbox.batch
        self._credit = host.credit
        self._mailbox = LoopMailbox()
        self._credit.begin(call.id, credit, self._mailbox)

    def close(self) -> None:
        """The stream is over."""
        self._credit.finish(self._call.id)

    async def send(self, value: Any) -> None:
        """Sends one chunk when the host has credit for it, and lets others have their turn."""
        body, attachments = self._answers.chunk(self._call.id, self._call.command, value)
        size = frame_length(body, attachments) - frame_length(())
        while not self._credit.spend(self._call.id, size):
            self._batch.flush()
            self._end_if_cancelled()  # rather than wait for credit that nobody is going to give
            await self._mailbox.get()
        self._batch.add(body, attachments)
        await asyncio.sleep(0)  # a generator that never waits must not keep the loop for itself
        self._end_if_cancelled()

    def _end_if_cancelled(self) -> None:
        if self._window.was_raised:  # and the generator has gone on all the same
            raise asyncio.CancelledError
