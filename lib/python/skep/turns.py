"""Who may begin, where only so many calls are allowed at once."""

import threading
from collections import deque
from typing import Callable, Deque

from .call import Call


class Turns:
    """Has calls begin in the order in which they come, the later ones when earlier ones have ended. On any thread."""

    def __init__(self, most: int, begin: Callable[[Call], None]) -> None:
        self._free = most
        self._begin = begin  # called by one thread at a time
        self._waiting: Deque[Call] = deque()
        self._lock = threading.Lock()

    def come(self, call: Call) -> None:
        """A call more."""
        with self._lock:
            if self._free == 0:
                self._waiting.append(call)
                return
            self._free -= 1
            self._begin(call)

    def end(self) -> None:
        """A call that had begun has ended."""
        with self._lock:
            if self._waiting:
                self._begin(self._waiting.popleft())
            else:
                self._free += 1
