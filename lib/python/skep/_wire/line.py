"""The line on which a worker and its host exchange descriptors of shared memory."""

import errno
import os
from array import array
from socket import CMSG_SPACE, MSG_CMSG_CLOEXEC, MSG_DONTWAIT, SCM_RIGHTS, SOL_SOCKET
from typing import List, Optional, Sequence, Tuple

from .._process.interpreter import epoll, own_descriptor, sleep, socket
from .errors import ProtocolError

_MAX_PACKET = 256
_PAUSE = 0.001  # seconds

# The text of a packet, and the owner of its descriptor, if it has one.
Packet = Tuple[bytes, Optional[epoll]]


class Line:
    """The worker's end of the line. One thread sends at a time, and one receives."""

    def __init__(self, descriptor: int) -> None:
        os.set_inheritable(descriptor, False)
        self._socket = socket(fileno=descriptor)
        self._socket.setblocking(True)

    def receive(self) -> Optional[Packet]:
        """Returns the next packet; None if none has come, or the host is gone. Does not wait."""
        try:
            text, ancillary, _, _ = self._socket.recvmsg(_MAX_PACKET, CMSG_SPACE(4), MSG_DONTWAIT | MSG_CMSG_CLOEXEC)
        except BlockingIOError:
            return None
        owners = [own_descriptor(each) for each in _descriptors(ancillary)]
        if len(owners) > 1:
            raise ProtocolError("a packet has come with several descriptors")
        return (text, owners[0] if owners else None) if text else None

    def send(self, text: bytes, descriptor: int) -> None:
        """Sends a packet with a descriptor. Waits for room: the host takes packets with the messages that need them."""
        while True:
            try:
                self._socket.sendmsg([text], [(SOL_SOCKET, SCM_RIGHTS, array("i", [descriptor]))])
                return
            except OSError as error:
                if error.errno != errno.ETOOMANYREFS:  # of all processes of this user, without a way to wait for fewer
                    raise
                sleep(_PAUSE)

    def close(self) -> None:
        """Closes the line."""
        self._socket.close()


def _descriptors(ancillary: Sequence[Tuple[int, int, bytes]]) -> List[int]:
    found = array("i")
    for level, kind, data in ancillary:
        if (level, kind) == (SOL_SOCKET, SCM_RIGHTS):
            found.frombytes(data[: len(data) - len(data) % found.itemsize])
    return list(found)
