"""What a worker says over the data channel while it is at calls, from whichever thread."""

import threading
from typing import Callable, Optional

from .batch import Batch
from .call import Call
from .channel import Channel
from .connection import leave_with_group
from .messages import Answer


class Outbox:
    """Sends one message at a time, and none about a call that has been answered.

    On the thread that runs a call, its window is closed: an interrupt would leave half a frame behind. Whoever sends
    has the lock.
    """

    def __init__(self, channel: Channel) -> None:
        self._channel = channel
        self.is_closed = False
        self._renew()

    def close(self) -> None:
        """In a forked child: what was in progress in other threads is not going to end there."""
        self.is_closed = True
        self._renew()

    def say(self, body: bytes) -> None:
        """Sends a message that is about no call."""
        with self.lock:
            self._channel.send((body,))

    def send(self, call: Call, message: Callable[[], Optional[Answer]], wait: bool = True) -> bool:
        """Sends a message about a call, which is made when its turn has come; None is sent as nothing.

        Returns whether that was possible: the call may be over, or, without `wait`, something else just being sent.
        """
        lock = self.lock
        if self.is_closed or not lock.acquire(wait):
            return False
        try:
            made = None if call.is_over else message()
            if made is not None:
                self._channel.send(*made)
            return not call.is_over
        except OSError:
            leave_with_group()
        finally:
            lock.release()

    def _renew(self) -> None:
        self.lock = threading.Lock()
        self.batch = Batch(self._channel, self.lock)
