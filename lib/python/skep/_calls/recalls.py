"""Recalled calls: the host wants a call back unless it has begun."""

from typing import Set


class Recalls:
    """Decides, for each recalled call, between its begin and its return to the host: exactly one of both happens.

    One thread begins calls, or several under a lock; another thread recalls them. They need no lock between them: each
    tells the other first, `_last_begun` or `_ids`, and looks at what the other has told then. If both have told, the
    one that removes the id decides, as set.remove() is atomic.
    """

    def __init__(self) -> None:
        self._last_begun = 0  # the largest id
        self._ids: Set[int] = set()

    def begin(self, call_id: int) -> bool:
        """The call's turn has come. Returns False if it was given back: it must not run."""
        if call_id > self._last_begun:
            self._last_begun = call_id
        return call_id not in self._ids or not self._remove(call_id)

    def recall(self, call_id: int) -> bool:
        """The host wants the call back. Returns true if it has not begun: it never will."""
        self._ids.add(call_id)
        return call_id > self._last_begun or not self._remove(call_id)

    def _remove(self, call_id: int) -> bool:
        try:
            self._ids.remove(call_id)
            return True
        except KeyError:
            return False
