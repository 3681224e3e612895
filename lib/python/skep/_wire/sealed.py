"""Sealed memory: attachments that travel by their descriptor, without a copy, because no process can change them."""

import contextlib
import ctypes
import fcntl
import mmap
import os
import weakref
from typing import Any, Dict, Iterator, List, NamedTuple, Optional, Tuple

from .._process.interpreter import epoll, own_descriptor
from .attachments import SharedAttachment
from .errors import ProtocolError
from .line import Line

# Of Linux. The modules of Python 3.8 lack some of them.
_ADD_SEALS = 1033
_ALL_SEALS = 1 | 2 | 4 | 8  # of further seals, of shrinking, growing and writing
_MAP_FIXED = 0x10

_READ, _WRITE = mmap.PROT_READ, mmap.PROT_WRITE

_mmap: Any = ctypes.CDLL(None, use_errno=True).mmap
_mmap.restype = ctypes.c_void_p
_mmap.argtypes = (ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_long)
_MAP_FAILED = ctypes.c_void_p(-1).value


class _Buffer(ctypes.Structure):
    """Py_buffer."""

    _fields_ = [
        *(("address", ctypes.c_void_p), ("owner", ctypes.c_void_p), ("size", ctypes.c_ssize_t)),
        *(("item_size", ctypes.c_ssize_t), ("readonly", ctypes.c_int), ("dimensions", ctypes.c_int)),
        *((name, ctypes.c_void_p) for name in ("format", "shape", "strides", "suboffsets", "internal")),
    ]


_get_buffer: Any = ctypes.pythonapi.PyObject_GetBuffer
_get_buffer.argtypes = (ctypes.py_object, ctypes.POINTER(_Buffer), ctypes.c_int)
_release_buffer: Any = ctypes.pythonapi.PyBuffer_Release
_release_buffer.argtypes = (ctypes.POINTER(_Buffer),)
_release_buffer.restype = None


def address_of(source: Any) -> int:
    """Returns the address of a buffer, which may be read-only."""
    buffer = _Buffer()
    _get_buffer(source, buffer, 0)
    try:
        return int(buffer.address or 0)
    finally:
        _release_buffer(buffer)


class Pages(mmap.mmap):
    """A mapping of a memfd, and its descriptor.

    With the last view of them, the pages are unmapped and the descriptor is closed: in C, as this happens in the middle of
    anything, and interrupts as well.
    """

    address: int
    memory: epoll
    place: Tuple[int, int]  # of a received attachment, for writable()

    @classmethod
    def make(cls, size: int, access: int, memory: epoll, sharing: int) -> "Pages":
        """Maps so many bytes of the memory. Raises OSError."""
        # Python's mmap() would keep a second descriptor.
        pages = cls(-1, size, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS, access)
        pages.address = address_of(pages)
        pages.memory = memory
        pages.map(access, sharing)
        return pages

    def map(self, access: int, sharing: int) -> None:
        """Maps the memory in the place of the present pages. All views remain valid. Raises OSError."""
        address = _mmap(self.address, len(self), access, sharing | _MAP_FIXED, self.memory.fileno(), 0)
        if address == _MAP_FAILED:
            raise OSError(ctypes.get_errno(), "mmap")

    def seal(self) -> bool:
        """Returns true if no process can change the memory any more."""
        raise NotImplementedError


class _ReceivedPages(Pages):
    """An attachment that the host has sent."""

    def seal(self) -> bool:
        return True


class _OwnPages(Pages):
    """Memory of this worker. Its code may write it at any time, so it is passed on once."""

    is_private = False

    def make_private(self) -> None:
        """Makes later changes of the pages changes of this process alone. The memory remains as it is."""
        self.is_private = True
        self.map(_READ | _WRITE, mmap.MAP_PRIVATE)

    def seal(self) -> bool:
        if self.is_private:  # and may have been written since
            return False
        try:
            self.make_private()
            fcntl.fcntl(self.memory.fileno(), _ADD_SEALS, _ALL_SEALS)
            return True
        except OSError:  # a device or another process has the pages mapped
            return False


class SealedAttachment(SharedAttachment):
    """An attachment that is passed on without a copy."""

    __slots__ = ("_sealed", "_pages", "_number")

    def __init__(self, sealed: "SealedMemory", pages: Pages, begin: int, size: int) -> None:
        self._sealed = sealed
        self._pages = pages
        self.nbytes = size
        item = bytearray(b'{"sealed":%16d,"at":%d,"bytes":%d}' % (0, begin, size))
        self._number = memoryview(item)[10:26]  # until it is known: numbers must rise in the order of sending
        self.item = item

    def prepare(self) -> None:
        self._number[:] = b"%16d" % self._sealed.send(self._pages)


class _Announced(NamedTuple):
    memory: epoll
    size: int


class SealedMemory:
    """The sealed memory of a worker, of both directions. One thread at a time, except for send()."""

    def __init__(self, line: Line) -> None:
        self._line = line
        self._announced: Dict[int, _Announced] = {}  # by the host, and not referred to yet
        self._last_announced = 0
        self._last_sent = 0
        self._pages: List["weakref.ref[Pages]"] = []

    # --- attachments of calls

    def add(self, number: int, size: int, memory: epoll) -> None:
        """Takes memory that the host has announced. Raises ProtocolError or ValueError if it is of no use."""
        if number <= self._last_announced:
            raise ProtocolError(f"sealed memory {number} has come after {self._last_announced}")
        if os.fstat(memory.fileno()).st_size < size:
            raise ValueError("it is smaller than announced")
        self._last_announced = number
        self._announced[number] = _Announced(memory, size)

    def has_come(self, number: int) -> bool:
        """Returns true if the memory of this number, or later memory, has been announced."""
        return number <= self._last_announced

    def open(self, number: int, begin: int, size: int) -> memoryview:
        """Returns a read-only view of an attachment. Raises ProtocolError if the memory does not have it."""
        memory = self._announced.get(number)
        if memory is None:
            state = "is not there" if number <= self._last_announced else "has not come"
            raise ProtocolError(f"an attachment is in sealed memory {number}, which {state}")
        if begin < 0 or size < 1 or begin + size > memory.size:
            raise ProtocolError(f"an attachment of {size} bytes at {begin} is outside of sealed memory {number}")
        for skipped in [each for each in self._announced if each <= number]:
            del self._announced[skipped]
        try:
            pages = _ReceivedPages.make(begin + size, _READ, memory.memory, mmap.MAP_PRIVATE)
        except (OSError, ValueError) as error:
            raise ProtocolError(f"sealed memory cannot be mapped: {error!r}") from error
        pages.place = memory.memory.fileno(), begin
        self._remember(pages)
        return memoryview(pages)[begin:]

    # --- attachments of the worker's messages

    def make(self, size: int) -> Optional[memoryview]:
        """Returns writable memory; None if the system lacks some."""
        try:
            memory = own_descriptor(os.memfd_create("skep", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING))
            os.posix_fallocate(memory.fileno(), 0, size)
            pages = _OwnPages.make(size, _READ | _WRITE, memory, mmap.MAP_SHARED)
        except OSError:
            return None
        self._remember(pages)
        return memoryview(pages)

    def pass_on(self, view: memoryview) -> Optional[SealedAttachment]:
        """Returns the attachment if it lies in memory that can be sealed, else None."""
        address = address_of(view)
        for pages in self._live_pages():
            begin = address - pages.address
            if 0 <= begin and begin + view.nbytes <= len(pages):
                return SealedAttachment(self, pages, begin, view.nbytes) if pages.seal() else None
        return None

    def send(self, pages: Pages) -> int:
        """Sends the descriptor of memory. Returns its number. With the lock of the data channel held."""
        self._last_sent += 1
        # Not the size of the file: received memory may be larger than the host allows, and than the host knows.
        self._line.send(b'{"sealed":%d,"bytes":%d}' % (self._last_sent, len(pages)), pages.memory.fileno())
        return self._last_sent

    def leave_to_parent(self) -> None:
        """Leaves the memory to the parent, in a forked child: the parent can seal it, and the child keeps what it sees."""
        for pages in self._live_pages():
            if isinstance(pages, _OwnPages) and not pages.is_private:
                with contextlib.suppress(OSError):  # the child must let go of the rest as well
                    pages.make_private()

    def _remember(self, pages: Pages) -> None:
        # No dictionary of weak references: its callbacks are no functions in C, and would take interrupts.
        self._pages = [each for each in self._pages if each() is not None] + [weakref.ref(pages)]

    def _live_pages(self) -> Iterator[Pages]:
        for reference in self._pages:
            pages = reference()
            if pages is not None:
                yield pages
