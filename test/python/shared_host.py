"""Plays a host that shares memory with its worker, and grants the worker's requests for regions."""

import array
import importlib.util
import json
import mmap
import os
import socket

from host import HostCase

HAS_NUMPY = importlib.util.find_spec("numpy") is not None

STEP = 4096
LEAST = 4096
LIMITS = {"least": LEAST, "bytes": 1 << 20, "regions": 4}

COMMANDS = """
@worker.command
def give(size, fill=1, count=1):
    parts = [bytes([fill]) * size for _ in range(count)]
    return parts[0] if count == 1 else parts
@worker.command
def small(n):
    return n
@worker.command
def stream(sizes):
    for index, size in enumerate(sizes, 1):
        yield bytes([index]) * size
@worker.command
def ask(size):
    return skep.call_host("take", data=b"x" * size)
@worker.command
def give_array(size):
    import array
    return {"x": skep.array(array.array("f", [1.5]) * size)}
@worker.command
def fork(size):
    import os
    child = os.fork()
    if child == 0:
        return b"c" * size
    os.waitpid(child, 0)
    return b"p" * size
"""

# Of workers that look at their attachments. They have a list `kept`.
LOOKING_COMMANDS = """
@worker.command
def look():
    return [bytes(view[:5]).decode() for view in skep.attachments()]
@worker.command
def attributes():
    view = skep.attachments()[0]
    return [view.readonly, view.format, view.nbytes, view.c_contiguous]
@worker.command
def look_again():
    return bytes(kept[0]).decode()
@worker.command
def drop():
    kept.clear()
"""


class Region:
    """A region of the host, which it can write."""

    def __init__(self, size):
        self.descriptor = os.memfd_create("region", os.MFD_CLOEXEC)
        os.ftruncate(self.descriptor, size)
        self.memory = mmap.mmap(self.descriptor, size)
        self.size = size


class SharedCase(HostCase):
    """A worker that shares memory with this host, which grants its requests for regions."""

    def start_shared(self, source=COMMANDS, shared=LIMITS, **welcome):
        return self.welcome(self.start(source, ready=False, shared=True), shared=shared, **welcome)

    def start_threads(self, threads, shared=LIMITS):
        script = "import skep\nworker = skep.Worker(thread_safe=True)\n" + COMMANDS + "\nworker.run()\n"
        host = self.start_script(script, ready=False, shared=True, env={"SKEP_THREADS": str(threads)})
        return self.welcome(host, shared=shared)

    def welcome(self, host, **welcome):
        self.host = host
        self.hello = host.receive()
        host.welcome(**welcome)
        self.assertEqual(host.receive(), {"type": "ready"})
        self.regions = {}
        return host

    def send_packet(self, message, descriptor):
        rights = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [descriptor]))]
        self.host.line.sendmsg([json.dumps(message).encode()], rights)

    def receive_request(self):
        """The size of the region that the worker asks for next."""
        request = self.host.receive(self.host.control)
        self.assertEqual(request["type"], "region")
        return request["bytes"]

    def grant(self, size=None):
        """Grants the next request. Returns the number of the region."""
        region = Region(self.receive_request() if size is None else size)
        number = len(self.regions) + 1
        self.regions[number] = region
        self.send_packet({"region": number, "bytes": region.size, "results": 1}, region.descriptor)
        return number

    def check_no_request(self):
        self.assertEqual(self.host.ping()["type"], "pong")

    def content(self, item):
        """The bytes of a received attachment, wherever they are."""
        if not isinstance(item, dict):
            return bytes(item)
        self.assertEqual(set(item), {"region", "at", "bytes"})
        self.assertEqual(item["at"] % STEP, 0)
        return bytes(self.regions[item["region"]].memory[item["at"] : item["at"] + item["bytes"]])

    def give(self, size, fill=1, **more):
        """Calls `give`, and returns the attachment as it came."""
        self.assertEqual(self.host.call("give", {"size": size, "fill": fill}, **more), {"$attachment": 0})
        (item,) = self.host.received_attachments
        self.assertEqual(self.content(item), bytes([fill]) * size)
        return item

    def begin_sharing(self, size):
        """Makes the worker ask for a region by a result of this size, and grants it."""
        self.assertIsInstance(self.give(size), bytes)
        return self.grant()


def place(item):
    return [item["region"], item["at"]]
