"""Attachments in sealed memory: skep.shared(), memory that the host has sealed, and its way back."""

import array
import errno
import fcntl
import json
import os
import socket
import threading
import unittest
from types import SimpleNamespace

from host import HostCase
from shared_host import HAS_NUMPY, LEAST, LIMITS, LOOKING_COMMANDS, SharedCase
from skep._wire.line import Line

ADD_SEALS, GET_SEALS = 1033, 1034
SHRINK, GROW, WRITE, SEAL = 2, 4, 8, 1
SIZE = 16 * LEAST

COMMANDS = LOOKING_COMMANDS + """
import mmap, os
kept = []
@worker.command
def make(size, fill=1, begin=0, end=None):
    out = skep.shared(size)
    assert bytes(out) == bytes(size) and not out.readonly and out.format == "B"
    out[:] = bytes([fill]) * size
    return out[begin:end]
@worker.command
def keep(size):
    kept.append(skep.shared(size))
    kept[-1][:] = b"1" * size
    return kept[-1]
@worker.command
def write(letter):
    kept[-1][:] = letter.encode() * len(kept[-1])
    return bytes(kept[-1][:3]).decode()
@worker.command
def give_again():
    return kept[-1]
@worker.command
def make_two(size):
    one, two = skep.shared(size), skep.shared(size)
    one[:], two[:] = b"1" * size, b"2" * size
    return [one[: size // 2], one[size // 2 :], two]
@worker.command
def make_many(count, size):
    return [skep.shared(size) for _ in range(count)]
@worker.command
def make_readonly(size):
    return skep.shared(size).toreadonly()
@worker.command
def make_pinned(size):
    out = skep.shared(size)
    kept.append(mmap.mmap(out.obj.memory.fileno(), size))
    out[:] = b"p" * size
    return out
@worker.command
def make_unused(size):
    out = skep.shared(size)
    out[0] = 1
    return len(out)
@worker.command
def make_beside_child(size):
    out = skep.shared(size)
    out[:] = b"1" * size
    read, written = os.pipe()
    child = os.fork()
    if child == 0:
        out[:] = b"2" * size
        other = skep.shared(size)
        other[:] = b"3" * size
        os.write(written, bytes(out[:1]) + bytes(other[:1]))
        os._exit(0)
    os.waitpid(child, 0)
    assert os.read(read, 2) == b"23"
    return out
@worker.command
def stream(sizes):
    for index, size in enumerate(sizes, 1):
        out = skep.shared(size)
        out[:] = bytes([index]) * size
        yield out
@worker.command
def ask(size):
    out = skep.shared(size)
    out[:] = b"t" * size
    return skep.call_host("take", data=out)
@worker.command
def errors():
    found = []
    for size in (0, -1, 1.5, "1", None):
        try:
            skep.shared(size)
        except (ValueError, TypeError) as error:
            found.append(f"{type(error).__name__}: {error}")
    return found
@worker.command
def mapped():
    with open("/proc/self/maps") as maps:
        pages = sum("/memfd:" in line for line in maps)
    descriptors = [os.path.join("/proc/self/fd", name) for name in os.listdir("/proc/self/fd")]
    return [pages, sum("/memfd:" in os.readlink(each) for each in descriptors if os.path.islink(each))]
@worker.command
def change():
    copy = skep.attachments(writable=True)[0]
    copy[:5] = b"WORLD"
    return [bytes(copy[:5]).decode(), bytes(skep.attachments()[0][:5]).decode(), len(copy)]
@worker.command
def keep_received():
    kept.append(skep.attachments()[0][1:3])
@worker.command
def echo(begin=0, end=None):
    return skep.attachments()[0][begin:end]
@worker.command
def echo_kept():
    return kept[0]
@worker.command
def small(n):
    return n
"""

NUMPY = """
import numpy
@worker.command
def make_array(rows, columns, is_view):
    image = numpy.ndarray((rows, columns), "f4", skep.shared(rows * columns * 4))
    image[:] = numpy.arange(rows * columns).reshape(rows, columns)
    if is_view:
        return image[rows // 2 :]
    return image
@worker.command
def make_from_buffer(size):
    array = numpy.frombuffer(skep.shared(size), "u1")
    array[:] = 9
    return {"x": array, "n": 1}
@worker.command
def total():
    return int(numpy.frombuffer(skep.attachments()[0], "u1").sum())
@worker.command
def echo_array():
    return numpy.frombuffer(skep.attachments()[0], "u1")[4:]
"""


class SealedCase(SharedCase):
    def start_shared(self, source=COMMANDS, **more):
        self.sent = self.received = 0
        return super().start_shared(source, **more)

    def take_sealed(self, item):
        """The content of an attachment that came sealed, after checks of its memory."""
        self.received += 1
        self.assertEqual(set(item), {"sealed", "at", "bytes"})
        self.assertEqual(item["sealed"], self.received)
        text, descriptor = self.take_packet()
        try:
            size = os.fstat(descriptor).st_size
            self.assertEqual(text, {"sealed": self.received, "bytes": size})
            self.assertEqual(fcntl.fcntl(descriptor, GET_SEALS), SHRINK | GROW | WRITE | SEAL)
            self.assertGreaterEqual(os.fstat(descriptor).st_blocks * 512, size)
            self.assertLessEqual(item["at"] + item["bytes"], size)
            return os.pread(descriptor, item["bytes"], item["at"])
        finally:
            os.close(descriptor)

    def take_packet(self):
        text, ancillary, _, _ = self.host.line.recvmsg(256, socket.CMSG_SPACE(4))
        (descriptor,) = array.array("i", ancillary[0][2])
        return json.loads(text), descriptor

    def seal(self, content):
        """Announces sealed memory with this content. Returns its number."""
        descriptor = os.memfd_create("sealed", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
        os.write(descriptor, content)
        fcntl.fcntl(descriptor, ADD_SEALS, SHRINK | GROW | WRITE | SEAL)
        self.sent += 1
        self.send_packet({"sealed": self.sent, "bytes": len(content)}, descriptor)
        os.close(descriptor)
        return self.sent

    def item(self, content, begin=0, end=None):
        return {"sealed": self.seal(content), "at": begin, "bytes": len(content[begin:end])}

    def call_for_item(self, command, args=(), **more):
        self.assertEqual(self.host.call(command, args, **more), {"$attachment": 0})
        (item,) = self.host.received_attachments
        return item


class OwnMemoryTest(SealedCase):
    def test_it_is_passed_on_without_a_copy(self):
        self.start_shared()
        for fill in (1, 2, 3):
            item = self.call_for_item("make", {"size": SIZE, "fill": fill})
            self.assertEqual((item["at"], item["bytes"]), (0, SIZE))
            self.assertEqual(self.take_sealed(item), bytes([fill]) * SIZE)
        self.check_no_request()

    def test_a_slice(self):
        self.start_shared()
        item = self.call_for_item("make", {"size": SIZE, "begin": 100, "end": 100 + LEAST})
        self.assertEqual((item["at"], item["bytes"]), (100, LEAST))
        self.assertEqual(self.take_sealed(item), b"\1" * LEAST)

    def test_a_small_slice_comes_in_the_frame(self):
        self.start_shared()
        self.assertEqual(self.call_for_item("make", {"size": SIZE, "end": LEAST - 1}), b"\1" * (LEAST - 1))

    def test_a_size_that_is_not_a_number_of_pages(self):
        self.start_shared()
        item = self.call_for_item("make", {"size": SIZE + 17})
        self.assertEqual(self.take_sealed(item), b"\1" * (SIZE + 17))

    def test_a_readonly_view(self):
        self.start_shared()
        self.assertEqual(self.take_sealed(self.call_for_item("make_readonly", {"size": SIZE})), bytes(SIZE))

    def test_sizes_that_are_not_shared(self):
        self.start_shared()
        for size in (1, LEAST - 1, LIMITS["bytes"] + 1):
            self.assertEqual(self.call_for_item("make", {"size": size}), b"\1" * size)

    def test_later_changes_remain_in_the_worker(self):
        host = self.start_shared()
        item = self.call_for_item("keep", {"size": SIZE})
        self.assertEqual(host.call("write", {"letter": "2"}), "222")
        self.assertEqual(self.take_sealed(item), b"1" * SIZE)
        self.assertEqual(host.call("write", {"letter": "3"}), "333")

    def test_a_second_use_is_a_copy(self):
        host = self.start_shared()
        self.take_sealed(self.call_for_item("keep", {"size": SIZE}))
        host.call("write", {"letter": "2"})
        self.assertEqual(self.call_for_item("give_again"), b"2" * SIZE)
        self.grant()
        copy = self.call_for_item("give_again")
        host.call("write", {"letter": "3"})
        self.assertEqual(self.content(copy), b"2" * SIZE)

    def test_memory_has_one_attachment(self):
        host = self.start_shared()
        host.call("make_two", {"size": SIZE})
        first, second, third = host.received_attachments
        self.assertEqual(self.take_sealed(first), b"1" * (SIZE // 2))
        self.assertEqual(second, b"1" * (SIZE // 2))
        self.assertEqual(self.take_sealed(third), b"2" * SIZE)

    def test_a_message_has_few_sealed_attachments(self):
        host = self.start_shared()
        host.call("make_many", {"count": 20, "size": LEAST})
        items = host.received_attachments
        self.assertEqual([type(item) for item in items], [dict] * 8 + [bytes] * 12)
        for item in items[:8]:
            self.assertEqual(self.take_sealed(item), bytes(LEAST))

    def test_a_host_may_take_packets_late(self):
        host = self.start_shared()

        def send():
            for fill in range(1000):
                host.send_call("make", {"size": LEAST, "fill": fill % 256})

        sender = threading.Thread(target=send)
        sender.start()
        for _ in range(100):  # the worker waits for room, and still hears its host
            host.ping()
        for fill in range(1000):
            self.assertEqual(host.receive()["id"], fill + 1)
            self.assertEqual(self.take_sealed(host.received_attachments[0]), bytes([fill % 256]) * LEAST)
        sender.join()

    def test_pinned_memory_is_copied(self):
        self.start_shared()
        self.assertEqual(self.call_for_item("make_pinned", {"size": SIZE}), b"p" * SIZE)
        self.grant()
        self.assertEqual(self.content(self.call_for_item("make_pinned", {"size": SIZE})), b"p" * SIZE)

    def test_it_is_gone_with_its_last_view(self):
        host = self.start_shared()
        self.assertEqual(host.call("mapped"), [0, 0])
        self.assertEqual(host.call("make_unused", {"size": SIZE}), SIZE)
        self.assertEqual(host.call("mapped"), [0, 0])
        self.take_sealed(self.call_for_item("make", {"size": SIZE}))
        self.assertEqual(host.call("mapped"), [0, 0])
        self.take_sealed(self.call_for_item("keep", {"size": SIZE}))
        self.assertEqual(host.call("mapped"), [1, 1])
        host.call("drop")
        self.assertEqual(host.call("mapped"), [0, 0])

    def test_a_forked_child_keeps_what_it_sees(self):
        self.start_shared()
        item = self.call_for_item("make_beside_child", {"size": SIZE})
        self.assertEqual(self.take_sealed(item), b"1" * SIZE)

    def test_chunks(self):
        host = self.start_shared()
        host.send_call("stream", {"sizes": [SIZE, LEAST, SIZE]}, stream={"chunks": 10, "bytes": SIZE + LEAST // 2})
        for index, size in enumerate((SIZE, LEAST), 1):
            self.assertEqual(host.receive()["type"], "chunk")
            self.assertEqual(self.take_sealed(host.received_attachments[0]), bytes([index]) * size)
        host.tell({"type": "credit", "id": host.last_id, "credit": {"chunks": 0, "bytes": SIZE}})
        self.assertEqual(host.receive()["type"], "chunk")
        self.assertEqual(self.take_sealed(host.received_attachments[0]), b"\3" * SIZE)
        self.assertEqual(host.receive()["type"], "result")

    def test_a_cancelled_chunk_is_dropped(self):
        host = self.start_shared()
        host.send_call("stream", {"sizes": [SIZE, SIZE]}, stream={"chunks": 1, "bytes": SIZE})
        self.assertEqual(host.receive()["type"], "chunk")
        self.take_sealed(host.received_attachments[0])
        host.cancel(host.last_id)
        self.assertEqual(host.receive()["type"], "error")
        self.assertEqual(host.call("mapped"), [0, 0])
        self.take_sealed(self.call_for_item("make", {"size": SIZE}))

    def test_arguments_of_tools(self):
        host = self.start_shared()
        host.send_call("ask", {"size": SIZE})
        request = host.receive_tool_call()
        self.assertEqual(self.take_sealed(host.received_attachments[0]), b"t" * SIZE)
        host.answer_tool(request, 5)
        self.assertEqual(host.receive()["value"], 5)

    def test_frame_limits_do_not_count_it(self):
        self.start_shared(limits={"frame_bytes": 16 * 1024})
        self.assertEqual(self.take_sealed(self.call_for_item("make", {"size": SIZE})), b"\1" * SIZE)

    def test_wrong_sizes(self):
        host = self.start_shared()
        found = host.call("errors")
        self.assertEqual(found[:2], [f"ValueError: shared memory has 1 byte or more, not {size}" for size in (0, -1)])
        self.assertEqual([text.partition(":")[0] for text in found[2:]], ["TypeError"] * 3)

    @unittest.skipUnless(HAS_NUMPY, "needs numpy")
    def test_arrays_of_numpy(self):
        host = self.start_shared(COMMANDS + NUMPY)
        for is_view in (False, True):
            value = host.call("make_array", {"rows": 64, "columns": 64, "is_view": is_view})
            content = array.array("f")
            content.frombytes(self.take_sealed(host.received_attachments[0]))
            first = 32 * 64 if is_view else 0
            self.assertEqual(content.tolist(), list(range(first, 64 * 64)))
            self.assertEqual(value["shape"], [32 if is_view else 64, 64])
        host.call("make_from_buffer", {"size": LEAST})
        self.assertEqual(self.take_sealed(host.received_attachments[0]), b"\t" * LEAST)

    def test_several_threads(self):
        script = "import skep\nworker = skep.Worker(thread_safe=True)\n" + COMMANDS + "\nworker.run()\n"
        host = self.host = self.start_script(script, ready=False, shared=True, env={"SKEP_THREADS": "4"})
        self.sent = self.received = 0
        host.receive()
        host.welcome(shared=LIMITS)
        host.receive()
        sent = {host.send_call("make", {"size": LEAST, "fill": fill}): fill for fill in range(200)}
        while sent:
            fill = sent.pop(host.receive()["id"])
            self.assertEqual(self.take_sealed(host.received_attachments[0]), bytes([fill]) * LEAST)


class ReceivedMemoryTest(SealedCase):
    def test_it_is_seen(self):
        host = self.start_shared()
        for word in (b"hello", b"world"):
            self.assertEqual(host.call("look", attachments=[self.item(word * 1000)]), [word.decode()])
        self.assertEqual(host.call("mapped"), [0, 0])

    def test_a_part_of_it(self):
        host = self.start_shared()
        content = b"x" * 5000 + b"hello" + b"y" * 5000
        self.assertEqual(host.call("look", attachments=[self.item(content, 5000, 5005)]), ["hello"])
        self.assertEqual(host.call("attributes", attachments=[self.item(content, 5000)]), [True, "B", 5005, True])

    def test_a_writable_copy(self):
        host = self.start_shared()
        content = b"x" * 5000 + b"hello" + b"y" * 5000
        self.assertEqual(host.call("change", attachments=[self.item(content, 5000)]), ["WORLD", "hello", 5005])

    def test_it_remains_while_it_is_viewed(self):
        host = self.start_shared()
        host.call("keep_received", attachments=[self.item(b"hello" * 1000)])
        for _ in range(3):
            host.call("look", attachments=[self.item(b"other" * 1000)])
        self.assertEqual(host.call("look_again"), "el")
        self.assertEqual(host.call("mapped"), [1, 1])
        host.call("drop")
        self.assertEqual(host.call("mapped"), [0, 0])
        self.check_no_request()  # and no release either

    def test_skipped_memory_is_closed(self):
        host = self.start_shared()
        for _ in range(3):
            self.seal(b"skipped" * 1000)
        self.assertEqual(host.call("look", attachments=[self.item(b"hello")]), ["hello"])
        self.assertEqual(host.call("mapped"), [0, 0])

    def test_several_at_once(self):
        host = self.start_shared()
        items = [self.item(b"one"), b"two", self.item(b"three")]
        self.assertEqual(host.call("look", attachments=items), ["one", "two", "three"])

    def test_it_is_passed_back_without_a_copy(self):
        self.start_shared()
        content = bytes(range(256)) * 64
        for begin, end in ((0, None), (5, None), (1, -1)):
            for _ in range(2):
                item = self.call_for_item("echo", {"begin": begin, "end": end}, attachments=[self.item(content, 100)])
                self.assertEqual(item["at"], 100 + begin)
                self.assertEqual(self.take_sealed(item), content[100:][begin:end])

    def test_kept_memory_is_passed_back_any_number_of_times(self):
        host = self.start_shared(COMMANDS + "@worker.command\ndef keep_all():\n    kept.append(skep.attachments()[0])\n")
        host.call("keep_all", attachments=[self.item(b"hello" * LEAST)])
        for _ in range(3):
            self.assertEqual(self.take_sealed(self.call_for_item("echo_kept")), b"hello" * LEAST)

    @unittest.skipUnless(HAS_NUMPY, "needs numpy")
    def test_arrays_of_numpy(self):
        host = self.start_shared(COMMANDS + NUMPY)
        content = b"\2" * LEAST * 2
        self.assertEqual(host.call("total", attachments=[self.item(content)]), 4 * LEAST)
        host.call("echo_array", attachments=[self.item(content)])
        (item,) = host.received_attachments
        self.assertEqual(item["at"], 4)
        self.assertEqual(self.take_sealed(item), content[4:])

    def test_kept_views_never_change(self):
        host = self.start_shared(
            "kept = []\n@worker.command\ndef keep():\n    kept.append(skep.attachments()[0])\n    del kept[:-50]\n"
            "    return [int(view[0]) for view in kept]\n"
        )
        for number in range(1000):
            values = host.call("keep", attachments=[self.item(bytes([number % 256]) * LEAST)])
            expected = [each % 256 for each in range(max(0, number - 49), number + 1)]
            self.assertEqual(values, expected)


class BadHostTest(SealedCase):
    def check_end(self, words, prepare, *items):
        host = self.start_shared()
        prepare()
        host.send_call("look", attachments=items)
        status, _, said = host.finish()
        self.assertEqual(status, 76)
        self.assertIn(words, said)

    def announce(self, number, size=5, content=b"hello"):
        descriptor = os.memfd_create("sealed")
        self.addCleanup(os.close, descriptor)
        os.write(descriptor, content)
        self.send_packet({"sealed": number, "bytes": size}, descriptor)

    def test_memory_that_was_not_announced(self):
        self.check_end("has not come", lambda: None, {"sealed": 1, "at": 0, "bytes": 1})
        self.check_end("has not come", lambda: self.announce(1), {"sealed": 2, "at": 0, "bytes": 1})
        self.check_end("is not there", lambda: self.announce(2), {"sealed": 1, "at": 0, "bytes": 1})

    def test_memory_that_is_referred_to_twice(self):
        item = {"sealed": 1, "at": 0, "bytes": 1}
        self.check_end("is not there", lambda: self.announce(1), item, item)

    def test_a_place_outside_of_its_memory(self):
        for begin, size in ((0, 6), (5, 1), (-1, 1), (0, 0), (0, -1), (2**62, 2**62)):
            with self.subTest(begin=begin, size=size):
                self.check_end("outside", lambda: self.announce(1), {"sealed": 1, "at": begin, "bytes": size})

    def test_memory_that_is_smaller_than_announced(self):
        self.check_end("cannot be mapped", lambda: self.announce(1, 6), {"sealed": 1, "at": 0, "bytes": 1})

    def test_numbers_that_do_not_rise(self):
        def prepare():
            self.announce(1)
            self.announce(1)

        self.check_end("has come after", prepare, {"sealed": 1, "at": 0, "bytes": 1})

    def test_malformed_places(self):
        for item in ({"sealed": 1}, {"sealed": "1", "at": 0, "bytes": 1}, {"sealed": 1, "at": 0.0, "bytes": 1}):
            with self.subTest(item=item):
                self.check_end("malformed", lambda: None, item)


class LineTest(unittest.TestCase):
    def test_a_packet_waits_while_too_many_descriptors_travel(self):
        near, far = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        line = Line(near.detach())
        self.addCleanup(line.close)
        self.addCleanup(far.close)
        real, attempts = line._socket, []

        def sendmsg(*args):
            attempts.append(args)
            if len(attempts) < 3:
                raise OSError(errno.ETOOMANYREFS, "too many references")
            return real.sendmsg(*args)

        line._socket = SimpleNamespace(sendmsg=sendmsg, close=real.close)
        with open(os.devnull) as file:
            line.send(b"text", file.fileno())
        self.assertEqual((len(attempts), far.recv(256)), (3, b"text"))


LOCAL = """
import skep
worker = skep.Worker()
@worker.command
def make(size):
    out = skep.shared(size)
    out[:] = b"1" * size
    return out
"""


class OrdinaryMemoryTest(HostCase):
    def check(self, host):
        size = 100_000
        for _ in range(2):
            host.call("make", {"size": size})
            self.assertEqual(host.received_attachments, [b"\1" * size])

    def test_without_a_line(self):
        self.check(self.start(COMMANDS))

    def test_over_stdio(self):
        self.check(self.start(COMMANDS, stdio=True))

    def test_with_an_older_host(self):
        self.check(self.start(COMMANDS, shared=True))

    def test_without_memfd(self):
        host = self.start("import os\ndel os.memfd_create\n" + COMMANDS, ready=False, shared=True)
        host.receive()
        host.welcome(shared=LIMITS)
        host.receive()
        self.check(host)

    def test_before_the_start(self):
        host = self.start("kept = [skep.shared(100_000)]\n" + COMMANDS.replace("kept = []", ""), ready=False, shared=True)
        host.receive()
        host.welcome(shared=LIMITS)
        host.receive()
        host.call("give_again")
        self.assertEqual(host.received_attachments, [bytes(100_000)])

    def test_in_a_local_call(self):
        namespace = {}
        exec(LOCAL, namespace)
        self.assertEqual(namespace["worker"].call("make", size=10_000), b"1" * 10_000)


if __name__ == "__main__":
    unittest.main()
