"""Messages to the host from any thread: about calls, chunks in batches, progress reports."""

import threading
import time
from typing import Callable, Dict, List, Optional, Sequence, Tuple

from .._process.exits import exit_without_host
from .._process.interpreter import SimpleQueue, sleep
from .._wire.attachments import Attachment
from .._wire.channel import Channel, frame_length
from .._wire.messages import Answer, encode
from .._wire.protocol import Limits
from .call import Call, uninterrupted

_BATCH_PAUSE = 0.001  # seconds; chunks at longer intervals are sent at once
_MAX_BATCH_BYTES = 4 * 1024


class Batch:
    """A batch of frames for the host. Callers have their windows closed.

    A frame that is added within a millisecond of the last write waits for the next write. A thread writes when the
    millisecond is over, even while the generator waits or computes. A crash loses the chunks of one millisecond.
    """

    def __init__(self, channel: Channel, lock: threading.Lock) -> None:
        self._channel = channel
        self._wakeup = threading.Condition(lock)  # on the lock of the channel
        self._frames: List[Sequence[bytes]] = []
        self._size = 0
        self._last_write = 0.0
        self._has_thread = False

    def add(self, body: Sequence[bytes], attachments: Sequence[Attachment]) -> None:
        """Sends a message, at once or with the next write."""
        size = frame_length(body, attachments)
        with self._wakeup:
            is_full = self._size + size > _MAX_BATCH_BYTES
            if attachments or is_full or time.monotonic() - self._last_write >= _BATCH_PAUSE:
                self.write()
                self._channel.send(body, attachments)
                return
            self._frames.append(body)
            self._size += size
            if len(self._frames) == 1:
                self._schedule_write()

    def flush(self) -> None:
        """Writes the batch."""
        with self._wakeup:
            self.write()

    def write(self) -> None:
        """Writes the batch. Precondition: the caller holds the lock."""
        if self._frames:
            frames, self._frames, self._size = self._frames, [], 0
            self._channel.send_all_of((body, ()) for body in frames)
        self._last_write = time.monotonic()

    def _schedule_write(self) -> None:
        try:
            if not self._has_thread:
                threading.Thread(target=self._run_writer, name="skep-batch", daemon=True).start()
                self._has_thread = True
            self._wakeup.notify()
        except RuntimeError:  # there are too many threads
            self.write()

    def _run_writer(self) -> None:
        try:
            with self._wakeup:
                while True:
                    self._wakeup.wait_for(lambda: self._frames)
                    self._wakeup.wait(max(0.0, self._last_write + _BATCH_PAUSE - time.monotonic()))
                    if self._frames and time.monotonic() - self._last_write >= _BATCH_PAUSE:
                        self.write()
        except OSError:
            exit_without_host()


class Outbox:
    """Sends one message at a time, and no message about an answered call.

    The thread of a call calls these functions with its window closed: an interrupt would leave half a frame behind. The
    sender holds the lock.
    """

    def __init__(self, channel: Channel) -> None:
        self._channel = channel
        self.is_closed = False
        self._renew()

    def close(self) -> None:
        """Renews the lock in a forked child, where other threads never release it. Later messages are not sent."""
        self.is_closed = True
        self._renew()

    def send(self, body: bytes) -> None:
        """Sends a message that belongs to no call."""
        with self.lock:
            self._channel.send((body,))

    def send_all_of(self, bodies: Sequence[bytes]) -> None:
        """Sends messages that belong to no call, in one write."""
        try:
            with self.lock:
                self._channel.send_all_of(((body,), ()) for body in bodies)
        except OSError:
            exit_without_host()

    def send_for_call(self, call: Call, message: Callable[[], Optional[Answer]], wait: bool = True) -> bool:
        """Sends a message about a call. Calls `message` for it with the lock held; None means no message.

        Returns false if the call is over, or, without `wait`, if another message is being sent.
        """
        lock = self.lock
        if self.is_closed or not lock.acquire(wait):
            return False
        try:
            parts = None if call.is_over else message()
            if parts is not None:
                self._channel.send(*parts)
            return not call.is_over
        except OSError:
            exit_without_host()
        finally:
            lock.release()

    def _renew(self) -> None:
        self.lock = threading.Lock()
        self.batch = Batch(self._channel, self.lock)


_REPORT_PAUSE = 0.02  # seconds between two messages
_MAX_TEXT_LENGTH = 1024  # characters


class Progress:
    """Sends the newest report of each call: at once, or when the pause after the last message is over."""

    def __init__(self, outbox: Outbox, limits: Limits) -> None:
        self._outbox = outbox
        self._limits = limits
        self.reports: Dict[Call, Tuple[float, str]] = {}
        self._is_pausing = False
        self._next_time = 0.0  # of a message, if no thread runs the pauses
        self._pauses: "SimpleQueue[None]" = SimpleQueue()  # an item for each pause
        self._has_thread = False

    def report(self, call: Call, fraction: float, text: str) -> None:
        """Stores a report, and sends it unless a pause is running. No effect once the call is over."""
        if call.is_over or self._outbox.is_closed:
            return
        self.reports[call] = (fraction, text)
        if not self._is_pausing and time.monotonic() >= self._next_time:
            with uninterrupted(call):
                self._send(call, wait=False)  # a signal handler or a finalizer may report in the middle of a message
                self._begin_pause()

    def flush(self, call: Call) -> None:
        """Sends the unsent report of a call. Precondition: the window of the call is closed."""
        if call in self.reports:
            self._send(call)

    def _send(self, call: Call, wait: bool = True) -> None:
        if not self._outbox.send_for_call(call, lambda: self._message(call), wait) and call.is_over:
            self.reports.pop(call, None)

    def _message(self, call: Call) -> Optional[Answer]:
        """Returns the newest report. Called with the lock held, so that no thread sends an older report later."""
        report = self.reports.pop(call, None)
        if report is None:
            return None
        fraction, text = report
        message = {"type": "progress", "id": call.id, "fraction": fraction}
        if text:
            message["text"] = text[:_MAX_TEXT_LENGTH]
        body = (encode(message),)
        limit = min(self._limits.json_bytes, self._limits.message_bytes)
        fits = frame_length(body) <= self._limits.frame_bytes and len(body[0]) <= limit
        return (body, ()) if fits else None

    def _begin_pause(self) -> None:
        self._is_pausing = True
        if not self._has_thread:
            self._has_thread = True
            try:
                threading.Thread(target=self._run_pauses, name="skep-progress", daemon=True).start()
            except RuntimeError:  # there are too many threads
                self._has_thread = self._is_pausing = False
                self._next_time = time.monotonic() + _REPORT_PAUSE
                return
        self._pauses.put(None)

    def _run_pauses(self) -> None:
        while True:
            self._pauses.get()
            sleep(_REPORT_PAUSE)
            self._is_pausing = False  # first: later reports send themselves
            self._send_all()

    def _send_all(self) -> None:
        for call in list(self.reports):
            self._send(call)
