"""The calls that several threads or tasks are at."""

import threading
from typing import Dict, Generic, List, Optional, Set, Tuple, TypeVar

Doing = TypeVar("Doing")


class Running(Generic[Doing]):
    """The calls that have come and are not answered yet, and what does them. On any thread.

    The host may cancel a call before it comes and after its end. The ids of calls rise in the order in which they come.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._calls: Dict[int, Doing] = {}
        self._last = 0
        self._cancelled: Set[int] = set()  # of those that are still to come

    def __len__(self) -> int:
        return len(self._calls)

    def add(self, call_id: int, doing: Doing) -> bool:
        """Takes a call; whether it is cancelled already."""
        with self._lock:
            self._calls[call_id] = doing
            self._last = call_id
            is_cancelled = call_id in self._cancelled
            self._cancelled.discard(call_id)
            return is_cancelled

    def remove(self, call_id: int) -> None:
        """The call is about to be answered."""
        with self._lock:
            del self._calls[call_id]

    def cancel(self, call_id: int) -> Optional[Doing]:
        """What does the call that is to be cancelled; remembered if the call is still to come."""
        with self._lock:
            if call_id > self._last:
                self._cancelled.add(call_id)
            return self._calls.get(call_id)

    def all(self) -> List[Tuple[int, Doing]]:
        """All of them."""
        with self._lock:
            return list(self._calls.items())
