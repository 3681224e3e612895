"""Cancels a call that a task of the event loop is at."""

import asyncio
from typing import Any, Optional, Type

from .errors import Cancelled
from .window import CallWindow


class LoopWindow(CallWindow):
    """The task of one call. It may be cancelled wherever it waits, and that is never in the SDK's own code."""

    may_block = False

    def __init__(self, loop: asyncio.AbstractEventLoop, thread: int) -> None:
        self.thread = thread
        self._loop = loop
        self._task: "Optional[asyncio.Task[Any]]" = None
        self._is_cancelled = False
        self.was_raised = False  # where the task waited

    def begin(self) -> None:
        """The running task is at the call; Cancelled if that is not wanted any more."""
        if self._is_cancelled:
            raise Cancelled
        self._task = asyncio.current_task()

    def is_cancelled(self, call_id: int) -> bool:
        return self._is_cancelled

    def interrupt(self, kind: Type[BaseException]) -> None:
        if not self._is_cancelled:
            self._is_cancelled = True
            try:
                self._loop.call_soon_threadsafe(self._cancel)
            except RuntimeError:  # the loop is closed
                pass

    def _cancel(self) -> None:
        if self._task is not None:
            self.was_raised = True
            self._task.cancel()
