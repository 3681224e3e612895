"""What a worker's code tells beside the answers to its calls: events and log records, on their way to the host."""

import threading
from typing import Callable, Optional

from .connection import leave_with_group
from .limits import Limits
from .originals import SimpleQueue

_MOST_WAITING = 1024
LONGEST = 16 * 1024  # bytes, of one record
_BYTES_OF_TREE = 28  # in the host's memory, of each byte of JSON, at most


class Records:
    """Keeps what was told, up to a limit, until a thread of its own has sent it: whoever tells waits for nobody."""

    def __init__(self) -> None:
        self.dropped = 0
        self.is_closed = False
        self._waiting: "SimpleQueue[Optional[bytes]]" = SimpleQueue()
        self._thread: Optional[threading.Thread] = None

    def connect(self, say: Callable[[bytes], None], limits: Limits) -> None:
        """There is a host now, to whom `say` sends: it gets what was told before, too."""
        longest = min(LONGEST, limits.json_bytes, limits.frame_bytes - 4, limits.tree_bytes // _BYTES_OF_TREE)
        thread = threading.Thread(target=self._send_all, args=(say, longest), name="skep-records", daemon=True)
        try:
            thread.start()  # now, and on the main thread: whoever tells may be in a signal handler
        except RuntimeError:  # there are too many threads
            self.close()
        else:
            self._thread = thread

    def put(self, record: bytes) -> None:
        """Takes a record on, or drops and counts it. On any thread, and within signal handlers and finalizers."""
        if self.is_closed or len(record) > LONGEST or self._waiting.qsize() >= _MOST_WAITING:
            self.dropped += 1
            return
        self._waiting.put(record)

    def finish(self, seconds: float) -> None:
        """Waits until what was told so far has been sent, for so long at most."""
        if self._thread is not None and not self.is_closed:
            self._waiting.put(None)
            self._thread.join(seconds)

    def close(self) -> None:
        """Nobody takes records: it is a forked child, or the host is too old."""
        self.is_closed = True

    def _send_all(self, say: Callable[[bytes], None], longest: int) -> None:
        try:
            for record in iter(self._waiting.get, None):
                if len(record) <= longest:
                    say(record)
                else:
                    self.dropped += 1
        except OSError:
            leave_with_group()


records = Records()
