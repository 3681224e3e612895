"""Nothing of a call that is answered stays in the worker."""

import os
import select
import unittest

from host import TIMEOUT, HostCase

# Without the garbage collector, whose next run may be far away in an idle worker.
SOURCE = """
import gc, weakref
gc.disable()
class Data(bytearray):
    def to_dict(self): return None
def watch(value, name):
    weakref.finalize(value, print, name, "is gone").atexit = False
    return value
@worker.command
def take(kind):
    watch(skep.attachments()[0], "request")
    return kinds[kind]()
kinds = {
    "attachment": lambda: [watch(Data(b"x" * 1000), "result"), b"y"],
    "refused": lambda: {"items": [watch(Data(), "result"), 1j]},
    "too deep": lambda: [watch(Offering([[[[]]]]), "result")],
    "raised": lambda: fail(watch(Data(), "result")),
    "data": lambda: blame(watch(Data(), "result")),
    "bad data": lambda: blame([watch(Data(), "result"), 1j]),
}
class Offering:
    def __init__(self, value): self.value = value
    def to_dict(self): return self.value
def fail(value): raise ValueError
def blame(data): raise skep.Error("code", data=data)
"""


class Leftovers(HostCase):
    def two_lines(self, host):
        """What the worker prints, in alphabetical order."""
        printed = b""
        while printed.count(b"\n") < 2 and select.select([host.process.stdout], [], [], TIMEOUT)[0]:
            printed += os.read(host.process.stdout.fileno(), 1000)
        return sorted(printed.decode().splitlines(keepends=True))

    def test_while_the_worker_idles_request_and_result_are_gone(self):
        for kind in ("attachment", "refused", "too deep", "raised", "data", "bad data"):
            with self.subTest(kind):
                host = self.start(SOURCE, ready=False)
                host.handshake(json_depth=4)
                host.send_call("take", {"kind": kind}, [b"z" * 1000])
                self.assertEqual(host.receive()["type"], "result" if kind == "attachment" else "error")
                self.assertEqual(self.two_lines(host), ["request is gone\n", "result is gone\n"])

    def test_a_bytearray_that_was_sent_may_grow(self):
        host = self.start(
            "data = bytearray(b'ab')\n"
            "@worker.command\ndef show(): return data\n"
            "@worker.command\ndef grow(): data.extend(b'c'); return data\n"
        )
        for command, expected in (("show", b"ab"), ("grow", b"abc"), ("grow", b"abcc")):
            host.call(command)
            self.assertEqual(host.received_attachments, [expected])


if __name__ == "__main__":
    unittest.main()
