"""Frames."""

import socket
import struct
import threading
import unittest

from host import frame
from skep._wire.channel import Channel, frame_length
from skep._wire.errors import ProtocolError


def channel_reading(*chunks):
    """A channel that receives the given bytes, in those pieces, then the end of the stream."""
    pieces = list(chunks)

    def receive_into(view):
        if not pieces:
            return 0
        taken, rest = pieces[0][: len(view)], pieces[0][len(view) :]
        pieces[:1] = [rest] if rest else []
        view[: len(taken)] = taken
        return len(taken)

    return Channel(receive_into, None, None)


class Receiving(unittest.TestCase):
    message = {"type": "call", "text": "grüße \u0000 \U0001f41d"}

    def test_one_frame_in_one_piece(self):
        channel = channel_reading(frame(self.message))
        self.assertEqual(channel.receive().message, self.message)
        self.assertIsNone(channel.receive())

    def test_byte_by_byte(self):
        data = frame(self.message, [b"abc"])
        received = channel_reading(*(data[i : i + 1] for i in range(len(data)))).receive()
        self.assertEqual(received.message["text"], self.message["text"])
        self.assertEqual(list(map(bytes, received.attachments)), [b"abc"])

    def test_several_frames_in_one_piece(self):
        channel = channel_reading(b"".join(frame({"n": n}) for n in range(10000)))
        for n in range(10000):
            self.assertEqual(channel.receive().message, {"n": n})
        self.assertFalse(channel.has_input)

    def test_a_frame_bigger_than_the_buffer_and_one_behind_it(self):
        big = {"text": "x" * 1_000_000}
        channel = channel_reading(frame({"n": 1}) + frame(big) + frame({"n": 2}))
        self.assertEqual([channel.receive().message for _ in range(3)], [{"n": 1}, big, {"n": 2}])

    def test_a_huge_frame_and_one_behind_it(self):
        huge = b"x" * (33 * 1024 * 1024)
        channel = channel_reading(frame({"n": 1}, [huge, b"y"]) + frame({"n": 2}))
        attachments = channel.receive().attachments
        self.assertEqual(channel.receive().message, {"n": 2})
        self.assertTrue(attachments[0] == huge and attachments[1] == b"y")
        self.assertTrue(attachments[0].readonly)

    def test_attachments_stay_valid_after_the_next_frames(self):
        channel = channel_reading(frame({}, [b"one", b"", b"two" * 50_000]), *[frame({"n": "z" * 60_000})] * 3)
        attachments = channel.receive().attachments
        while channel.receive():
            pass
        self.assertEqual(list(map(bytes, attachments)), [b"one", b"", b"two" * 50_000])
        self.assertTrue(attachments[0].readonly)

    def test_a_stream_that_ends_anywhere_in_a_frame(self):
        data = frame(self.message, [b"abc"])
        for size in range(len(data)):
            self.assertIsNone(channel_reading(data[:size]).receive())

    def test_frames_that_break_the_protocol(self):
        def raw(body, length=None, json_length=None, rest=b""):
            length = 4 + len(body) + len(rest) if length is None else length
            return struct.pack(">II", length, len(body) if json_length is None else json_length) + body + rest

        for name, data, said in (
            ("too long", raw(b"", length=2**32 - 1), "longer than the limit of 67108864"),
            ("just too long", raw(b"", length=64 * 1024 * 1024 + 1), "longer than the limit"),
            ("length zero", raw(b"", length=0), "cannot hold"),
            ("JSON longer than the frame", raw(b"{}", length=6, json_length=3), "cannot hold a JSON object of 3"),
            ("not JSON", raw(b"{oops"), "does not hold JSON"),
            ("no JSON", raw(b""), "does not hold JSON"),
            ("not UTF-8", raw(b'{"a":"\xff"}'), "does not hold JSON"),
            ("NaN", raw(b'{"a":NaN}'), "does not hold JSON"),
            ("too deep", raw(b"[" * 10**6), "does not hold JSON"),
            ("an array", raw(b"[]"), "list instead of an object"),
            ("unannounced attachment", raw(b"{}", rest=b"abc"), "3 bytes of attachments but announces None"),
            ("missing attachment", raw(b'{"attachments":[4]}', rest=b"abc"), r"announces \[4\]"),
            ("negative attachment", raw(b'{"attachments":[4,-1]}', rest=b"abc"), r"announces \[4, -1\]"),
            ("odd attachments", raw(b'{"attachments":3}', rest=b"abc"), "announces 3"),
        ):
            with self.subTest(name), self.assertRaisesRegex(ProtocolError, said):
                channel_reading(data).receive()

    def test_a_frame_at_the_limit(self):
        data = frame(self.message)
        channel = channel_reading(data, data)
        channel.limit = len(data) - 4
        self.assertEqual(channel.receive().message, self.message)
        channel.limit -= 1
        with self.assertRaises(ProtocolError):
            channel.receive()


class Sending(unittest.TestCase):
    def test_what_is_sent_is_received(self):
        left, right = socket.socketpair()
        with left, right:
            Channel.over_socket(left).send([b'{"attachments":', b'[3]}'], [memoryview(b"abc")])
            received = Channel.over_socket(right).receive()
        self.assertEqual(received.message, {"attachments": [3]})
        self.assertEqual(bytes(received.attachments[0]), b"abc")

    def test_small_frames_are_one_write_and_big_ones_are_not_copied(self):
        writes = []
        channel = Channel(None, lambda data: writes.append(bytes(data)), writes.extend)
        channel.send([b"{}"], [b"a", b"b"])
        self.assertEqual(writes, [struct.pack(">II", 8, 2) + b"{}ab"])
        del writes[:]
        big = b"x" * 100_000
        channel.send([b"{}"], [big])
        self.assertEqual(writes, [struct.pack(">II", 100_006, 2), b"{}", big])
        self.assertIs(writes[2], big)
        self.assertEqual(frame_length([b"{}"], [big]), 100_006)

    def test_messages_in_one_write(self):
        writes = []
        channel = Channel(None, lambda data: writes.append([bytes(data)]), lambda parts: writes.append(list(parts)))
        channel.send_all_of([((b"{", b"}"), ()), ((b"[]",), (b"a",))])
        first = struct.pack(">II", 6, 2) + b"{}"
        second = struct.pack(">II", 7, 2) + b"[]a"
        self.assertEqual(writes, [[first + second]])
        del writes[:]
        big = b"x" * 100_000
        head = struct.pack(">II", 100_006, 2)
        channel.send_all_of([((b"{}",), ()), ((b"{}",), (big,)), ((b"[]",), (b"a",))])
        self.assertEqual(writes, [[first + head, b"{}", big, second]])
        self.assertIs(writes[0][2], big)

    def test_many_messages_of_all_sizes(self):
        bodies = [b"{%b}" % (b" " * (n * 37 % 9000)) for n in range(2000)]
        left, right = socket.socketpair()
        with left, right:
            messages = [((body,), (b"xy",) if len(body) % 2 else ()) for body in bodies]
            sender = threading.Thread(target=Channel.over_socket(left).send_all_of, args=(messages,))
            sender.start()
            expected = b"".join(
                struct.pack(">II", 4 + len(body) + sum(map(len, parts)), len(body)) + body + b"".join(parts)
                for (body,), parts in messages
            )
            received = b""
            while len(received) < len(expected):
                received += right.recv(100_000)
            sender.join()
        self.assertTrue(received == expected)

    def test_more_than_the_socket_takes_at_once(self):
        parts = [bytes([n % 256]) * (n * 7 % 1000) for n in range(3000)]  # and more parts than one call takes
        parts[1500] = b"x" * 1_000_000
        left, right = socket.socketpair()
        with left, right:
            sender = threading.Thread(target=Channel.over_socket(left).send, args=([b"{}"], parts))
            sender.start()
            body = b""
            while len(body) < 10 + sum(map(len, parts)):
                body += right.recv(100_000)
            sender.join()
        self.assertEqual(body[8:], b"{}" + b"".join(parts))


if __name__ == "__main__":
    unittest.main()
