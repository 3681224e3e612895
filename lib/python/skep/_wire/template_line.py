"""The line between a pool and a template: orders to fork a worker, and their answers, one JSON text in a packet."""

import functools
import os
from array import array
from socket import CMSG_SPACE, MSG_CMSG_CLOEXEC, MSG_CTRUNC, MSG_TRUNC, SCM_RIGHTS, SOL_SOCKET
from typing import Any, Dict, List, NamedTuple, Optional, Sequence, Tuple

from .._process.forking import WorkerEnds, out_of_the_way
from .._process.interpreter import socket
from .connection import flush_every_line
from .errors import ProtocolError
from .json_text import decode
from .messages import encode

_VERSION = 1
_MAX_PACKET = 64 * 1024
_MAX_OBJECTIONS = 32
_MAX_LENGTH = 250  # characters of an objection
_MAX_ERROR = 4000  # characters
_DESCRIPTORS = len(WorkerEnds._fields)  # at most; the last may be missing


class OrderFailed(Exception):
    """Raised for an order that this process cannot carry out."""


class Order(NamedTuple):
    """The order to fork a worker."""

    environment: Dict[str, Optional[str]]  # the difference from the template's; None removes a variable
    arguments: List[str]  # behind the template's
    ends: WorkerEnds


class TemplateLine:
    """The template's end of the line."""

    def __init__(self, descriptor: int) -> None:
        os.set_inheritable(descriptor, False)
        self._socket = socket(fileno=descriptor)
        self._socket.setblocking(True)
        self._copy = os.dup(descriptor)  # keeps a number for a worker's second channel
        self.descriptors = {descriptor, self._copy}

    def replace(self, ends: WorkerEnds) -> Dict[str, str]:
        """Closes the line in a worker, and gives its numbers to the channels. Returns variables that name them."""
        numbers = {}
        places = (("SKEP_DATA_FD", ends.data, self._socket.detach()), ("SKEP_CONTROL_FD", ends.control, self._copy))
        for name, channel, number in places:
            os.dup2(channel, number, inheritable=False)
            os.close(channel)
            numbers[name] = str(number)
        if ends.regions is not None:
            numbers["SKEP_SHARED_FD"] = str(ends.regions)
        return numbers

    def receive_order(self) -> Optional[Order]:
        """Waits for an order. Returns None at the end of the line. Raises OrderFailed if descriptors are missing."""
        packet, ancillary, flags, _ = self._socket.recvmsg(_MAX_PACKET, CMSG_SPACE(4 * _DESCRIPTORS), MSG_CMSG_CLOEXEC)
        descriptors = [out_of_the_way(each) for each in _received_descriptors(ancillary)]
        if not packet:
            return None
        if flags & MSG_CTRUNC:
            for descriptor in descriptors:
                os.close(descriptor)
            raise OrderFailed("descriptors: Too many open files")
        if flags & MSG_TRUNC or len(descriptors) not in (_DESCRIPTORS - 1, _DESCRIPTORS):
            raise ProtocolError(f"an order of {len(packet)} bytes or more, with {len(descriptors)} descriptors")
        return _decode(packet, WorkerEnds(*descriptors))

    def announce(self, objections: Sequence[str]) -> None:
        """Reports that the script is imported, and the objections to a fork."""
        shown = [each[:_MAX_LENGTH] for each in objections[:_MAX_OBJECTIONS]]
        self._send({"type": "template", "version": _VERSION, "pid": os.getpid(), "objections": shown, "shared": 1})

    def send_forked(self, pid: int, pidfd: int) -> None:
        self._send({"type": "forked", "pid": pid}, [(SOL_SOCKET, SCM_RIGHTS, array("i", [pidfd]))])

    def send_failed(self, error: str) -> None:
        self._send({"type": "failed", "error": error[:_MAX_ERROR]})

    def _send(self, message: Dict[str, Any], ancillary: Sequence[Tuple[int, int, Any]] = ()) -> None:
        self._socket.sendmsg([encode(message)], ancillary)


@functools.lru_cache(maxsize=None)
def open_template_line() -> Optional[TemplateLine]:
    """Returns the line if a pool has started this process as a template. Two workers in one script share it."""
    if os.environ.pop("SKEP_TEMPLATE", None) != "1":  # removed, so that no child is mistaken for the template
        return None
    line = TemplateLine(int(os.environ.pop("SKEP_TEMPLATE_FD")))
    flush_every_line()
    return line


def _received_descriptors(ancillary: Sequence[Tuple[int, int, bytes]]) -> List[int]:
    found = array("i")
    for level, kind, data in ancillary:
        if (level, kind) == (SOL_SOCKET, SCM_RIGHTS):
            found.frombytes(data[: len(data) - len(data) % found.itemsize])
    return list(found)


def _decode(packet: bytes, ends: WorkerEnds) -> Order:
    """Returns the order of a packet. Raises ProtocolError if it is malformed."""
    try:
        message = decode(packet)
        environment, arguments = message["environment"], message.get("arguments", [])
        is_valid = message["type"] == "fork" and all(type(word) is str for word in arguments)
        is_valid = is_valid and all(type(value) in (str, type(None)) for value in environment.values())
    except (ValueError, RecursionError, LookupError, TypeError, AttributeError) as error:
        raise ProtocolError(f"a malformed order: {error!r}") from error
    if not is_valid:
        raise ProtocolError("a malformed order to fork a worker")
    return Order(environment, arguments, ends)
