"""Profiles: how a worker runs its calls, one at a time or several at once."""

import threading
from typing import Any, Callable, Dict, List, Optional, Set, Tuple, Type

from .._calls.call import Call, set_global_call
from .._calls.command import HEALTH_CHECK
from .._calls.interrupts import CallWindow, Interrupts
from .._calls.pool_host import PoolHost
from .._calls.recalls import Recalls
from .._calls.responder import Outcome, Responder, Work
from .._process.exits import exit_without_host
from .._wire.connection import Connection
from .._wire.errors import Cancelled
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

    def limit_capacity(self, capacity: int) -> None:
        """Limits the calls at once, as the host asks for. Precondition: before serve()."""
        self.capacity = min(self.capacity, capacity)

    def serve(self) -> None:
        """Answers calls until the worker is asked to stop. On the main thread."""
        raise NotImplementedError

    def cancel(self, call_id: int) -> None:
        """Cancels a running or a future call. No effect on a finished call. Thread-safe."""
        raise NotImplementedError


    def recall(self, call_id: int) -> bool:
        """Returns true if a running or a future call has not begun: it never will. On the thread that listens."""
        return self._recalls.recall(call_id)


class ProcessProfile(Profile):
    """The profile of a worker with one call at a time, on the main thread."""

    def __init__(self, connection: Connection, work: Work, interrupts: Interrupts, host: PoolHost) -> None:
        super().__init__(connection, work, interrupts, host)
        self._loop_module = find_loop(connection)
        if self._loop_module is not None:
            self.loop = "c"

    def serve(self) -> None:
        interrupts, receive = self._interrupts, self._connection.receive
        responder = Responder(self._work, self._host)
        run_loop = self._make_run_loop()
        while not interrupts.is_stopping:
            if run_loop is not None:
                left_call = run_loop()
                if left_call is not None:
                    self._answer(left_call[0], responder, left_call[1])
                if left_call is not None or interrupts.is_stopping:
                    del left_call
                    continue
            try:
                interrupts.open()
                frame = receive()
            finally:
                interrupts.close()
            if frame is not None:
                self._answer(Call(frame.message, frame.attachments, self._host, interrupts), responder)
            elif not interrupts.is_stopping:
                exit_without_host()
            del frame  # a frame may be large, and the next one far away

    def cancel(self, call_id: int) -> None:
        self._interrupts.cancel(call_id)

    def _make_run_loop(self) -> Optional[Callable[[], Optional[Tuple[Call, Optional[Outcome]]]]]:
        """Returns the function that serves calls in C up to one that is left to this profile; None without it."""
        if self._loop_module is None:
            return None
        parts = self._connection, self._work, self._interrupts, self._recalls, self._host
        run: Callable[[], Any] = make_loop(self._loop_module, *parts, vars(self)).run
        return run

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
            window.interrupt(Cancelled)

    def admit(self, call: Call, window: CallWindow) -> None:
        """Admits a call, before its turn. Interrupts it if it is cancelled already."""
        if self.calls.add(call.id, window):
            window.interrupt(Cancelled)

    def recall(self, call_id: int) -> bool:
        with self._lock:
            return super().recall(call_id)

    def begin(self, call: Call) -> bool:
        """Begins a call. Returns False if it was recalled, and drops it."""
        with self._lock:
            has_begun = self._recalls.begin(call.id)
            self.in_flight += has_begun
        if not has_begun:
            self.drop(call)
        return has_begun

    def drop(self, call: Call) -> None:
        """Forgets a recalled call."""
        self.calls.remove(call.id)

    def finish(self, call: Call, answer: Answer) -> None:
        """Answers a call that has begun."""
        with self._lock:
            self.in_flight -= 1
            if call.command != HEALTH_CHECK:
                self.completed += 1
        self.calls.remove(call.id)
        self.host.answer(call, answer)

    def fail(self, call: Call, error: BaseException) -> None:
        """Answers a call that cannot begin, with an error."""
        if self.begin(call):
            self.finish(call, Answers(self.host.limits).error(call.id, error))

    def interrupt_all(self, kind: Type[BaseException]) -> None:
        """Interrupts all calls, and their waits for the host."""
        for call_id, window in self.calls.windows():
            window.interrupt(kind)
            self.host.wake(call_id)
