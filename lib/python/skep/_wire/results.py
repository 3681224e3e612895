"""Attachments of the worker's messages in regions for results: regions of the host that the worker writes."""

import mmap
import sys
import threading
from collections import deque
from typing import Any, Deque, Dict, NamedTuple, Optional, Sequence, Set

from .._process.interpreter import epoll
from .arena import Arena, whole_steps
from .attachments import SharedAttachment
from .errors import ProtocolError
from .lent import Place, Use

_PATIENCE = 100  # messages without a request, after one that the host has refused


class SharedLimits(NamedTuple):
    """The limits of memory that a worker and its host share, by the welcome."""

    least: int  # bytes of an attachment in shared memory
    bytes: int  # of all regions for results, and of the shared attachments of a message
    regions: int

    @classmethod
    def from_welcome(cls, shared: Any) -> "SharedLimits":
        """Returns the limits of a welcome. Raises KeyError or TypeError if they are malformed."""
        limits = cls(*(shared[name] for name in cls._fields))
        if not all(type(limit) is int and limit > 0 for limit in limits):
            raise TypeError(f"limits of shared memory are positive integers, not {shared!r}")
        return limits


class _Region(NamedTuple):
    pages: memoryview
    arena: Arena


class PlacedAttachment(SharedAttachment):
    """A copy of an attachment in a region. Its place is free again if the copy is dropped before it is sent."""

    __slots__ = ("_results", "_place")

    def __init__(self, results: "ResultRegions", place: Place, size: int) -> None:
        self._results = results
        self._place = place
        self.nbytes = size
        self.item = b'{"region":%d,"at":%d,"bytes":%d}' % (*place, size)

    def prepare(self) -> None:
        self._results.hand_over(self._place)


class ResultRegions:
    """The regions for results, and the request for the next one.

    Thread-safe. The callers that place attachments have their windows closed.
    """

    def __init__(self, limits: SharedLimits) -> None:
        self._limits = limits
        self._lock = threading.Lock()
        self._regions: Dict[int, _Region] = {}
        self._bytes = 0  # of the regions
        self._uses: Dict[Place, Use] = {}  # of the places that are not sent yet
        self._sent: Set[Place] = set()  # places that the host has to release
        # As the uses of lent places, these end in the middle of anything.
        self._dropped: Deque[Any] = deque()  # of Use
        self.is_requested = False
        self._pause = 0  # messages until the next request

    def add(self, number: int, size: int, memory: epoll) -> None:
        """Maps a region that has come. Raises OSError or ValueError if its memory is of no use."""
        pages = memoryview(mmap.mmap(memory.fileno(), size))
        with self._lock:
            self._regions[number] = _Region(pages, Arena(size))
            self._bytes += size
            self.is_requested = False

    def refuse(self) -> None:
        """Takes the host's refusal of a region."""
        self.is_requested = False
        self._pause = _PATIENCE

    def give_up(self) -> None:
        """Requests no more regions. One that cannot be used counts for the host, so that the sum is unknown here."""
        self.is_requested = False
        self._pause = sys.maxsize

    def place(self, view: memoryview) -> Optional[PlacedAttachment]:
        """Returns a copy of an attachment in a region, None if no region has room."""
        with self._lock:
            self._free_dropped()
            placed = self._reserve(view.nbytes)
        if placed is not None:
            (number, begin), size = placed._place, placed.nbytes
            self._regions[number].pages[begin : begin + size] = view  # a memcpy, with the GIL
        return placed

    def hand_over(self, place: Place) -> None:
        """Leaves a place to the host, directly before the message with it is sent."""
        self._sent.add(place)
        del self._uses[place]

    def release(self, place: Place) -> None:
        """Frees a place that the host has released. Raises ProtocolError if the host did not have it."""
        with self._lock:
            if place not in self._sent:
                raise ProtocolError(f"the host releases a place that it does not have: {list(place)}")
            self._sent.remove(place)
            self._free(place)

    def request_size(self, sizes: Sequence[int]) -> int:
        """Returns the size of a region to request for attachments that no region has room for; 0 for no request.

        The regions double with each request.
        """
        with self._lock:
            if self._pause > 0:
                self._pause -= 1
                return 0
            room = self._limits.bytes - self._bytes
            room -= room % mmap.PAGESIZE
            if self.is_requested or len(self._regions) >= self._limits.regions or min(map(whole_steps, sizes)) > room:
                return 0
            self.is_requested = True
            return min(room, max(self._bytes, sum(map(whole_steps, sizes))))

    def _reserve(self, size: int) -> Optional[PlacedAttachment]:
        for number, region in self._regions.items():
            begin = region.arena.reserve(size)
            if begin is not None:
                placed = PlacedAttachment(self, (number, begin), size)
                use = Use(placed, self._dropped.append)
                use.place = number, begin
                self._uses[use.place] = use
                return placed
        return None

    def _free_dropped(self) -> None:
        while self._dropped:
            place: Place = self._dropped.popleft().place
            if self._uses.pop(place, None) is not None:
                self._free(place)

    def _free(self, place: Place) -> None:
        number, begin = place
        self._regions[number].arena.release(begin)
