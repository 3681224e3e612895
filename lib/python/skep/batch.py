"""Chunks that come in quick succession share a write."""

import threading
import time
from typing import List, Sequence

from .channel import Channel, frame_length
from .connection import leave_with_group

_PAUSE = 0.001  # seconds; who yields less often than that is never kept waiting
_FULL = 4 * 1024  # bytes


class Batch:
    """Frames on their way to the host. Who adds and flushes has its interrupts closed.

    What is added within a millisecond of the last write waits for the next one: a thread writes it when that
    millisecond is over, even if the generator waits or computes then. Only that millisecond's chunks are lost by
    a crash.
    """

    def __init__(self, channel: Channel, lock: threading.Lock) -> None:
        self._channel = channel
        self._changed = threading.Condition(lock)  # the one of all that is sent
        self._frames: List[Sequence[bytes]] = []
        self._size = 0
        self._written = 0.0
        self._has_thread = False

    def add(self, body: Sequence[bytes], attachments: Sequence[memoryview]) -> None:
        """Sends a message, now or in a moment."""
        size = frame_length(body, attachments)
        with self._changed:
            if attachments or self._size + size > _FULL or time.monotonic() - self._written >= _PAUSE:
                self.write()
                self._channel.send(body, attachments)
                return
            self._frames.append(body)
            self._size += size
            if len(self._frames) == 1:
                self._have_it_written()

    def flush(self) -> None:
        """Sends what has not been sent."""
        with self._changed:
            self.write()

    def write(self) -> None:
        """The same for who has the lock."""
        if self._frames:
            frames, self._frames, self._size = self._frames, [], 0
            self._channel.send_all_of(frames)
        self._written = time.monotonic()

    def _have_it_written(self) -> None:
        try:
            if not self._has_thread:
                threading.Thread(target=self._write_in_time, name="skep-batch", daemon=True).start()
                self._has_thread = True
            self._changed.notify()
        except RuntimeError:  # there are too many threads
            self.write()

    def _write_in_time(self) -> None:
        try:
            with self._changed:
                while True:
                    self._changed.wait_for(lambda: self._frames)
                    self._changed.wait(max(0.0, self._written + _PAUSE - time.monotonic()))
                    if self._frames and time.monotonic() - self._written >= _PAUSE:
                        self.write()
        except OSError:
            leave_with_group()

