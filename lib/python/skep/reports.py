"""How far calls are, as their commands report it."""

import threading
import time
from typing import Dict, Optional, Tuple

from .call import Call
from .channel import frame_length
from .limits import Limits
from .messages import Answer, encode
from .originals import SimpleQueue
from .outbox import Outbox
from .window import uninterrupted

_PAUSE = 0.02  # seconds between two messages; who reports more often is answered from memory
_LONGEST_TEXT = 1024  # characters


class Progress:
    """Sends the newest report of each call: at once, or else when the pause after the last message is over."""

    def __init__(self, outbox: Outbox, limits: Limits) -> None:
        self._outbox = outbox
        self._limits = limits
        self.waiting: Dict[Call, Tuple[float, str]] = {}
        self._pauses = False
        self._next = 0.0  # when the next message may be sent, if no thread sees to the pauses
        self._begun: "SimpleQueue[None]" = SimpleQueue()  # an item for each pause that a thread has to see to
        self._has_thread = False

    def report(self, call: Call, fraction: float, text: str) -> None:
        """Takes a report; no message, if the call is over."""
        if call.is_over or self._outbox.is_closed:
            return
        self.waiting[call] = (fraction, text)
        if not self._pauses and time.monotonic() >= self._next:
            with uninterrupted(call):
                self._send(call, wait=False)  # a signal handler or a finalizer may report in the middle of a message
                self._begin_pause()

    def flush(self, call: Call) -> None:
        """Sends what has not been sent; with the window of the call closed."""
        if call in self.waiting:
            self._send(call)

    def _send(self, call: Call, wait: bool = True) -> None:
        if not self._outbox.send(call, lambda: self._message(call), wait) and call.is_over:
            self.waiting.pop(call, None)

    def _message(self, call: Call) -> Optional[Answer]:
        """Taken when it is sent, so that no other thread sends an older one after it."""
        newest = self.waiting.pop(call, None)
        if newest is None:
            return None
        fraction, text = newest
        message = {"type": "progress", "id": call.id, "fraction": fraction}
        if text:
            message["text"] = text[:_LONGEST_TEXT]
        body = (encode(message),)
        longest = min(self._limits.json_bytes, self._limits.message_bytes)
        fits = frame_length(body) <= self._limits.frame_bytes and len(body[0]) <= longest
        return (body, ()) if fits else None

    def _begin_pause(self) -> None:
        self._pauses = True
        if not self._has_thread:
            self._has_thread = True
            try:
                threading.Thread(target=self._see_to_pauses, name="skep-progress", daemon=True).start()
            except RuntimeError:  # there are too many threads
                self._has_thread = self._pauses = False
                self._next = time.monotonic() + _PAUSE
                return
        self._begun.put(None)

    def _see_to_pauses(self) -> None:
        while True:
            self._begun.get()
            time.sleep(_PAUSE)
            self._pauses = False  # before it looks: what is reported from now on sends itself
            self._send_all()

    def _send_all(self) -> None:
        for call in list(self.waiting):
            self._send(call)
