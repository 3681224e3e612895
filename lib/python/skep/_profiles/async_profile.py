"""Many calls at once: async commands on one event loop, and plain commands on threads beside it.

The loop runs on the main thread. Another thread receives the calls.
"""

import asyncio
import contextvars
import threading
from collections import deque
from typing import Any, Callable, Deque, Optional, Sequence, Set

from .._calls.async_responder import AsyncResponder
from .._calls.batch import CallBatch, calls_of
from .._calls.call import Call, Running, set_context_call
from .._calls.event_loop import EventLoop
from .._calls.interrupts import CallWindow
from .._calls.loop_waits import LoopWindow, call_of_loop_error
from .._process.exits import Terminate
from .._wire.messages import Answer
from .loop_watch import LoopWatch
from .profile import ConcurrentProfile
from .thread_profile import UNWIND_SECONDS, CallThreads, ThreadWindow


class CallQueue:
    """Begins calls and batches in the order of their arrival, up to a capacity, later ones when earlier ones end.

    Thread-safe.
    """

    def __init__(self, capacity: int, begin: Callable[[Running], None]) -> None:
        self._capacity = self._free_places = capacity
        self._begin = begin  # called with the lock held
        self._calls: Deque[Running] = deque()
        self._lock = threading.Lock()

    def __len__(self) -> int:
        return self._capacity - self._free_places + len(self._calls)

    def put(self, running: Running) -> None:
        """Begins a call or a batch, or queues it."""
        with self._lock:
            if self._free_places == 0:
                self._calls.append(running)
                return
            self._free_places -= 1
            self._begin(running)

    def release(self) -> None:
        """Releases the place of a call or a batch that has ended."""
        with self._lock:
            if self._calls:
                self._begin(self._calls.popleft())
            else:
                self._free_places += 1


class AsyncProfile(ConcurrentProfile):
    """The profile of a worker with async commands."""

    def __init__(self, *args: Any, event_loop: EventLoop) -> None:
        super().__init__(*args)
        self._loop = event_loop.get()
        self._end: "asyncio.Future[None]" = self._loop.create_future()
        self._thread = threading.get_ident()
        self._threads = CallThreads(self)
        self._tasks: Set["asyncio.Task[None]"] = set()
        self._is_receiving = True
        self._is_terminated = False

    def serve(self) -> None:
        self._responder = AsyncResponder(self.work, self.host)
        self._queue = CallQueue(self.capacity, self._begin)
        self._watch = LoopWatch(self._loop, self._queue)
        # The context of each call: the task of another call may begin it, and must not pass on its variables.
        self._context = contextvars.copy_context()
        self._interrupts.on_terminate = lambda: self._schedule(self._terminate)
        threading.Thread(target=self._receive_calls, name="skep-calls", daemon=True).start()
        self._run_loop()
        self._threads.close()
        if self._is_terminated:
            self._join_threads(UNWIND_SECONDS)
            raise Terminate
        with self._interrupts.window():
            self._join_threads()

    def finish(self, call: Call, answer: Answer) -> None:
        super().finish(call, answer)
        self._release()

    def finish_batch(self, batch: CallBatch, answers: Sequence[Answer]) -> None:
        super().finish_batch(batch, answers)
        self._release()

    def _release(self) -> None:
        self._queue.release()
        if not self._is_receiving:
            self._schedule(self._finish_if_idle)

    def _run_loop(self) -> None:
        """Runs the loop until the end of serving. Continues after the exit of a call's task: the call gets the exit."""
        while True:
            try:
                self._loop.run_until_complete(self._end)
                break
            except SystemExit as error:
                call = None if self.host.is_gone or self._interrupts.is_terminated() else call_of_loop_error(error)
                if call is None or call.is_over:
                    raise

    def _join_threads(self, timeout: Optional[float] = None) -> None:
        """Waits for the calls in threads. The loop continues to run, because the calls may wait for its tasks."""
        done: "asyncio.Future[None]" = self._loop.create_future()

        def join() -> None:
            self._threads.join(timeout)
            self._schedule(done.set_result, None)

        try:
            threading.Thread(target=join, name="skep-join", daemon=True).start()
        except RuntimeError:  # too many threads: calls that wait for the loop wait in vain
            join()
        self._loop.run_until_complete(done)

    def _schedule(self, callback: Callable[..., None], *args: Any) -> None:
        try:
            self._loop.call_soon_threadsafe(callback, *args)
        except RuntimeError:  # the loop is closed
            pass

    # --- the thread that receives the calls

    def _receive_calls(self) -> None:
        self.receive_beside(self._enqueue)
        self._schedule(self._stop)

    def _enqueue(self, running: Running) -> None:
        command = self.work.commands.get(calls_of(running)[0].command)
        if command is not None and not self.work.is_for_loop(command):
            window: CallWindow = ThreadWindow()
        else:
            window = LoopWindow(self._loop, self._thread)
        self.admit(running, window)
        self._queue.put(running)
        self._watch.notice_call()

    # --- any thread

    def _begin(self, running: Running) -> None:
        if isinstance(running.window, LoopWindow):
            self._schedule(self._context.run, self._start, running, running.window)
        else:
            try:
                self._threads.put(running)
            except RuntimeError as error:  # too many threads
                self._schedule(self.fail, running, error)

    # --- the loop

    def _start(self, running: Running, window: LoopWindow) -> None:
        if not self._is_receiving:
            return
        answer = self._answer(running, window)
        try:
            task = self._loop.create_task(answer)
        except Exception as error:  # the script may have set a task factory
            answer.close()
            self.fail(running, error)
            return
        self._tasks.add(task)
        task.add_done_callback(self._on_task_done)

    async def _answer(self, running: Running, window: LoopWindow) -> None:
        if not self.begin(running):
            return
        set_context_call(running)
        if isinstance(running, CallBatch):
            answers = await self._responder.respond_to_batch(running, window)
            if not self._is_terminated:
                self.finish_batch(running, answers)
        elif isinstance(running, Call):
            answer = await self._responder.respond(running, window)
            if not self._is_terminated:
                self.finish(running, answer)
        window.end()

    def _on_task_done(self, task: "asyncio.Task[None]") -> None:
        self._tasks.discard(task)
        if self.host.shares_memory:
            self._loop.call_soon(self.host.release_attachments)  # later: the task still has its call
        self._finish_if_idle()

    def _stop(self) -> None:
        self._is_receiving = False
        self._finish_if_idle()

    def _terminate(self) -> None:
        if not self._is_terminated:
            self._is_terminated = True
            self.interrupt_all(Terminate)
            self._loop.call_later(UNWIND_SECONDS, self._finish_serving)
            self._stop()

    def _finish_if_idle(self) -> None:
        if not self._is_receiving and not self._tasks and (self.in_flight == 0 or self._is_terminated):
            self._finish_serving()

    def _finish_serving(self) -> None:
        if not self._end.done():
            self._end.set_result(None)
