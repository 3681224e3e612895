"""Profiles: how a worker runs its calls, one at a time or several at once."""

import threading
from typing import Any, Callable, Dict, List, Optional, Sequence, Set, Tuple, Type, Union

from .._calls.batch import BatchedWindow, CallBatch, calls_of, read_batch
from .._calls.call import Call, Running, set_global_call
from .._calls.command import HEALTH_CHECK
from .._calls.interrupts import CallWindow, Interrupts, Window
from .._calls.pool_host import PoolHost
from .._calls.recalls import Recalls
from .._calls.responder import Outcome, Responder, Work
from .._process.exits import exit_for_protocol_error, exit_without_host
from .._wire.connection import Connection
from .._wire.errors import ProtocolError
from .._wire.messages import Answer, Answers
from .c_loop import find_loop, make_loop
from .thread_checks import ThreadChecks


class Profile:
    """Receives calls and answers each of them once."""

    capacity = 1  # calls at once
    loop = "python"  # what receives the calls; "c" is skep._loop

    def __init__(self, connection: Connection, work: Work, interrupts: Interrupts, host: PoolHost) -> None:
        self.in_flight = 0
        self.completed = 0  # health checks do not count
        self._connection = connection
        self._work = work
        self._interrupts = interrupts
        self._host = host
        self._recalls = Recalls()
        self._window = Window()  # of calls that have no window of their own yet

    def limit_capacity(self, capacity: int) -> None:
        """Limits the calls at once, as the host asks for. Precondition: before serve()."""
        self.capacity = min(self.capacity, capacity)

    def serve(self) -> None:
        """Answers calls until the worker is asked to stop. On the main thread."""
        raise NotImplementedError

    def cancel(self, call_id: int) -> None:
        """Cancels a running or a future call. No effect on a finished call. Thread-safe."""
        raise NotImplementedError

    def receive_call(self) -> Optional[Call]:
        """Waits for a call and returns it, None if the worker is to stop. Ends the process if the host is gone."""
        frame = self._connection.receive()
        if frame is not None:
            if "released" in frame.message:
                self._host.take_released(frame.message["released"])
            return Call(frame.message, frame.attachments, self._host, self._window)
        if not self._interrupts.is_stopping:
            exit_without_host()
        return None

    def receive_calls(self, most: int) -> Sequence[Call]:
        """Waits for calls and returns them, at most so many; none if the worker is to stop."""
        call = self.receive_call()
        return () if call is None else (call,)

    def with_batch(self, call: Optional[Call]) -> "Union[Call, CallBatch, None]":
        """Returns a call, or the batch that it begins, and receives the rest. None if the worker is to stop instead."""
        command = None if call is None else self._work.batch_command(call.command)
        if call is None or command is None:
            return call
        calls = read_batch(call, self.receive_calls)
        return None if calls is None else CallBatch(command, calls, self._window)

    def recall(self, call_id: int) -> bool:
        """Returns true if a running or a future call has not begun: it never will. On the thread that listens."""
        return self._recalls.recall(call_id)


class ProcessProfile(Profile):
    """The profile of a worker with one call at a time, on the main thread."""

    def __init__(self, connection: Connection, work: Work, interrupts: Interrupts, host: PoolHost) -> None:
        super().__init__(connection, work, interrupts, host)
        self._window = interrupts
        self._batch: Optional[CallBatch] = None  # that is running
        self._c_loop: Any = None  # from serve() on
        self._loop_module = find_loop(connection)
        if self._loop_module is not None:
            self.loop = "c"

    def serve(self) -> None:
        loop = self._c_loop = self._make_loop()
        responder = Responder(self._work, self._host, loop and loop.encode_result)
        while not self._interrupts.is_stopping:
            left_call = None if loop is None or self._host.reads_shared_memory else loop.run()
            call, outcome = (self.receive_call(), None) if left_call is None else left_call
            running = self.with_batch(call)
            if isinstance(running, Call):
                self._answer(running, responder, outcome)
            elif running is not None:
                self._answer_batch(running, responder)
            del left_call, call, outcome, running  # a frame may be large, and the next one far away
            self._host.release_attachments()

    def receive_call(self) -> Optional[Call]:
        if self._interrupts.is_stopping:
            return None
        try:
            self._interrupts.open()
            return super().receive_call()
        finally:
            self._interrupts.close()

    def receive_calls(self, most: int) -> Sequence[Call]:
        calls: Sequence[Call] = () if self._c_loop is None else self._c_loop.take_calls(most)
        return calls or super().receive_calls(most)

    def cancel(self, call_id: int) -> None:
        self._interrupts.cancel(call_id)
        batch = self._batch
        if batch is not None:
            batch.cancel_if_abandoned()

    def _make_loop(self) -> Any:
        """Returns the Loop that serves calls in C up to one that is left to this profile; None without its module."""
        if self._loop_module is None:
            return None
        parts = self._connection, self._work, self._interrupts, self._recalls, self._host
        return make_loop(self._loop_module, *parts, vars(self))

    def _answer(self, call: Call, responder: Responder, outcome: Optional[Outcome] = None) -> None:
        """Answers a call, or one whose function has run already. Drops a recalled call."""
        if outcome is None and not self._recalls.begin(call.id):
            self._interrupts.finish(call.id)
            return
        self.in_flight = 1
        set_global_call(call)
        answer = responder.respond(call, outcome)
        set_global_call(None)
        self.in_flight = 0
        if call.command != HEALTH_CHECK:
            self.completed += 1
        self._interrupts.finish(call.id)
        self._host.answer(call, answer)

    def _answer_batch(self, batch: CallBatch, responder: Responder) -> None:
        """Answers the calls of a batch. Drops recalled calls."""
        calls = batch.calls
        begun = [call for call in calls if self._recalls.begin(call.id)]
        if begun:
            batch.keep(begun)
            answers = self._run_batch(batch, responder)
        for call in calls:
            self._interrupts.finish(call.id)
        self._interrupts.finish_batch(batch.id)
        if begun:
            self._host.answer_all(begun, answers)

    def _run_batch(self, batch: CallBatch, responder: Responder) -> List[Answer]:
        self.in_flight = len(batch.calls)
        self._batch = batch
        set_global_call(batch)
        answers = responder.respond_to_batch(batch)
        set_global_call(None)
        self._batch = None
        self.in_flight = 0
        self.completed += len(batch.calls)
        return answers


class RunningCalls:
    """The unanswered calls and their windows. Thread-safe.

    The host may cancel a call before its arrival and after its end. The ids of calls rise in the order of arrival.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._calls: Dict[int, CallWindow] = {}
        self._last_id = 0
        self._cancelled_ids: Set[int] = set()  # of future calls

    def __len__(self) -> int:
        return len(self._calls)

    def add(self, call_id: int, window: CallWindow) -> bool:
        """Adds a call. Returns true if it is cancelled already."""
        with self._lock:
            self._calls[call_id] = window
            self._last_id = call_id
            is_cancelled = call_id in self._cancelled_ids
            self._cancelled_ids.discard(call_id)
            return is_cancelled

    def remove(self, call_id: int) -> None:
        """Removes a call directly before its answer."""
        with self._lock:
            del self._calls[call_id]

    def cancel(self, call_id: int) -> Optional[CallWindow]:
        """Returns the window of a call, for its cancellation. Records the cancellation of a future call."""
        with self._lock:
            if call_id > self._last_id:
                self._cancelled_ids.add(call_id)
            return self._calls.get(call_id)

    def windows(self) -> List[Tuple[int, CallWindow]]:
        """Returns the ids and windows of all calls."""
        with self._lock:
            return list(self._calls.items())


class ConcurrentProfile(Profile):
    """The base of profiles with several calls at once: counts calls and answers them. Thread-safe."""

    def __init__(
        self, connection: Connection, work: Work, interrupts: Interrupts, host: PoolHost, capacity: int
    ) -> None:
        super().__init__(connection, work, interrupts, host)
        self.capacity = capacity
        self.host = host
        self.work = work
        self.calls = RunningCalls()
        self.checks: "Optional[ThreadChecks]" = None  # with thread_safety_checks
        self._lock = threading.Lock()

    @property
    def is_stopping(self) -> bool:
        """True if no further call is begun."""
        return self._interrupts.is_stopping

    def cancel(self, call_id: int) -> None:
        window = self.calls.cancel(call_id)
        if window is not None:
            window.cancel(call_id)

    def admit(self, running: Running, window: CallWindow) -> None:
        """Admits a call or a batch, before its turn, with its window. Interrupts it if it is cancelled already."""
        running.window = window
        for call in calls_of(running):
            call.window = call_window = BatchedWindow(running) if isinstance(running, CallBatch) else window
            if self.calls.add(call.id, call_window):
                call_window.cancel(call.id)

    def recall(self, call_id: int) -> bool:
        with self._lock:
            return super().recall(call_id)

    def begin(self, running: Running) -> bool:
        """Begins a call, or a batch without its recalled calls. Returns False if none is left."""
        calls = calls_of(running)
        with self._lock:
            begun = [call for call in calls if self._recalls.begin(call.id)]
            self.in_flight += len(begun)
        if len(begun) < len(calls):
            for call in set(calls).difference(begun):
                self.calls.remove(call.id)
            if isinstance(running, CallBatch) and begun:
                running.keep(begun)
            elif not begun:
                self._release()
        return bool(begun)

    def _release(self) -> None:
        """Releases the place of a call or a batch, for the next one."""

    def finish(self, call: Call, answer: Answer) -> None:
        """Answers a call that has begun."""
        self.count_ends((call,))
        self.host.answer(call, answer)

    def finish_batch(self, batch: CallBatch, answers: Sequence[Answer]) -> None:
        """Answers a batch that has begun."""
        self.count_ends(batch.calls)
        batch.is_over = True
        self.host.answer_all(batch.calls, answers)

    def fail(self, running: Running, error: BaseException) -> None:
        """Answers what cannot begin, with an error."""
        if not self.begin(running):
            return
        answers = Answers(self.host.limits)
        if isinstance(running, Call):
            self.finish(running, answers.error(running.id, error))
        elif isinstance(running, CallBatch):
            running.reject(error)
            self.finish_batch(running, running.encode_errors(answers))

    def count_ends(self, calls: Sequence[Call]) -> None:
        """Counts calls that end, directly before their answers."""
        with self._lock:
            self.in_flight -= len(calls)
            self.completed += sum(call.command != HEALTH_CHECK for call in calls)
        for call in calls:
            self.calls.remove(call.id)

    def receive_beside(self, put: Callable[[Running], None]) -> None:
        """Receives calls and batches until the worker is to stop. On a thread beside the main thread."""
        try:
            while not self._interrupts.is_stopping:
                running = self.with_batch(self.receive_call())
                if running is not None:
                    put(running)
                del running  # a frame may be large, and the next one far away
                self._host.release_attachments()
        except OSError:
            exit_without_host()
        except ProtocolError as error:
            exit_for_protocol_error(error)

    def interrupt_all(self, kind: Type[BaseException]) -> None:
        """Interrupts all calls, and their waits for the host."""
        for call_id, window in self.calls.windows():
            window.interrupt(kind)
            self.host.wake(call_id)
