"""Frames: a JSON object and its attachments, as they travel between host and worker.

    u32be frame_length | u32be json_length | JSON object | attachment bytes

`frame_length` counts the bytes after it; the key "attachments" of the object holds the attachments' lengths, or their
places in shared memory.
"""

import contextlib
import functools
import mmap
import socket
import struct
from io import FileIO
from typing import TYPE_CHECKING, Any, Callable, Dict, Iterable, List, NamedTuple, Optional, Sequence, Tuple, Union

from .attachments import Attachment, prepare
from .errors import ProtocolError
from .json_text import decode
from .protocol import DEFAULT_FRAME_LIMIT

if TYPE_CHECKING:
    from .shared_memory import SharedMemory

_HEADER = struct.Struct(">II")
_BUFFER_SIZE = 256 * 1024  # the kernel provides only the pages in use
_SMALL_FRAME = 4 * 1024
_HUGE_BUFFER = 32 * 1024 * 1024  # malloc returns blocks of this size to the kernel
_JSON_LENGTH_SIZE = 4
_MAX_PARTS = 512  # per system call; the kernel takes 1024

# A part of a frame: its header, its JSON or a piece of its JSON, or an attachment.
Part = Union[bytes, memoryview]

# A JSON object, encoded and possibly in parts, and its attachments.
Message = Tuple[Sequence[bytes], Sequence[Attachment]]


class Frame(NamedTuple):
    """A message and the raw data that came with it."""

    message: Dict[str, Any]
    attachments: Sequence[memoryview]


# Frame(...) at the speed of C. Any: typing does not know the __new__ of a tuple.
_new_frame: Any = functools.partial(tuple.__new__, Frame)


def frame_length(body: Sequence[bytes], attachments: Sequence[Attachment] = ()) -> int:
    """Returns the length field of a frame with these parts. Frame limits apply to this number."""
    length = _JSON_LENGTH_SIZE + sum(map(len, body))
    return length + sum(map(len, attachments)) if attachments else length


def allocate(size: int) -> memoryview:
    """Returns memory, of zeros.

    A large block comes without zeros written to it, and in huge pages where the kernel has some: otherwise the
    allocation would take longer than the receiving.
    """
    if size <= _HUGE_BUFFER:
        return memoryview(bytearray(size))
    block = mmap.mmap(-1, size, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    with contextlib.suppress(OSError):
        block.madvise(mmap.MADV_HUGEPAGE)
    return memoryview(block)


def _send_parts(stream: socket.socket, parts: Sequence[Part]) -> None:
    """Sends all parts, by one system call for many if the socket takes them at once."""
    for begin in range(0, len(parts), _MAX_PARTS):
        _send_some_parts(stream, parts[begin : begin + _MAX_PARTS])


def _send_some_parts(stream: socket.socket, parts: Sequence[Part]) -> None:
    sent = stream.sendmsg(parts)
    for part in parts:
        if sent < len(part):
            stream.sendall(memoryview(part)[sent:])
            sent = 0
        else:
            sent -= len(part)


class Channel:
    """Sends and receives frames over a blocking stream; one thread may receive while another sends."""

    def __init__(
        self,
        receive_into: Callable[[memoryview], Optional[int]],
        send_all: Callable[[Any], Any],
        send_parts: Callable[[Sequence[Part]], Any],
    ) -> None:
        self.limit = DEFAULT_FRAME_LIMIT
        self.shared: "Optional[SharedMemory]" = None  # of attachments that are not in their frame
        self._receive_into = receive_into
        self._send_all = send_all
        self._send_parts = send_parts
        # skep._loop uses these as well: the buffer, and the received bytes in it.
        self._view = allocate(_BUFFER_SIZE)
        self._start = self._end = 0

    @classmethod
    def over_socket(cls, stream: socket.socket) -> "Channel":
        """Returns a channel over one end of a socket pair."""
        return cls(stream.recv_into, stream.sendall, functools.partial(_send_parts, stream))

    @classmethod
    def over_files(cls, source: FileIO, sink: FileIO) -> "Channel":
        """Returns a channel that reads frames from one unbuffered file and writes frames to another."""

        def write_all(data: Any) -> None:
            rest = memoryview(data)
            while rest:
                rest = rest[sink.write(rest) :]

        def write_parts(parts: Sequence[Part]) -> None:
            for part in parts:
                write_all(part)

        return cls(source.readinto, write_all, write_parts)

    @property
    def has_input(self) -> bool:
        """True if the buffer holds received bytes: poll() cannot see them."""
        return self._start != self._end

    def receive(self) -> Optional[Frame]:
        """Returns the next frame, None after the other side has closed the stream."""
        while True:
            available = self._end - self._start
            size = _HEADER.size
            if available >= size:
                length, json_length = _HEADER.unpack_from(self._view, self._start)
                if length > self.limit or json_length + _JSON_LENGTH_SIZE > length:
                    raise self._length_error(length, json_length)
                size = length + 4
                if available >= size:
                    return self._cut_frame(size, json_length)
            if self._start + size > len(self._view):
                self._renew_buffer(size)
            count = self._receive_into(self._view[self._end :])
            if not count:
                return None
            self._end += count

    def send(self, body: Sequence[bytes], attachments: Sequence[Attachment] = ()) -> None:
        """Sends a JSON object, encoded and possibly in parts, and its attachments."""
        json_length = sum(map(len, body))
        length = _JSON_LENGTH_SIZE + json_length
        in_frame: Sequence[memoryview] = ()
        if attachments:
            in_frame = prepare(attachments)
            length += sum(map(len, in_frame))
        parts = (_HEADER.pack(length, json_length), *body, *in_frame)
        if length <= _SMALL_FRAME:
            self._send_all(b"".join(parts))
        else:  # a large frame is not copied once more
            self._send_parts(parts)

    def send_all_of(self, messages: Iterable[Message]) -> None:
        """Sends messages in one write. Does not copy large ones.

        A write ends with a message that has shared attachments: the line has no room for the packets of many.
        """
        parts: List[Part] = []
        small: List[Part] = []
        pack = _HEADER.pack
        for body, attachments in messages:
            in_frame: Sequence[memoryview] = prepare(attachments) if attachments else ()
            length = json_length = sum(map(len, body))
            length += _JSON_LENGTH_SIZE + sum(map(len, in_frame)) if in_frame else _JSON_LENGTH_SIZE
            small.append(pack(length, json_length))
            if length <= _SMALL_FRAME:
                small += body
                small += in_frame
            else:
                parts += (b"".join(small), *body, *in_frame)
                small.clear()
            if len(in_frame) < len(attachments):
                self._write(parts, small)
        self._write(parts, small)

    def _write(self, parts: List[Part], small: List[Part]) -> None:
        """Writes the parts, and then the small ones in one piece. Clears both."""
        rest = b"".join(small)
        if parts:
            self._send_parts((*parts, rest))
        elif small:
            self._send_all(rest)
        parts.clear()
        small.clear()

    def _cut_frame(self, size: int, json_length: int) -> Frame:
        json_start = self._start + _HEADER.size
        json_end = json_start + json_length
        frame_end = self._start + size
        try:
            message = decode(self._view[json_start:json_end])
        except (ValueError, RecursionError) as error:
            raise ProtocolError(f"a frame of {size} bytes does not hold JSON: {error}") from error
        if type(message) is not dict:
            raise ProtocolError(f"a frame holds a JSON {type(message).__name__} instead of an object")
        attachments: Sequence[memoryview] = ()
        if json_end != frame_end or "attachments" in message:
            attachments = self._split(message.get("attachments"), json_end, frame_end)
        if frame_end == self._end:
            self._start = self._end = 0
        else:
            self._start = frame_end
        # Attachments are views of the buffer and keep it. A buffer that was grown for one frame is released.
        if json_end != frame_end or len(self._view) > _BUFFER_SIZE:
            self._renew_buffer(_BUFFER_SIZE)
        frame: Frame = _new_frame((message, attachments))
        return frame

    def _split(self, lengths: Any, start: int, end: int) -> List[memoryview]:
        items = lengths if type(lengths) is list else []
        shared = self.shared
        sizes = items if shared is None else [item for item in items if type(item) is not dict]
        if any(type(length) is not int or length < 0 for length in sizes) or sum(sizes) != end - start:
            raise ProtocolError(f"a frame carries {end - start} bytes of attachments but announces {lengths}")
        parts = []
        for item in items:
            if shared is not None and type(item) is dict:
                parts.append(shared.open(item))
            else:
                parts.append(self._view[start : start + item].toreadonly())
                start += item
        return parts

    def _renew_buffer(self, size: int) -> None:
        rest = self._view[self._start : self._end]
        self._view = allocate(max(size, _BUFFER_SIZE, len(rest)))
        self._view[: len(rest)] = rest
        self._start, self._end = 0, len(rest)

    def _length_error(self, length: int, json_length: int) -> ProtocolError:
        if length > self.limit:
            return ProtocolError(f"a frame of {length} bytes is longer than the limit of {self.limit} bytes")
        return ProtocolError(f"a frame of {length} bytes cannot hold a JSON object of {json_length} bytes")
