"""The free and the reserved places in a region. Pure."""

import bisect
from typing import Dict, List, Optional, Tuple

STEP = 4096  # places begin and end at multiples of it


def whole_steps(size: int) -> int:
    """Returns the size, rounded up to whole steps."""
    return -(-size // STEP) * STEP


class Arena:
    """Reserves places in so many bytes: the first free one that is large enough."""

    def __init__(self, size: int) -> None:
        self._free: List[Tuple[int, int]] = [(0, size - size % STEP)]  # (begin, end), ascending, with gaps in between
        self._ends: Dict[int, int] = {}  # of the reserved places, by their begins

    def reserve(self, size: int) -> Optional[int]:
        """Reserves a place. Returns its begin, None if there is no room. Precondition: size > 0."""
        size = whole_steps(size)
        for index, (begin, end) in enumerate(self._free):
            if size <= end - begin:
                self._free[index : index + 1] = [(begin + size, end)] if size < end - begin else []
                self._ends[begin] = begin + size
                return begin
        return None

    def release(self, begin: int) -> None:
        """Releases a reserved place. Raises KeyError if there is none."""
        end = self._ends.pop(begin)
        index = bisect.bisect(self._free, (begin, end))
        first = last = index
        if first > 0 and self._free[first - 1][1] == begin:
            first -= 1
            begin = self._free[first][0]
        if last < len(self._free) and self._free[last][0] == end:
            end = self._free[last][1]
            last += 1
        self._free[first:last] = [(begin, end)]
