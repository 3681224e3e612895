"""Attachments in memory that the host shares: each has a place in a region, and the worker maps a region once."""

import functools
import importlib.util
import mmap
import os
import weakref
from array import array
from collections import deque
from socket import CMSG_SPACE, MSG_CMSG_CLOEXEC, MSG_DONTWAIT, SCM_RIGHTS, SOL_SOCKET
from typing import TYPE_CHECKING, Any, Deque, Dict, List, NamedTuple, Optional, Sequence, Tuple

from .._process.interpreter import socket
from .errors import ProtocolError
from .json_text import decode

_MAX_PACKET = 256
_STEP = 4096  # the host reserves whole steps; arrays of few lengths take less time to make

Place = Tuple[int, int]  # the number of a region, and the beginning in it

if TYPE_CHECKING:
    _Reference = weakref.ref[Any]
else:
    _Reference = weakref.ref


class _Use(_Reference):
    """The use of a place. Ends with the last view of the place."""

    __slots__ = ("place",)
    place: Place


class _Region(NamedTuple):
    memory: mmap.mmap
    descriptor: int


class _WritablePages(mmap.mmap):
    """A copy-on-write mapping of a place. Keeps the use of the place."""

    use: Any


def can_share() -> bool:
    """Returns true if this interpreter can use memory of the host."""
    return importlib.util.find_spec("_ctypes") is not None


@functools.lru_cache(maxsize=64)
def _array_type(size: int) -> Any:
    import ctypes  # slow to import, and most workers never need it

    return ctypes.c_ubyte * size


def writable(view: memoryview) -> memoryview:
    """Returns a view of a copy of an attachment. A place in a region is copied page by page, on the first write."""
    place: Optional[Tuple[_Region, int]] = getattr(view.obj, "place", None)
    if place is None:
        return memoryview(bytearray(view))
    region, begin = place
    # Pages may be larger than a step.
    first = begin - begin % mmap.PAGESIZE
    access = mmap.PROT_READ | mmap.PROT_WRITE
    length = begin - first + len(view)
    pages = _WritablePages(region.descriptor, length, mmap.MAP_PRIVATE, access, offset=first)
    pages.use = view.obj
    return memoryview(pages)[begin - first :]


class Regions:
    """The regions of a worker. One thread opens places; any thread may end their use."""

    def __init__(self, descriptor: int) -> None:
        os.set_inheritable(descriptor, False)
        self._line = socket(fileno=descriptor)
        self._regions: Dict[int, _Region] = {}
        self._last = 0  # the number of the last region
        self._uses: Dict[Place, _Use] = {}
        # Uses end in finalizers, in the middle of anything: only a function in C is safe from interrupts.
        self._ended: Deque[Any] = deque()  # of _Use
        self._is_closed = False

    def open(self, place: Dict[str, Any]) -> memoryview:
        """Returns a read-only view of an attachment. Raises ProtocolError if no region has it."""
        number, begin, size = (place.get(name) for name in ("region", "at", "bytes"))
        if type(number) is not int or type(begin) is not int or type(size) is not int:
            raise ProtocolError(f"a place of an attachment is malformed: {place}")
        region = self._regions.get(number) or self._receive(number)
        if begin < 0 or size < 1 or begin + size > len(region.memory):
            raise ProtocolError(f"an attachment of {size} bytes at {begin} is outside of region {number}")
        length = min(-(-size // _STEP) * _STEP, len(region.memory) - begin)
        array_of_place = _array_type(length).from_buffer(region.memory, begin)
        array_of_place.place = region, begin
        use = _Use(array_of_place, self._ended.append)
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
            while not self._is_closed:
                use = self._ended.popleft()
                self._uses.pop(use.place, None)
                messages.append(b'{"type":"release","region":%d,"at":%d}' % use.place)
        except IndexError:
            pass
        return messages

    def close(self) -> None:
        """Closes the line in a forked child. Places remain mapped, and are not released from there."""
        self._is_closed = True
        self._line.close()

    def _receive(self, wanted: int) -> _Region:
        """Takes announced regions up to the wanted one, and returns it. Does not wait: the host announces first."""
        while self._last < wanted:
            number, region = self._receive_next(wanted)
            if number <= self._last:
                raise ProtocolError(f"region {number} has come after region {self._last}")
            self._regions[number] = region
            self._last = number
        if wanted not in self._regions:
            raise ProtocolError(f"an attachment is in region {wanted}, which is not there")
        return self._regions[wanted]

    def _receive_next(self, wanted: int) -> Tuple[int, _Region]:
        try:
            packet, ancillary, _, _ = self._line.recvmsg(_MAX_PACKET, CMSG_SPACE(4), MSG_DONTWAIT | MSG_CMSG_CLOEXEC)
        except BlockingIOError:
            raise ProtocolError(f"an attachment is in region {wanted}, which has not come") from None
        descriptors = _descriptors(ancillary)
        if len(descriptors) != 1:
            raise ProtocolError("a region has come without its memory, or there are too many open files")
        try:
            message = decode(packet)
            number, size = message["region"], message["bytes"]
            if size < 1:
                raise ValueError("it is empty")
            access = mmap.PROT_READ | mmap.PROT_WRITE  # of own pages, because ctypes needs them: nothing is written
            return int(number), _Region(mmap.mmap(descriptors[0], size, mmap.MAP_PRIVATE, access), descriptors[0])
        except (ValueError, LookupError, TypeError, OverflowError, RecursionError, OSError) as error:
            raise ProtocolError(f"a region cannot be mapped: {error!r}") from error


def _descriptors(ancillary: Sequence[Tuple[int, int, bytes]]) -> List[int]:
    found = array("i")
    for level, kind, data in ancillary:
        if (level, kind) == (SOL_SOCKET, SCM_RIGHTS):
            found.frombytes(data[: len(data) - len(data) % found.itemsize])
    return list(found)
