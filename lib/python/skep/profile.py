"""How a worker is at its calls: one after the other, or several at once."""

from .connection import Connection
from .interrupts import Interrupts
from .pool_host import PoolHost
from .work import Work


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

    def allow(self, most: int) -> None:
        """The host wants no more calls than that to be begun at once. Before serve()."""
        self.capacity = min(self.capacity, most)

    def serve(self) -> None:
        """Answers calls until the worker is asked to stop. On the main thread."""
        raise NotImplementedError

    def cancel(self, call_id: int) -> None:
        """Cancels a call that runs or is still to come; one that is over is past caring. On any thread."""
        raise NotImplementedError
