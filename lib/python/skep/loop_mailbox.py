"""Where a task of an event loop waits for what other threads put in."""

import asyncio
from typing import Any


class LoopMailbox:
    """A queue that only the running loop takes from. Create it there."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._items: "asyncio.Queue[Any]" = asyncio.Queue()

    def put(self, item: Any) -> None:
        """Adds an item, on any thread."""
        try:
            self._loop.call_soon_threadsafe(self._items.put_nowait, item)
        except RuntimeError:  # the loop is closed: nobody waits
            pass

    async def get(self) -> Any:
        """Waits for the next item and takes it."""
        return await self._items.get()
