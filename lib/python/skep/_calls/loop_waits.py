"""Waits on an event loop: of tasks, tool calls, and plain commands. Imports asyncio: import this module on demand."""

import asyncio
import contextvars
from typing import Any, AsyncGenerator, Awaitable, Coroutine, Iterator, Mapping, Optional, Tuple, Type

from .._process.interpreter import SimpleQueue
from .._wire.errors import Cancelled
from .call import Call, Running, call_of_context, uninterrupted
from .event_loop import EventLoop
from .interrupts import CallWindow
from .tools import Request, Tools, result_value


class LoopMailbox:
    """A queue that the running loop reads. Create it on the loop."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._items: "asyncio.Queue[Any]" = asyncio.Queue()

    def put(self, item: Any) -> None:
        """Adds an item, on any thread."""
        try:
            self._loop.call_soon_threadsafe(self._items.put_nowait, item)
        except RuntimeError:  # the loop is closed, and with it all waits
            pass

    async def get(self) -> Any:
        """Waits for the next item and returns it."""
        return await self._items.get()


class LoopWindow(CallWindow):
    """The window of a call that a task runs. A cancelled task gets its CancelledError where it waits."""

    may_block = False

    def __init__(self, loop: asyncio.AbstractEventLoop, thread: int) -> None:
        self.thread = thread
        self._loop = loop
        self._task: "Optional[asyncio.Task[Any]]" = None
        self._is_cancelled = False
        self.has_raised = False  # true once the task was cancelled where it waited

    def begin(self) -> None:
        """Binds the call to the running task. Raises Cancelled if the call is cancelled already."""
        if self._is_cancelled:
            raise Cancelled
        self._task = asyncio.current_task()

    def end(self) -> None:
        """Lets go of the task, which has the call in its context: only the garbage collector would end such a cycle."""
        self._task = None

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
    """Calls a tool and returns its result. The loop continues to run."""
    answers = LoopMailbox()
    request = Request(call, name, timeout, answers)
    request.cancellation = asyncio.CancelledError
    request.encode(args, tools.limits, tools.share)
    try:
        with uninterrupted(call):
            tools.submit(request)
        while True:
            try:
                item = await asyncio.wait_for(answers.get(), request.wait_time())
            except asyncio.TimeoutError:
                raise request.timeout_error() from None
            if call.cancelled():  # before Python 3.12, wait_for() loses a cancellation that an answer coincides with
                raise request.cancellation()
            with uninterrupted(call):
                if tools.handle_item(request, item):
                    return result_value(item)
    finally:
        with uninterrupted(call):
            tools.withdraw(request)


def call_of_loop_error(error: BaseException) -> Optional[Running]:
    """Returns the call whose task or callback has raised an error out of a running loop; None if there is none."""
    handle = _raising_handle(error)
    return None if handle is None else call_of_context(getattr(handle, "_context"))


def _raising_handle(error: BaseException) -> Optional[asyncio.Handle]:
    """Returns the loop's handle of the task or callback that has raised an error out of a running loop.

    None if a signal handler has raised the error while the loop waited, or if the loop is written in C.
    """
    entry = error.__traceback__
    while entry is not None:
        runner = entry.tb_frame.f_locals.get("self")
        if isinstance(runner, asyncio.Handle):
            return runner
        entry = entry.tb_next
    return None


def wait_for(awaitable: Awaitable[Any], call: Running, event_loop: EventLoop, is_cleanup: bool = False) -> Any:
    """Runs an awaitable as a task, and returns its result. For the thread of the call.

    Cancels the task when the call is cancelled, unless the task cleans up. The task runs on the worker's loop; in a
    thread beside the main thread, while the worker's loop does not run, on a loop of the thread.
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
    """Yields the values of an async generator, and waits for each."""
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
    """A task, and the thread that waits for its end."""

    def __init__(self, awaitable: Awaitable[Any], call: Running, loop: asyncio.AbstractEventLoop) -> None:
        self._awaitable = awaitable
        self._call = call
        self._loop = loop
        self._task: "Optional[asyncio.Task[Any]]" = None
        self._is_cancelled = False
        self._has_begun = False

    def run_cancellable(self) -> Any:
        """Waits for the awaitable, and cancels it if the call is cancelled. Returns its result or raises its error."""
        window = self._call.window
        window.on_interrupt = self._cancel_if_interrupted
        try:
            self._cancel_if_interrupted()  # for an earlier interrupt
            return self.run()
        finally:
            window.on_interrupt = None
            if not self._has_begun and isinstance(self._awaitable, Coroutine):
                self._awaitable.close()  # Python warns of a coroutine that was never awaited

    def run(self) -> Any:
        """Waits for the awaitable without cancellation. Returns its result or raises its error."""
        raise NotImplementedError

    async def _await(self) -> Any:
        self._has_begun = True
        return await self._awaitable

    def _cancel_if_interrupted(self) -> None:
        """Cancels the task if the call is interrupted. On any thread, and in signal handlers."""
        if not self._is_cancelled and self._call.window.is_interrupted(self._call.id):
            self._is_cancelled = True
            self._loop.call_soon_threadsafe(self._cancel)

    def _cancel(self) -> None:
        if self._task is not None:
            self._task.cancel()


class _OwnLoopTask(_AwaitedTask):
    """A task of a loop that this thread runs until the task is done."""

    def run(self) -> Any:
        self._task = task = self._loop.create_task(self._await())
        while True:
            try:
                return self._loop.run_until_complete(task)
            except SystemExit as error:
                host = self._call.host
                if task.done() and not task.cancelled():
                    task.exception()  # otherwise asyncio logs that nobody has seen it
                if task.done() or host.is_gone or host.is_terminated() or _raising_handle(error) is None:
                    raise
                # Another task has exited: this task gets the exit where it waits.


class _OtherLoopTask(_AwaitedTask):
    """A task of a loop that another thread runs."""

    def run(self) -> Any:
        results: "SimpleQueue[asyncio.Task[Any]]" = SimpleQueue()

        async def outcome() -> Tuple[Any, Optional[BaseException]]:
            try:
                return await self._await(), None
            except asyncio.CancelledError:
                raise
            except BaseException as error:  # SystemExit belongs to the call's thread, not to the loop
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
