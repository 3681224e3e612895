"""The event loop that everything async of a worker runs on."""

import inspect
import weakref
from typing import TYPE_CHECKING, Any, Awaitable, Callable, Optional

if TYPE_CHECKING:
    import asyncio


class EventLoop:
    """A loop that comes to be when it is needed."""

    def __init__(self) -> None:
        self._loop: "Optional[asyncio.AbstractEventLoop]" = None

    def get(self) -> "asyncio.AbstractEventLoop":
        """The loop."""
        if self._loop is None:
            import asyncio  # which takes longer to import than all of this

            self._loop = asyncio.new_event_loop()
            weakref.finalize(self, self._loop.close)
        return self._loop

    def run(self, awaitable: Awaitable[Any]) -> Any:
        """What an awaitable returns, once it is through. Where no loop is running."""
        return self.get().run_until_complete(awaitable)

    def run_hook(self, hook: Callable[[], Any]) -> None:
        """Runs a hook of the script to its end, plain or async."""
        value = hook()
        if inspect.iscoroutine(value):
            self.run(value)
