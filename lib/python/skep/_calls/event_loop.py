"""The event loop that everything async of a worker runs on."""

import threading
import weakref
from typing import TYPE_CHECKING, Any, Awaitable, Callable, Optional

from .command import AWAITABLE, refuse_generator, value_kind

if TYPE_CHECKING:
    import asyncio


class EventLoop:
    """A loop that comes to be when it is needed."""

    def __init__(self) -> None:
        self._loop: "Optional[asyncio.AbstractEventLoop]" = None
        self._thread = threading.get_ident()
        self._others = threading.local()  # the loops of other threads

    @property
    def is_running(self) -> bool:
        """Whether some thread runs it."""
        return self._loop is not None and self._loop.is_running()

    def get(self) -> "asyncio.AbstractEventLoop":
        """The loop."""
        if self._loop is None:
            import asyncio  # which takes longer to import than all of this

            self._loop = asyncio.new_event_loop()
            weakref.finalize(self, _close, self._loop)
        return self._loop

    def get_running_or_own(self) -> "asyncio.AbstractEventLoop":
        """The loop, if it runs or is for this thread to run; otherwise the one of this thread."""
        if self.is_running or self._thread == threading.get_ident():
            return self.get()
        if not hasattr(self._others, "event_loop"):
            self._others.event_loop = EventLoop()
        other: EventLoop = self._others.event_loop
        return other.get()

    def run(self, awaitable: Awaitable[Any]) -> Any:
        """What an awaitable returns, once it is through. Where no loop is running."""
        return self.get().run_until_complete(awaitable)

    def run_hook(self, hook: Callable[[], Any]) -> None:
        """Runs a hook of the script to its end, plain or async."""
        value = hook()
        if value_kind(value) == AWAITABLE:
            value = self.run(value)
        refuse_generator(f"hook '{getattr(hook, '__name__', hook)}'", value)


def _close(loop: "asyncio.AbstractEventLoop") -> None:
    if not loop.is_running():  # as at the end of the process, in a daemon thread
        loop.close()
