"""What the profiles have in common that are at several calls at once."""

import threading
from typing import TYPE_CHECKING, Optional, Type

from .call import Call
from .connection import Connection
from .errors import Cancelled
from .health import HEALTH_CHECK
from .interrupts import Interrupts
from .messages import Answer, Answers
from .pool_host import PoolHost
from .profile import Profile
from .running import Running
from .window import CallWindow
from .work import Work

if TYPE_CHECKING:
    from .thread_checks import ThreadChecks


class ConcurrentProfile(Profile):
    """Keeps account of the calls. Its methods may be called on any thread."""

    def __init__(
        self, connection: Connection, work: Work, interrupts: Interrupts, host: PoolHost, capacity: int
    ) -> None:
        super().__init__(connection, work, interrupts, host)
        self.capacity = capacity
        self.host = host
        self.work = work
        self.running: Running[CallWindow] = Running()
        self.checks: "Optional[ThreadChecks]" = None  # what watches over the threads, if the pool wants that
        self._counting = threading.Lock()

    @property
    def is_stopping(self) -> bool:
        """Whether calls that have not begun are left alone."""
        return self._interrupts.stopping

    def cancel(self, call_id: int) -> None:
        window = self.running.cancel(call_id)
        if window is not None:
            window.interrupt(Cancelled)

    def come(self, call: Call, window: CallWindow) -> None:
        """A call has come, and is going to have its turn."""
        if self.running.add(call.id, window):
            window.interrupt(Cancelled)

    def begin(self) -> None:
        """A call has its turn."""
        with self._counting:
            self.in_flight += 1

    def finish(self, call: Call, answer: Answer) -> None:
        """Answers a call that has begun."""
        with self._counting:
            self.in_flight -= 1
            if call.command != HEALTH_CHECK:
                self.completed += 1
        self.running.remove(call.id)
        self.host.answer(call, answer)

    def fail(self, call: Call, error: BaseException) -> None:
        """Answers a call that cannot be done."""
        self.begin()
        self.finish(call, Answers(self.host.limits).error(call.id, error))

    def interrupt_all(self, kind: Type[BaseException]) -> None:
        """Interrupts what runs, and what waits for the host."""
        for call_id, window in self.running.all():
            window.interrupt(kind)
            self.host.wake(call_id)
