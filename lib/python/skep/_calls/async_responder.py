"""Responses to calls on an event loop."""

import asyncio
from typing import Any, AsyncGenerator, Awaitable, Callable, Generator, List, Optional, Tuple, Union, cast

from .._process.exits import exit_forked_child
from .._wire.attachments import message_size
from .._wire.errors import Cancelled, Error
from .._wire.messages import Answer, Answers
from .batch import CallBatch
from .call import Call, Running
from .command import ASYNC_GENERATOR, AWAITABLE, GENERATOR, value_kind
from .loop_waits import LoopMailbox, LoopWindow
from .pool_host import PoolHost
from .responder import Work, health_answer
from .streams import ChunkList

AnyGenerator = Union["AsyncGenerator[Any, None]", "Generator[Any, None, Any]"]
_Deliver = Callable[[Any], Awaitable[None]]


async def drive_async(generator: AnyGenerator, deliver: _Deliver) -> Any:
    """Delivers the values of a generator and returns its result. Closes it in any case, so that it can clean up."""
    if value_kind(generator) == GENERATOR:
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
    """Returns the values of a generator, for a call without a stream."""
    chunks = ChunkList(command)

    async def add(value: Any) -> None:
        chunks.add(value)

    await drive_async(generator, add)
    return chunks.values


class AsyncChunkSender:
    """Sends chunks to the consumer of a stream as its credit allows. For the event loop's thread."""

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
        """Ends the stream."""
        self._credit.finish(self._call.id)

    async def send(self, value: Any) -> None:
        """Waits for credit, sends one chunk and yields to other tasks."""
        body, attachments = self._answers.chunk(self._call.id, self._call.command, value)
        size = message_size(body, attachments)
        while not self._credit.spend(self._call.id, size):
            self._batch.flush()
            self._end_if_cancelled()  # the host gives a cancelled call no credit
            await self._mailbox.get()
        self._batch.add(body, attachments)
        await asyncio.sleep(0)  # a generator that never waits must not keep the loop
        self._end_if_cancelled()

    def _end_if_cancelled(self) -> None:
        if self._window.has_raised:  # the generator has swallowed the cancellation
            raise asyncio.CancelledError


async def execute_async(
    work: Work, call: Call, answers: Answers, send_chunk: Optional[Callable[[Any], Awaitable[None]]] = None
) -> Answer:
    """Work.execute() for a command of the loop, and for a health check."""
    command = work.accept(call)
    if command is None:
        return health_answer(call, answers, None if work.health_check is None else await work.health_check.run_async())
    try:
        value = command.function(**call.args)
        while value_kind(value) == AWAITABLE:
            value = await value
        if value_kind(value) in (GENERATOR, ASYNC_GENERATOR):
            value = await (drive_async(value, send_chunk) if send_chunk else collect_async(value, command.name))
    except TypeError as error:
        mismatch = command.mismatch(error)
        if mismatch is None:
            raise
        raise mismatch from error
    return answers.result(call.id, command.name, value)


async def execute_batch_async(batch: CallBatch, answers: Answers) -> None:
    """Work.execute_batch() for a command of the loop."""
    for part in batch.parts():
        try:
            value = batch.command.function(list(part))
            while value_kind(value) == AWAITABLE:
                value = await value
        except Exception as error:
            batch.fail(part, error)
        else:
            batch.succeed(part, value, answers)


class AsyncResponder:
    """Runs the commands of calls and makes the answers."""

    def __init__(self, work: Work, host: PoolHost) -> None:
        self._work = work
        self._host = host
        self._answers = Answers(host.limits, share=host.share)

    async def respond(self, call: Call, window: LoopWindow) -> Answer:
        """Returns the answer to a call. Raises SystemExit after SIGTERM. Ends a forked child that returns from user code.

        Once the answer is made, nothing is left to cancel.
        """
        try:
            try:
                window.begin()
                credit = call.credit
                if credit is None:
                    answer = await execute_async(self._work, call, self._answers)
                else:
                    answer = await self._stream(call, window, credit)
            except Error as error:  # converting its data runs user code
                if self._host.is_gone:
                    exit_forked_child(error)
                answer = self._answers.error(call.id, error)
        except BaseException as error:
            answer = self._answers.error(call.id, self._survived(call, error))
        if self._host.is_gone:
            exit_forked_child()
        return answer

    async def respond_to_batch(self, batch: CallBatch, window: LoopWindow) -> List[Answer]:
        """respond() for a batch. Returns the answers in the order of its calls."""
        batch.accept(self._work.accept)
        try:
            window.begin()
            await execute_batch_async(batch, self._answers)
            answers = batch.encode_errors(self._answers)
        except BaseException as error:
            batch.interrupt(self._survived(batch, error))
            answers = batch.encode_errors(self._answers)
        if self._host.is_gone:
            exit_forked_child()
        return answers

    async def _stream(self, call: Call, window: LoopWindow, credit: Tuple[int, int]) -> Answer:
        sender = AsyncChunkSender(call, window, credit, self._answers, self._host)
        try:
            return await execute_async(self._work, call, self._answers, sender.send)
        finally:
            sender.close()

    def _survived(self, running: Running, error: BaseException) -> BaseException:
        """Returns the error for the caller. Ends a forked child, and lets an exit after SIGTERM pass."""
        if self._host.is_gone:
            exit_forked_child(error)
        if issubclass(type(error), SystemExit) and self._host.is_terminated():
            raise error
        if issubclass(type(error), asyncio.CancelledError) and running.cancelled():
            return Cancelled().with_traceback(error.__traceback__)
        return error
