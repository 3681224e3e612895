"""Who waits for what happens on an event loop. Imports asyncio, hence only where that is needed."""

import asyncio
import contextvars
from typing import Any, AsyncGenerator, Awaitable, Coroutine, Iterator, Mapping, Optional, Tuple, Type

from .._process.interpreter import SimpleQueue
from .._wire.errors import Cancelled
from .call import Call, uninterrupted
from .event_loop import EventLoop
from .interrupts import CallWindow
from .tools import Request, Tools, result_value


class LoopMailbox:
    """A queue that only the running loop takes from. Create it there."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._items: "asyncio.Queue[Any]" = asyncio.Queue()

    def put(self, item: Any) -> None:
        """Adds an item, on any thread."""
        try:
            self._loop.call_soon_threadsafe(self._items.put_nowait, item)
        except RuntimeError:  # the loop is closed: nobody waits
            pass

    async def get(self) -> Any:
        """Waits for the next item and takes it."""
        return await self._items.get()


class LoopWindow(CallWindow):
    """The task of one call. It may be cancelled wherever it waits, and that is never in the SDK's own code."""

    may_block = False

    def __init__(self, loop: asyncio.AbstractEventLoop, thread: int) -> None:
        self.thread = thread
        self._loop = loop
        self._task: "Optional[asyncio.Task[Any]]" = None
        self._is_cancelled = False
        self.has_raised = False  # where the task waited

    def begin(self) -> None:
        """The running task is at the call; Cancelled if that is not wanted any more."""
        if self._is_cancelled:
            raise Cancelled
        self._task = asyncio.current_task()

    def is_cancelled(self, call_id: int) -> bool:
        return self._is_cancelled

    def interrupt(self, kind: Type[BaseException]) -> None:
        if not self._is_cancelled:
            self._is_cancelled = True
            try:
                self._loop.call_soon_threadsafe(self._cancel)
            except RuntimeError:  # the loop is closed
                pass

    def _cancel(self) -> None:
        if self._task is not None:
            self.has_raised = True
            self._task.cancel()


async def call_async(tools: Tools, call: Call, name: str, timeout: Optional[float], args: Mapping[str, Any]) -> Any:
    """What a tool returns. The loop goes on meanwhile."""
    answers = LoopMailbox()
    request = Request(call, name, timeout, answers)
    request.cancellation = asyncio.CancelledError
    request.encode(args, tools.limits)
    try:
        with uninterrupted(call):
            tools.submit(request)
        while True:
            try:
                item = await asyncio.wait_for(answers.get(), request.wait_time())
            except asyncio.TimeoutError:
                raise request.timeout_error() from None
            if call.cancelled():  # which wait_for() forgets, before Python 3.12, where an answer comes at the same moment
                raise request.cancellation()
            with uninterrupted(call):
                if tools.handle_item(request, item):
                    return result_value(item)
    finally:
        with uninterrupted(call):
            tools.withdraw(request)


def wait_for(awaitable: Awaitable[Any], call: Call, event_loop: EventLoop, is_cleanup: bool = False) -> Any:
    """What an awaitable returns, awaited by a task, which is cancelled when the call is, unless it cleans up. On the
    call's thread.

    The task runs on the worker's loop; in a thread beside the main thread, while that loop does not run, on one of its own.
    """
    with uninterrupted(call):
        kind = _OtherLoopTask if event_loop.is_running else _OwnLoopTask
        task = kind(awaitable, call, event_loop.get_running_or_own())
        try:
            return task.run() if is_cleanup else task.run_cancellable()
        except asyncio.CancelledError as error:
            if call.window.is_interrupted(call.id):
                raise Cancelled().with_traceback(error.__traceback__) from None
            raise


def iterate(generator: "AsyncGenerator[Any, None]", call: Call, event_loop: EventLoop) -> Iterator[Any]:
    """The values of an async generator, each of which is waited for."""
    try:
        while True:
            try:
                value = wait_for(generator.__anext__(), call, event_loop)
            except StopAsyncIteration:
                return
            yield value
    finally:
        wait_for(generator.aclose(), call, event_loop, is_cleanup=True)


class _AwaitedTask:
    """A task and the thread that waits for its end."""

    def __init__(self, awaitable: Awaitable[Any], call: Call, loop: asyncio.AbstractEventLoop) -> None:
        self._awaitable = awaitable
        self._call = call
        self._loop = loop
        self._task: "Optional[asyncio.Task[Any]]" = None
        self._is_cancelled = False
        self._has_begun = False

    def run_cancellable(self) -> Any:
        """Waits; returns or raises what the awaitable does, which sees a cancellation where it waits."""
        window = self._call.window
        window.on_interrupt = self._cancel_if_interrupted
        try:
            self._cancel_if_interrupted()  # for an interrupt from before
            return self.run()
        finally:
            window.on_interrupt = None
            if not self._has_begun and isinstance(self._awaitable, Coroutine):
                self._awaitable.close()  # or Python would warn that nobody has awaited it

    def run(self) -> Any:
        """The same without cancellation."""
        raise NotImplementedError

    async def _await(self) -> Any:
        self._has_begun = True
        return await self._awaitable

    def _cancel_if_interrupted(self) -> None:
        """On any thread, and in signal handlers."""
        if not self._is_cancelled and self._call.window.is_interrupted(self._call.id):
            self._is_cancelled = True
            self._loop.call_soon_threadsafe(self._cancel)

    def _cancel(self) -> None:
        if self._task is not None:
            self._task.cancel()


class _OwnLoopTask(_AwaitedTask):
    """The loop runs on this thread, for as long as this takes."""

    def run(self) -> Any:
        self._task = self._loop.create_task(self._await())
        return self._loop.run_until_complete(self._task)


class _OtherLoopTask(_AwaitedTask):
    """The loop runs on another thread."""

    def run(self) -> Any:
        results: "SimpleQueue[asyncio.Task[Any]]" = SimpleQueue()

        async def outcome() -> Tuple[Any, Optional[BaseException]]:
            try:
                return await self._await(), None
            except asyncio.CancelledError:
                raise
            except BaseException as error:  # SystemExit is for the thread of the call, not for the loop
                return None, error

        def start() -> None:
            self._task = self._loop.create_task(outcome())
            self._task.add_done_callback(results.put)
            if self._is_cancelled:
                self._task.cancel()

        self._loop.call_soon_threadsafe(contextvars.copy_context().run, start)
        value, error = results.get().result()
        if error is not None:
            raise error
        return value
