"""Many calls at once: async commands on one event loop, and plain ones on threads beside it.

The loop runs on the main thread. Another thread takes the calls from the host.
"""

import asyncio
import contextvars
import threading
from collections import deque
from typing import Any, Callable, Deque, Optional, Set

from .._calls.async_answering import AsyncAnswering
from .._calls.call import Call, set_running_here
from .._calls.event_loop import EventLoop
from .._calls.interrupts import CallWindow, Window
from .._calls.loop_waits import LoopWindow
from .._process.exits import Terminate, leave_for_protocol_error, leave_with_group
from .._wire.errors import ProtocolError
from .._wire.messages import Answer
from .loop_watch import LoopWatch
from .profile import ConcurrentProfile
from .thread_profile import UNWIND, CallThreads, ThreadWindow


class Turns:
    """Has calls begin in the order in which they come, the later ones when earlier ones have ended. On any thread."""

    def __init__(self, most: int, begin: Callable[[Call], None]) -> None:
        self._free = most
        self._begin = begin  # called by one thread at a time
        self._waiting: Deque[Call] = deque()
        self._lock = threading.Lock()

    def come(self, call: Call) -> None:
        """A call more."""
        with self._lock:
            if self._free == 0:
                self._waiting.append(call)
                return
            self._free -= 1
            self._begin(call)

    def end(self) -> None:
        """A call that had begun has ended."""
        with self._lock:
            if self._waiting:
                self._begin(self._waiting.popleft())
            else:
                self._free += 1


class AsyncProfile(ConcurrentProfile):
    """What a worker does that has async commands."""

    def __init__(self, *args: Any, event_loop: EventLoop) -> None:
        super().__init__(*args)
        self._loop = event_loop.get()
        self._end: "asyncio.Future[None]" = self._loop.create_future()
        self._exit: Optional[SystemExit] = None
        self._thread = threading.get_ident()
        self._threads = CallThreads(self, self._end_with)
        self._watch = LoopWatch(self._loop, self.running)
        self._tasks: Set["asyncio.Task[None]"] = set()
        self._takes_calls = True
        self._was_terminated = False

    def serve(self) -> None:
        self._answering = AsyncAnswering(self.work, self.host)
        self._turns = Turns(self.capacity, self._begin)
        # Of each call: it may be begun by the task of another one, whose variables are none of its business.
        self._context = contextvars.copy_context()
        self._interrupts.on_terminate = lambda: self._in_loop(self._terminate)
        threading.Thread(target=self._take_calls, name="skep-calls", daemon=True).start()
        self._loop.run_until_complete(self._end)
        self._threads.close()
        if self._was_terminated:
            self._join_threads(UNWIND)
            raise Terminate
        with self._interrupts.window():
            self._join_threads()
        if self._exit is not None:
            raise self._exit

    def finish(self, call: Call, answer: Answer) -> None:
        super().finish(call, answer)
        self._turns.end()
        if not self._takes_calls:
            self._in_loop(self._look_for_the_end)

    def _join_threads(self, timeout: Optional[float] = None) -> None:
        """Waits for the calls of threads. The loop goes on meanwhile: these may wait for tasks of it."""
        joined: "asyncio.Future[None]" = self._loop.create_future()

        def join() -> None:
            self._threads.join(timeout)
            self._in_loop(joined.set_result, None)

        try:
            threading.Thread(target=join, name="skep-join", daemon=True).start()
        except RuntimeError:  # there are too many threads: calls that wait for the loop wait in vain
            join()
        self._loop.run_until_complete(joined)

    def _in_loop(self, callback: Callable[..., None], *args: Any) -> None:
        try:
            self._loop.call_soon_threadsafe(callback, *args)
        except RuntimeError:  # the loop is closed
            pass

    def _end_with(self, exit: SystemExit) -> None:
        self._exit = exit
        self._interrupts.stopping = True
        self._in_loop(self._finish_serving)

    # --- the thread that takes the calls

    def _take_calls(self) -> None:
        try:
            while not self._interrupts.stopping:
                frame = self._connection.receive()
                if frame is not None:
                    self._take(Call(frame.message, frame.attachments, self.host, Window()))
                elif not self._interrupts.stopping:
                    leave_with_group()
                del frame  # which may be large, and the next one may be long in coming
        except OSError:
            leave_with_group()
        except ProtocolError as error:
            leave_for_protocol_error(error)
        self._in_loop(self._stop)

    def _take(self, call: Call) -> None:
        command = self.work.commands.get(call.command)
        if command is not None and not self.work.is_for_loop(command):
            window: CallWindow = ThreadWindow()
        else:
            window = LoopWindow(self._loop, self._thread)
        call.window = window
        self.come(call, window)
        self._turns.come(call)
        self._watch.look()

    # --- any thread

    def _begin(self, call: Call) -> None:
        if isinstance(call.window, LoopWindow):
            self._in_loop(self._context.run, self._start, call, call.window)
        else:
            try:
                self._threads.put(call)
            except RuntimeError as error:  # there are too many threads
                self._in_loop(self.fail, call, error)

    # --- the loop

    def _start(self, call: Call, window: LoopWindow) -> None:
        if not self._takes_calls:
            return
        answer = self._answer(call, window)
        try:
            task = self._loop.create_task(answer)
        except Exception as error:  # of a task factory that the script has set
            answer.close()
            self.fail(call, error)
            return
        self._tasks.add(task)
        task.add_done_callback(self._go_on)

    async def _answer(self, call: Call, window: LoopWindow) -> None:
        set_running_here(call)
        self.begin()
        answer = await self._answering.answer_to(call, window)
        if not self._was_terminated:
            self.finish(call, answer)

    def _go_on(self, task: "asyncio.Task[None]") -> None:
        self._tasks.discard(task)
        self._look_for_the_end()

    def _stop(self) -> None:
        self._takes_calls = False
        self._look_for_the_end()

    def _terminate(self) -> None:
        if not self._was_terminated:
            self._was_terminated = True
            self.interrupt_all(Terminate)
            self._loop.call_later(UNWIND, self._finish_serving)
            self._stop()

    def _look_for_the_end(self) -> None:
        if not self._takes_calls and not self._tasks and (self.in_flight == 0 or self._was_terminated):
            self._finish_serving()

    def _finish_serving(self) -> None:
        if not self._end.done():
            self._end.set_result(None)
