"""The memory that the host shares with its worker, and what the worker may do with it."""

import array
import contextlib
import fcntl
import json
import os
import socket

from .outcome import Broken

STEP = 4096  # places of the host begin at its multiples

# As in the welcome. Small: a worker has to do with little room.
LIMITS = {"least": 4096, "bytes": 1 << 20, "regions": 4}

# The modules of some interpreters lack these names.
_ADD_SEALS, _GET_SEALS = 1033, 1034
_FIXED = 1 | 2 | 4  # F_SEAL_SEAL, F_SEAL_SHRINK, F_SEAL_GROW
_MAPPED = 1 | 16  # F_SEAL_SEAL, F_SEAL_FUTURE_WRITE
_SEALED = _FIXED | 8  # F_SEAL_WRITE

_MOST_SEALED, _MOST_PACKETS = 64, 256  # of a message
_REGION_BYTES = 64 << 10  # of lent regions


class SharedMemory:
    """Lends and seals memory for the worker's calls, and reads the shared attachments of its messages."""

    def __init__(self, line):
        self.grants = True  # the worker's requests for regions
        self.lent = set()  # places that the worker has not released
        self._line = line
        self._line.setblocking(False)
        self._last_region = self._last_sealed = 0
        self._lending = {}  # descriptors of regions by number
        self._results = {}  # the same, with their sizes
        self._held = {}  # what lies in places of results that are not released
        self._sealed = {}  # descriptors and sizes by number, not used yet
        self._last_received = 0
        self._packets = 0  # that the present message may still take

    def close(self):
        """Closes all memory; the line is the program's."""
        for descriptor in (*self._lending.values(), *(each[0] for each in self._results.values())):
            os.close(descriptor)
        for descriptor, _ in self._sealed.values():
            os.close(descriptor)

    # --- attachments of calls

    def lend(self, content):
        """The item of an attachment that lies in lent memory. Places are used again as soon as they are released."""
        steps = -(-len(content) // STEP)
        region, at = next(place for place in self._places() if self._is_free(*place, steps * STEP))
        os.pwrite(self._lending[region], content, at)
        self.lent.add((region, at, steps * STEP))
        return {"region": region, "at": at, "bytes": len(content)}

    def seal(self, content, at=0):
        """The item of an attachment that lies in sealed memory from `at` on."""
        self._last_sealed += 1
        descriptor = _memory(at + len(content) + 100)
        try:
            os.pwrite(descriptor, b"?" * (at + len(content) + 100), 0)
            os.pwrite(descriptor, content, at)
            fcntl.fcntl(descriptor, _ADD_SEALS, _SEALED)
            self._pass({"sealed": self._last_sealed, "bytes": at + len(content) + 100}, descriptor)
        finally:
            os.close(descriptor)
        return {"sealed": self._last_sealed, "at": at, "bytes": len(content)}

    def on_release(self, region, at):
        """The worker has released a lent place."""
        places = [place for place in self.lent if place[:2] == (region, at)]
        if not places:
            raise Broken(f"a release of {at} in region {region}, which is not lent")
        self.lent.remove(places[0])

    # --- attachments of results

    def on_request(self, size):
        """The worker asks for a region for its results."""
        sizes = [size, *(each[1] for each in self._results.values())]
        if sum(sizes) > LIMITS["bytes"] or len(sizes) > LIMITS["regions"]:
            raise Broken(f"a request for a region of {size} bytes, beyond the limits: it has {sizes[1:]}")
        if not self.grants:
            self._pass({"region": 0, "bytes": size, "results": 1})
            return
        self._last_region += 1
        descriptor = _memory(size)
        fcntl.fcntl(descriptor, _ADD_SEALS, _FIXED & ~_MAPPED)
        self._results[self._last_region] = (descriptor, size)
        self._pass({"region": self._last_region, "bytes": size, "results": 1}, descriptor)

    @property
    def holds(self):
        """How many places of results are not released."""
        return len(self._held)

    def release(self):
        """Releases all places of results; returns what a message says for that."""
        self.check_held()
        places = [[region, at] for region, at, _ in self._held]
        self._held.clear()
        return places

    def check_held(self):
        """Places of results do not change until they are released."""
        for (region, at, size), content in self._held.items():
            if os.pread(self._results[region][0], size, at) != content:
                raise Broken(f"the attachment at {at} in region {region} has changed before its release")

    def read(self, items):
        """Returns the contents of the shared attachments of a message."""
        sealed = [item for item in items if "sealed" in item]
        size = sum(_members(item, "sealed" if item in sealed else "region")[2] for item in items)
        if len(sealed) > _MOST_SEALED:
            raise Broken(f"a message has {len(sealed)} attachments in sealed memory")
        self._packets = _MOST_PACKETS
        if size > LIMITS["bytes"]:
            raise Broken(f"the shared attachments of a message have {size} bytes: shared.bytes is {LIMITS['bytes']}")
        return [self._read_sealed(item) if "sealed" in item else self._read_result(item) for item in items]

    def _read_result(self, item):
        region, at, size = _members(item, "region")
        if region not in self._results:
            raise Broken(f"an attachment in region {region}, which is not one for results: {item}")
        descriptor, end = self._results[region]
        if size < 1 or at + size > end:
            raise Broken(f"an attachment beyond its region of {end} bytes: {item}")
        if any(other == region and begin < at + size and at < begin + length for other, begin, length in self._held):
            raise Broken(f"an attachment in a place that is not released: {item}")
        if not fcntl.fcntl(descriptor, _GET_SEALS) & _MAPPED:
            fcntl.fcntl(descriptor, _ADD_SEALS, _MAPPED)  # the worker has mapped it, and needs nothing more
        self._held[region, at, size] = os.pread(descriptor, size, at)
        if len(self._held) > LIMITS["bytes"] // STEP:
            raise Broken(f"{len(self._held)} places of results are in use")
        return self._held[region, at, size]

    def _read_sealed(self, item):
        number, at, size = _members(item, "sealed")
        while self._last_received < number:
            self._receive(number)
        if number not in self._sealed:
            raise Broken(f"sealed memory {number} has not come, or was used before")
        for skipped in [other for other in self._sealed if other < number]:
            os.close(self._sealed.pop(skipped)[0])
        descriptor, end = self._sealed.pop(number)
        try:
            if end > LIMITS["bytes"]:
                raise Broken(f"sealed memory {number} has {end} bytes: shared.bytes is {LIMITS['bytes']}")
            if _seals_of(descriptor) & _SEALED != _SEALED:
                raise Broken(f"sealed memory {number} lacks seals")
            status = os.fstat(descriptor)
            if size < 1 or at + size > end or status.st_size < end or status.st_blocks * 512 < status.st_size:
                raise Broken(f"sealed memory {number} lacks bytes of its attachment, or has holes: {item}")
            return os.pread(descriptor, size, at)
        finally:
            os.close(descriptor)

    def _receive(self, wanted):
        descriptors = array.array("i")
        try:
            text, ancillary, flags, _ = self._line.recvmsg(256, socket.CMSG_SPACE(4))
        except (BlockingIOError, ConnectionError):
            raise Broken(f"sealed memory {wanted} has not come") from None
        for _, _, data in ancillary:
            descriptors.frombytes(data)
        number, size = _sealed_packet(text)
        self._packets -= 1
        if len(descriptors) != 1 or number <= self._last_received or flags & socket.MSG_TRUNC or self._packets < 0:
            raise Broken(f"after sealed memory {self._last_received}, a packet with {len(descriptors)} descriptors: {text}")
        self._last_received = number
        self._sealed[number] = (descriptors[0], size)

    # --- regions

    def _places(self):
        """All places of lent memory; a further region is lent after the last."""
        for region in self._lending:
            yield from ((region, at) for at in range(0, _REGION_BYTES, STEP))
        self._last_region += 1
        descriptor = self._lending[self._last_region] = _memory(_REGION_BYTES)
        fcntl.fcntl(descriptor, _ADD_SEALS, _FIXED)
        self._pass({"region": self._last_region, "bytes": _REGION_BYTES}, descriptor)
        yield self._last_region, 0

    def _is_free(self, region, at, size):
        return at + size <= _REGION_BYTES and all(
            other != region or at + size <= begin or begin + length <= at for other, begin, length in self.lent
        )

    def _pass(self, packet, descriptor=None):
        rights = [] if descriptor is None else [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [descriptor]))]
        with contextlib.suppress(ConnectionError):  # the worker is gone: the end of a channel tells of that
            try:
                self._line.sendmsg([json.dumps(packet).encode()], rights)
            except BlockingIOError:
                raise Broken("it does not read the line for shared memory") from None


def _memory(size):
    descriptor = os.memfd_create("conformance", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
    os.ftruncate(descriptor, size)
    return descriptor


def _members(item, kind):
    members = [item.get(name) for name in (kind, "at", "bytes")]
    if any(type(member) is not int or member < 0 for member in members):
        raise Broken(f"a place of an attachment is malformed: {item}")
    return members


def _sealed_packet(text):
    try:
        packet = json.loads(text)
        number, size = packet["sealed"], packet["bytes"]
        if type(number) is int and type(size) is int and size > 0:
            return number, size
    except (ValueError, LookupError, TypeError):
        pass
    raise Broken(f"a packet is malformed: {text!r}")


def _seals_of(descriptor):
    try:
        return fcntl.fcntl(descriptor, _GET_SEALS)
    except OSError:
        raise Broken("a descriptor for sealed memory is none of memory") from None
