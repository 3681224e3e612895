"""Attachments in memory of the host: their views, their release, and hosts that break the rules."""

import array
import json
import socket
import unittest

from shared_host import HAS_NUMPY, LOOKING_COMMANDS, Region, SharedCase

SIZE = 64 * 1024

COMMANDS = LOOKING_COMMANDS + """
import os
kept = []
@worker.command
def keep():
    kept.append(skep.attachments()[0][1:3])
@worker.command
def write():
    copy = skep.attachments(writable=True)[0]
    copy[:5] = b"WORLD"
    return [bytes(copy[:5]).decode(), bytes(skep.attachments()[0][:5]).decode()]
@worker.command
def fork():
    views = skep.attachments()
    child = os.fork()
    if child == 0:
        del views
        kept.clear()
        os._exit(0)
    os.waitpid(child, 0)
@worker.command
def fail():
    view = skep.attachments()[0]
    raise ValueError("no")
"""

NUMPY = """
import numpy
@worker.command
def total():
    array = numpy.frombuffer(skep.attachments()[0], dtype=numpy.uint8)
    kept.append(array[3:5])
    return int(array.sum())
@worker.command
def look_at_array():
    return kept[0].tolist()
"""

ASYNC = """
@worker.command
async def look():
    return [bytes(view[:5]).decode() for view in skep.attachments()]
"""


class RegionsCase(SharedCase):
    def start_shared(self, source=COMMANDS, **welcome):
        return super().start_shared(source, **welcome)

    def announce(self, host, number, region, text=None):
        packet = json.dumps({"region": number, "bytes": region.size}) if text is None else text
        host.line.sendmsg([packet.encode()], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [region.descriptor]))])

    def place(self, number, begin, size=10):
        return {"region": number, "at": begin, "bytes": size}

    def release(self, host):
        return host.receive(host.control)


class ViewsTest(RegionsCase):
    def test_a_worker_says_that_it_can_share(self):
        self.start_shared()
        self.assertEqual(self.hello["shared"], 1)

    def test_a_worker_without_a_line_does_not(self):
        self.assertNotIn("shared", self.start("", ready=False).receive())

    def test_an_attachment_is_seen_and_released_after_the_call(self):
        host, region = self.start_shared(), Region(SIZE)
        region.memory[4096:4101] = b"hello"
        self.announce(host, 1, region)
        for _ in range(3):
            self.assertEqual(host.call("look", attachments=[self.place(1, 4096)]), ["hello"])
            self.assertEqual(self.release(host), {"type": "release", "region": 1, "at": 4096})

    def test_attachments_of_both_kinds(self):
        host, region = self.start_shared(), Region(SIZE)
        region.memory[0:5] = b"first"
        region.memory[4096:4101] = b"third"
        self.announce(host, 7, region)
        parts = [self.place(7, 0), b"second", self.place(7, 4096, SIZE - 4096), b""]
        self.assertEqual(host.call("look", attachments=parts), ["first", "secon", "third", ""])
        released = sorted(self.release(host)["at"] for _ in range(2))
        self.assertEqual(released, [0, 4096])

    def test_a_view_is_read_only_bytes(self):
        host, region = self.start_shared(), Region(SIZE)
        self.announce(host, 1, region)
        self.assertEqual(host.call("attributes", attachments=[self.place(1, 0, 5000)]), [True, "B", 5000, True])

    def test_a_part_of_a_view_keeps_the_place(self):
        host, region = self.start_shared(), Region(SIZE)
        region.memory[0:5] = b"hello"
        self.announce(host, 1, region)
        host.call("keep", attachments=[self.place(1, 0)])
        host.call("look", attachments=[self.place(1, 4096)])
        self.assertEqual(self.release(host)["at"], 4096)
        self.assertEqual(host.call("look_again"), "el")
        self.assertEqual(host.ping()["type"], "pong")
        host.call("drop")
        self.assertEqual(self.release(host), {"type": "release", "region": 1, "at": 0})

    def test_a_failed_call_releases(self):
        host, region = self.start_shared(), Region(SIZE)
        self.announce(host, 1, region)
        host.call_error("fail", attachments=[self.place(1, 0)])
        host.call("drop")
        self.assertEqual(self.release(host), {"type": "release", "region": 1, "at": 0})

    def test_a_writable_copy_changes_nothing(self):
        host, region = self.start_shared(), Region(SIZE)
        region.memory[8192:8197] = b"hello"
        self.announce(host, 1, region)
        place = self.place(1, 8192)
        self.assertEqual(host.call("write", attachments=[place]), ["WORLD", "hello"])
        self.assertEqual(self.release(host)["at"], 8192)
        self.assertEqual(bytes(region.memory[8192:8197]), b"hello")
        region.memory[8192:8197] = b"other"  # the next attachment there
        self.assertEqual(host.call("look", attachments=[place]), ["other"])

    def test_a_forked_child_releases_nothing(self):
        host, region = self.start_shared(), Region(SIZE)
        self.announce(host, 1, region)
        host.call("fork", attachments=[self.place(1, 0)])
        self.assertEqual(self.release(host)["at"], 0)
        self.assertEqual(host.ping()["type"], "pong")

    def test_an_async_worker_releases_before_its_next_call(self):
        host, region = self.start_shared(ASYNC), Region(SIZE)
        region.memory[0:5] = b"hello"
        self.announce(host, 1, region)
        for _ in range(3):
            self.assertEqual(host.call("look", attachments=[self.place(1, 0)]), ["hello"])
            self.assertEqual(self.release(host)["at"], 0)

    @unittest.skipUnless(HAS_NUMPY, "needs numpy")
    def test_an_array_keeps_the_place(self):
        host, region = self.start_shared(COMMANDS + NUMPY), Region(SIZE)
        region.memory[0:5] = bytes([1, 2, 3, 4, 5])
        self.announce(host, 1, region)
        self.assertEqual(host.call("total", attachments=[self.place(1, 0)]), 15)
        self.assertEqual(host.call("look_at_array"), [4, 5])
        self.assertEqual(host.ping()["type"], "pong")
        host.call("drop")
        self.assertEqual(self.release(host)["at"], 0)

    def test_several_regions_are_announced_at_once(self):
        host, regions = self.start_shared(), [Region(SIZE), Region(SIZE), Region(SIZE)]
        for number, region in enumerate(regions, 1):
            region.memory[0:5] = b"in %02d" % number
            self.announce(host, number, region)
        self.assertEqual(host.call("look", attachments=[self.place(3, 0), self.place(1, 0)]), ["in 03", "in 01"])


class BadHostTest(RegionsCase):
    def check_end(self, prepare, attachments, words):
        host = self.start_shared()
        prepare(host)
        host.send_call("look", attachments=attachments)
        status, _, said = host.finish()
        self.assertEqual(status, 76)
        self.assertIn(words, said)

    def test_a_region_that_was_not_announced(self):
        self.check_end(lambda host: None, [self.place(1, 0)], "has not come")
        for number in (1, 0, -1):
            with self.subTest(number=number):
                prepare = lambda host: self.announce(host, 2, Region(SIZE))
                self.check_end(prepare, [self.place(2, 0), self.place(number, 0)], "is not there")

    def test_regions_out_of_order(self):
        def prepare(host):
            self.announce(host, 2, Region(SIZE))
            self.announce(host, 2, Region(SIZE))

        self.check_end(prepare, [self.place(3, 0)], "has come after")

    def test_a_place_outside_of_its_region(self):
        for begin, size in ((SIZE, 1), (0, SIZE + 1), (-1, 1), (0, 0), (0, -1), (2**62, 2**62)):
            with self.subTest(begin=begin, size=size):
                self.check_end(lambda host: self.announce(host, 1, Region(SIZE)), [self.place(1, begin, size)], "outside")

    def test_a_malformed_place(self):
        for place in ({}, {"region": 1, "at": 0}, {"region": "1", "at": 0, "bytes": 1}, {"region": 1, "at": 0.5, "bytes": 1}):
            with self.subTest(place=place):
                self.check_end(lambda host: self.announce(host, 1, Region(SIZE)), [place], "malformed")

    def test_a_packet_without_a_descriptor(self):
        self.check_end(lambda host: host.line.send(b'{"region":1,"bytes":4096}'), [self.place(1, 0)], "without its memory")

    def test_malformed_packets(self):
        for text in ("", "[]", "{}", "{", '{"region":1,"bytes":0}', '{"region":1,"bytes":"a"}', '{"region":null,"bytes":4096}'):
            with self.subTest(text=text):
                self.check_end(lambda host: self.announce(host, 1, Region(SIZE), text or " "), [self.place(1, 0)], "cannot be mapped")

    def test_memory_smaller_than_announced(self):
        text = json.dumps({"region": 1, "bytes": 2 * SIZE})
        self.check_end(lambda host: self.announce(host, 1, Region(SIZE), text), [self.place(1, 0)], "cannot be mapped")

    def test_a_place_before_the_welcome_allows_it(self):
        host = self.start(COMMANDS, shared=True)  # its welcome does not speak of memory
        self.announce(host, 1, Region(SIZE))
        host.send_call("look", attachments=[self.place(1, 0)])
        self.assertEqual(host.finish()[0], 76)


if __name__ == "__main__":
    unittest.main()
