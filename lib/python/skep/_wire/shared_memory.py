"""The memory that a worker and its host share: attachments that are not in their frame."""

import importlib.util
import os
import threading
from typing import TYPE_CHECKING, Any, Callable, Dict, List, Optional, Sequence

from .._process.interpreter import epoll
from .attachments import Attachment, SharedAttachment
from .errors import ProtocolError
from .json_text import decode
from .lent import LentRegions
from .line import Line, Packet
from .results import ResultRegions, SharedLimits

if TYPE_CHECKING:
    from .sealed import SealedMemory

# Of one message. So its list of attachments stays small, and the line has room for the packets of sealed memory.
MOST_SHARED = 64
MOST_SEALED = 8


def can_share() -> bool:
    """Returns true if this interpreter can use memory of the host."""
    return importlib.util.find_spec("_ctypes") is not None


class SharedMemory:
    """Opens the shared attachments of calls, and shares attachments of the worker's messages.

    accept() comes first. One thread opens attachments; the rest is thread-safe.
    """

    most_shared = MOST_SHARED
    limits: SharedLimits
    results: ResultRegions

    def __init__(self, descriptor: int) -> None:
        self._line = Line(descriptor)
        self._lock = threading.Lock()  # of the packets from the host, and of the sealed memory
        self._lent = LentRegions()
        self._last_region = 0
        self._sealed: "Optional[SealedMemory]" = None  # until there is some
        self._is_closed = False

    def accept(self, limits: Any, send: Callable[[bytes], None]) -> None:
        """Takes the limits of the welcome, and the function that sends a control message.

        Raises KeyError or TypeError if the limits are malformed.
        """
        self.limits = SharedLimits.from_welcome(limits)
        self.results = ResultRegions(self.limits)
        self._send = send

    def close(self) -> None:
        """Closes the line in a forked child. Memory remains mapped; the child releases nothing and shares nothing."""
        self._is_closed = True
        self._line.close()
        if self._sealed is not None:
            self._sealed.leave_to_parent()

    # --- attachments of calls

    def open(self, item: Dict[str, Any]) -> memoryview:
        """Returns a read-only view of an attachment. Raises ProtocolError if no shared memory has it."""
        is_sealed = "sealed" in item
        number, begin, size = (item.get(name) for name in ("sealed" if is_sealed else "region", "at", "bytes"))
        if type(number) is not int or type(begin) is not int or type(size) is not int:
            raise ProtocolError(f"a place of an attachment is malformed: {item}")
        with self._lock:
            if is_sealed:
                return self._open_sealed(number, begin, size)
            if number not in self._lent:
                self._take_packets()
            if number not in self._lent:
                state = "is not there" if number <= self._last_region else "has not come"
                raise ProtocolError(f"an attachment is in region {number}, which {state}")
            return self._lent.open(number, begin, size)

    @property
    def is_used(self) -> bool:
        """True while a lent place is in use, or its end has not been taken."""
        return self._lent.is_used

    @property
    def has_ended_uses(self) -> bool:
        """True if take_releases() has something to return."""
        return self._lent.has_ended_uses

    def take_releases(self) -> List[bytes]:
        """Returns the messages that release the lent places whose use has ended."""
        return [] if self._is_closed else self._lent.take_releases()

    # --- attachments of the worker's messages; with the window closed

    def make(self, size: int) -> Optional[memoryview]:
        """Returns writable memory that a message can pass on without a copy; None if there is none of this size."""
        if self._is_closed or not self.limits.least <= size <= self.limits.bytes or not hasattr(os, "memfd_create"):
            return None
        with self._lock:
            return self._sealed_memory().make(size)

    def may_share(self, attachments: Sequence[memoryview]) -> bool:
        """Returns true if one of the attachments is large enough, and this process shares memory."""
        least = self.limits.least
        return not self._is_closed and any(view.nbytes >= least for view in attachments)

    def share(self, attachments: Sequence[memoryview]) -> Sequence[Attachment]:
        """Moves the large attachments of a message to shared memory, as far as there is room. Does not wait.

        Precondition: may_share().
        """
        least = self.limits.least
        if self.results.is_requested:
            with self._lock:
                self._take_packets()
        message = _SharedMessage(self)
        shared = [view if view.nbytes < least else message.share(view) for view in attachments]
        size = self.results.request_size(message.missing) if message.missing else 0
        if size:
            self._send(b'{"type":"region","bytes":%d}' % size)
        return shared

    def pass_on(self, view: memoryview) -> Optional[SharedAttachment]:
        """Returns the attachment without a copy, if its memory can be passed on."""
        with self._lock:
            return None if self._sealed is None else self._sealed.pass_on(view)

    def release(self, places: Any) -> None:
        """Frees places in regions for results, as a message of the host says. Raises ProtocolError for other places."""
        if type(places) is not list:
            raise ProtocolError(f"released places are a list, not {places!r}")
        for place in places:
            if type(place) is not list or list(map(type, place)) != [int, int]:
                raise ProtocolError(f"a released place is a region and a beginning, not {place!r}")
            self.results.release((place[0], place[1]))

    # --- with the lock held

    def _open_sealed(self, number: int, begin: int, size: int) -> memoryview:
        sealed = self._sealed_memory()
        if not sealed.has_come(number):
            self._take_packets()
        return sealed.open(number, begin, size)

    def _sealed_memory(self) -> "SealedMemory":
        if self._sealed is None:
            from .sealed import SealedMemory  # with ctypes: slow to import, and most workers never need it

            self._sealed = SealedMemory(self._line)
        return self._sealed

    def _take_packets(self) -> None:
        """Takes the packets that have come. Does not wait: the host sends them before the messages that need them."""
        packet = self._line.receive()
        while packet is not None:
            self._take(packet)
            packet = self._line.receive()

    def _take(self, packet: Packet) -> None:
        text, memory = packet
        try:
            message = decode(text)
            size = int(message["bytes"])
            if message.get("region") == 0:
                self.results.refuse()
            elif size < 1:
                raise ValueError("it is empty")
            elif message.get("results") == 1:
                self._add_region_for_results(int(message["region"]), size, memory)
            elif memory is None:
                raise ProtocolError("shared memory has come without its memory, or there are too many open files")
            elif "sealed" in message:
                self._sealed_memory().add(int(message["sealed"]), size, memory)
            else:
                self._note_region(int(message["region"]))
                self._lent.add(self._last_region, size, memory)
        except (ValueError, LookupError, TypeError, AttributeError, OverflowError, RecursionError, OSError) as error:
            raise ProtocolError(f"shared memory cannot be mapped: {error!r}") from error

    def _add_region_for_results(self, number: int, size: int, memory: Optional[epoll]) -> None:
        """Takes a region. Without memory or a descriptor for it, results go over the socket from now on."""
        self._note_region(number)
        try:
            if memory is not None:
                self.results.add(number, size, memory)
                return
        except OSError:
            pass
        self.results.give_up()

    def _note_region(self, number: int) -> None:
        if number <= self._last_region:
            raise ProtocolError(f"region {number} has come after region {self._last_region}")
        self._last_region = number


class _SharedMessage:
    """The sharing of one message's attachments."""

    def __init__(self, memory: SharedMemory) -> None:
        self._memory = memory
        self._room = memory.limits.bytes
        self._places = MOST_SHARED
        self._sealed_places = MOST_SEALED
        self.missing: List[int] = []  # sizes of the attachments that a further region would have had room for

    def share(self, view: memoryview) -> Attachment:
        """Returns the attachment in shared memory, or as it is."""
        if view.nbytes > self._room or self._places == 0:
            return view
        shared = self._pass_on(view)
        if shared is None:
            shared = self._memory.results.place(view)
        if shared is None:
            self.missing.append(view.nbytes)
            return view
        self._room -= view.nbytes
        self._places -= 1
        return shared

    def _pass_on(self, view: memoryview) -> Optional[SharedAttachment]:
        shared = self._memory.pass_on(view) if self._sealed_places else None
        self._sealed_places -= shared is not None
        return shared
