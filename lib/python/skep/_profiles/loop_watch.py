"""Reports of user code that blocks the event loop while other calls wait."""

import asyncio
import os
import sys
import threading
import traceback
from queue import Empty
from typing import Any, List, Set, Sized, Tuple

from .._process.diagnostics import PACKAGE_FOLDER, write_to_stderr
from .._process.interpreter import SimpleQueue, sleep

_BLOCK_LIMIT = 1.0  # seconds
_PAUSE = 0.5  # seconds between two beats
# The frames of user code come after the last frame of these files.
_OUTER = (PACKAGE_FOLDER + os.sep, asyncio.events.__file__)


class LoopWatch:
    """A thread that expects regular beats of the loop while there is more than one call."""

    def __init__(self, loop: asyncio.AbstractEventLoop, calls: Sized) -> None:
        self._loop = loop
        self._calls = calls
        self._thread = threading.get_ident()  # of the loop
        self._is_due = threading.Event()
        self._beats: "SimpleQueue[None]" = SimpleQueue()
        self._reported_places: Set[Tuple[str, Any]] = set()
        self._has_begun = False

    def notice_call(self) -> None:
        """Starts the beats if there is more than one call. On one thread only."""
        if len(self._calls) > 1 and not self._is_due.is_set():
            self._is_due.set()
            if not self._has_begun:
                self._begin()

    def _begin(self) -> None:
        try:
            threading.Thread(target=self._watch, name="skep-loop-watch", daemon=True).start()
            self._has_begun = True
        except RuntimeError:  # there are too many threads
            self._is_due.clear()

    def _watch(self) -> None:
        try:
            while True:
                self._is_due.wait()
                self._loop.call_soon_threadsafe(self._beats.put, None)
                try:
                    self._beats.get(timeout=_BLOCK_LIMIT)
                except Empty:
                    self._warn()
                    self._beats.get()
                sleep(_PAUSE)
                if len(self._calls) < 2:
                    self._is_due.clear()
                    if len(self._calls) > 1:  # a call that came in between found the event set
                        self._is_due.set()
        except RuntimeError:  # the loop is closed
            pass

    def _warn(self) -> None:
        stack = _user_stack(traceback.extract_stack(sys._current_frames().get(self._thread)))
        if not stack or (stack[-1].filename, stack[-1].lineno) in self._reported_places:
            return
        self._reported_places.add((stack[-1].filename, stack[-1].lineno))
        write_to_stderr(
            f"skep: the event loop has been blocked for {_BLOCK_LIMIT:.0f} s while other calls wait. Await what takes "
            f"time, or have a thread do it (asyncio.to_thread). It is here:\n{''.join(traceback.format_list(stack))}"
        )


def _user_stack(stack: List[traceback.FrameSummary]) -> List[traceback.FrameSummary]:
    outer = [index for index, frame in enumerate(stack) if frame.filename.startswith(_OUTER)]
    return stack[outer[-1] + 1 :] if outer else stack
