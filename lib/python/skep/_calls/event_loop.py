"""The event loop of a worker, for async commands, hooks and health checks."""

import threading
import weakref
from typing import TYPE_CHECKING, Any, Awaitable, Callable, Optional

from .command import AWAITABLE, refuse_generator, value_kind

if TYPE_CHECKING:
    import asyncio


class EventLoop:
    """An event loop that is created on demand."""

    def __init__(self) -> None:
        self._loop: "Optional[asyncio.AbstractEventLoop]" = None
        self._thread = threading.get_ident()
        self._others = threading.local()  # the loops of other threads

    @property
    def is_running(self) -> bool:
        """True if a thread runs the loop."""
        return self._loop is not None and self._loop.is_running()

    def get(self) -> "asyncio.AbstractEventLoop":
        """Returns the loop, and creates it if it is missing."""
        if self._loop is None:
            import asyncio  # here, because it takes longer to import than the SDK

            self._loop = asyncio.new_event_loop()
            weakref.finalize(self, _close, self._loop)
        return self._loop

    def get_running_or_own(self) -> "asyncio.AbstractEventLoop":
        """Returns the loop if it is running or belongs to this thread, otherwise a loop of this thread."""
        if self.is_running or self._thread == threading.get_ident():
            return self.get()
        if not hasattr(self._others, "event_loop"):
            self._others.event_loop = EventLoop()
        other: EventLoop = self._others.event_loop
        return other.get()

    def run(self, awaitable: Awaitable[Any]) -> Any:
        """Runs the loop until an awaitable is done, and returns its result. Precondition: no loop is running."""
        return self.get().run_until_complete(awaitable)

    def run_hook(self, hook: Callable[[], Any]) -> None:
        """Runs a hook of the script to its end, plain or async."""
        value = hook()
        if value_kind(value) == AWAITABLE:
            value = self.run(value)
        refuse_generator(f"hook '{getattr(hook, '__name__', hook)}'", value)

    def close(self) -> None:
        """Closes the loop with its generators and threads. The next use creates another."""
        loop, self._loop = self._loop, None
        if loop is not None:
            loop.run_until_complete(loop.shutdown_asyncgens())
            if hasattr(loop, "shutdown_default_executor"):  # from Python 3.9 on
                loop.run_until_complete(loop.shutdown_default_executor())
            loop.close()


def _close(loop: "asyncio.AbstractEventLoop") -> None:
    if not loop.is_running():  # at the end of the process a daemon thread may run it
        loop.close()
