"""How a worker is at its calls: one after the other, or several at once."""

import threading
from typing import Dict, List, Optional, Set, Tuple, Type

from .._calls.call import Call, set_global_call
from .._calls.command import HEALTH_CHECK
from .._calls.interrupts import CallWindow, Interrupts
from .._calls.pool_host import PoolHost
from .._calls.responder import Responder, Work
from .._process.exits import exit_without_host
from .._wire.connection import Connection
from .._wire.errors import Cancelled
from .._wire.messages import Answer, Answers
from .thread_checks import ThreadChecks


class Profile:
    """Takes calls as they come and sees to it that each is answered once."""

    capacity = 1  # calls at once

    def __init__(self, connection: Connection, work: Work, interrupts: Interrupts, host: PoolHost) -> None:
        self.in_flight = 0
        self.completed = 0  # health checks are work, but not work done for anybody: they do not count
        self._connection = connection
        self._work = work
        self._interrupts = interrupts
        self._host = host

    def limit_capacity(self, capacity: int) -> None:
        """The host wants no more calls than that to be begun at once. Before serve()."""
        self.capacity = min(self.capacity, capacity)

    def serve(self) -> None:
        """Answers calls until the worker is asked to stop. On the main thread."""
        raise NotImplementedError

    def cancel(self, call_id: int) -> None:
        """Cancels a call that runs or is still to come; one that is over is past caring. On any thread."""
        raise NotImplementedError


class ProcessProfile(Profile):
    """What a worker does that knows nothing of others."""

    def serve(self) -> None:
        interrupts, receive = self._interrupts, self._connection.receive
        responder = Responder(self._work, self._host)
        while not interrupts.is_stopping:
            try:
                interrupts.open()
                frame = receive()
            finally:
                interrupts.close()
            if frame is not None:
                self._answer(Call(frame.message, frame.attachments, self._host, interrupts), responder)
            elif not interrupts.is_stopping:
                exit_without_host()
            del frame  # which may be large, and the next one may be long in coming

    def cancel(self, call_id: int) -> None:
        self._interrupts.cancel(call_id)

    def _answer(self, call: Call, responder: Responder) -> None:
        self.in_flight = 1
        set_global_call(call)
        answer = responder.respond(call)
        set_global_call(None)
        self.in_flight = 0
        if call.command != HEALTH_CHECK:
            self.completed += 1
        self._interrupts.finish(call.id)
        self._host.answer(call, answer)


class RunningCalls:
    """The calls that have come and are not answered yet, and what does them. On any thread.

    The host may cancel a call before it comes and after its end. The ids of calls rise in the order in which they come.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._calls: Dict[int, CallWindow] = {}
        self._last_id = 0
        self._cancelled_ids: Set[int] = set()  # of those that are still to come

    def __len__(self) -> int:
        return len(self._calls)

    def add(self, call_id: int, window: CallWindow) -> bool:
        """Takes a call; whether it is cancelled already."""
        with self._lock:
            self._calls[call_id] = window
            self._last_id = call_id
            is_cancelled = call_id in self._cancelled_ids
            self._cancelled_ids.discard(call_id)
            return is_cancelled

    def remove(self, call_id: int) -> None:
        """The call is about to be answered."""
        with self._lock:
            del self._calls[call_id]

    def cancel(self, call_id: int) -> Optional[CallWindow]:
        """What does the call that is to be cancelled; remembered if the call is still to come."""
        with self._lock:
            if call_id > self._last_id:
                self._cancelled_ids.add(call_id)
            return self._calls.get(call_id)

    def windows(self) -> List[Tuple[int, CallWindow]]:
        """All of them."""
        with self._lock:
            return list(self._calls.items())


class ConcurrentProfile(Profile):
    """Keeps account of the calls. Its methods may be called on any thread."""

    def __init__(
        self, connection: Connection, work: Work, interrupts: Interrupts, host: PoolHost, capacity: int
    ) -> None:
        super().__init__(connection, work, interrupts, host)
        self.capacity = capacity
        self.host = host
        self.work = work
        self.calls = RunningCalls()
        self.checks: "Optional[ThreadChecks]" = None  # what watches over the threads, if the pool wants that
        self._lock = threading.Lock()

    @property
    def is_stopping(self) -> bool:
        """Whether calls that have not begun are left alone."""
        return self._interrupts.is_stopping

    def cancel(self, call_id: int) -> None:
        window = self.calls.cancel(call_id)
        if window is not None:
            window.interrupt(Cancelled)

    def admit(self, call: Call, window: CallWindow) -> None:
        """A call has come, and is going to have its turn."""
        if self.calls.add(call.id, window):
            window.interrupt(Cancelled)

    def begin(self) -> None:
        """A call has its turn."""
        with self._lock:
            self.in_flight += 1

    def finish(self, call: Call, answer: Answer) -> None:
        """Answers a call that has begun."""
        with self._lock:
            self.in_flight -= 1
            if call.command != HEALTH_CHECK:
                self.completed += 1
        self.calls.remove(call.id)
        self.host.answer(call, answer)

    def fail(self, call: Call, error: BaseException) -> None:
        """Answers a call that cannot be done."""
        self.begin()
        self.finish(call, Answers(self.host.limits).error(call.id, error))

    def interrupt_all(self, kind: Type[BaseException]) -> None:
        """Interrupts what runs, and what waits for the host."""
        for call_id, window in self.calls.windows():
            window.interrupt(kind)
            self.host.wake(call_id)
