"""Attachments of calls in memory that the host lends: each has a place in a region, which the worker maps once."""

import functools
import mmap
import weakref
from collections import deque
from typing import TYPE_CHECKING, Any, Deque, Dict, List, NamedTuple, Optional, Tuple

from .._process.interpreter import epoll
from .arena import whole_steps
from .errors import ProtocolError

Place = Tuple[int, int]  # the number of a region, and the beginning in it

if TYPE_CHECKING:
    _Reference = weakref.ref[Any]
else:
    _Reference = weakref.ref


class Use(_Reference):
    """The use of a place. Ends with the object that uses it."""

    __slots__ = ("place",)
    place: Place


class _Region(NamedTuple):
    pages: mmap.mmap
    memory: epoll


class _WritablePages(mmap.mmap):
    """A copy-on-write mapping of an attachment. Keeps the use of its place."""

    use: Any


@functools.lru_cache(maxsize=64)
def _array_type(size: int) -> Any:
    import ctypes  # slow to import, and most workers never need it

    return ctypes.c_ubyte * size


def writable(view: memoryview) -> memoryview:
    """Returns a view of a copy of an attachment. One in shared memory is copied page by page, on the first write."""
    place: Optional[Tuple[int, int]] = getattr(view.obj, "place", None)  # a descriptor, and the beginning
    if place is None:
        return memoryview(bytearray(view))
    descriptor, begin = place
    # Pages may be larger than a step.
    first = begin - begin % mmap.PAGESIZE
    access = mmap.PROT_READ | mmap.PROT_WRITE
    length = begin - first + len(view)
    pages = _WritablePages(descriptor, length, mmap.MAP_PRIVATE, access, offset=first)
    pages.use = view.obj
    return memoryview(pages)[begin - first :]


class LentRegions:
    """The regions that the host lends. One thread opens places; any thread may end their use."""

    def __init__(self) -> None:
        self._regions: Dict[int, _Region] = {}
        self._uses: Dict[Place, Use] = {}
        # Uses end in finalizers, in the middle of anything: only a function in C is safe from interrupts.
        self._ended: Deque[Any] = deque()  # of Use

    def __contains__(self, number: int) -> bool:
        return number in self._regions

    def add(self, number: int, size: int, memory: epoll) -> None:
        """Maps a region. Raises OSError or ValueError if its memory is of no use."""
        access = mmap.PROT_READ | mmap.PROT_WRITE  # of own pages, because ctypes needs them: nothing is written
        self._regions[number] = _Region(mmap.mmap(memory.fileno(), size, mmap.MAP_PRIVATE, access), memory)

    def open(self, number: int, begin: int, size: int) -> memoryview:
        """Returns a read-only view of an attachment. Raises ProtocolError if the region does not have it."""
        region = self._regions[number]
        if begin < 0 or size < 1 or begin + size > len(region.pages):
            raise ProtocolError(f"an attachment of {size} bytes at {begin} is outside of region {number}")
        # Arrays of few lengths take less time to make, and the host reserves whole steps.
        length = min(whole_steps(size), len(region.pages) - begin)
        array_of_place = _array_type(length).from_buffer(region.pages, begin)
        array_of_place.place = region.memory.fileno(), begin
        use = Use(array_of_place, self._ended.append)
        use.place = number, begin
        self._uses[use.place] = use
        return memoryview(array_of_place).cast("B").toreadonly()[:size]

    @property
    def is_used(self) -> bool:
        """True while a place is in use, or its end has not been taken."""
        return bool(self._uses)

    @property
    def has_ended_uses(self) -> bool:
        """True if take_releases() has something to return."""
        return bool(self._ended)

    def take_releases(self) -> List[bytes]:
        """Returns the messages that release the places whose use has ended. Thread-safe."""
        messages: List[bytes] = []
        try:
            while True:
                use = self._ended.popleft()
                self._uses.pop(use.place, None)
                messages.append(b'{"type":"release","region":%d,"at":%d}' % use.place)
        except IndexError:
            return messages
