"""What a command yields goes out as chunks, no faster than the host has credit for."""

import socket
import sys
import threading
import unittest

from host import ROOT, HostCase

sys.path.insert(0, str(ROOT / "lib" / "python"))

from skep._calls.outbox import Batch  # noqa: E402

TOKENS = """
@worker.command
def tokens(count):
    try:
        for index in range(count):
            yield index
        return {"count": count}
    finally:
        print("cleaned up", flush=True)


@worker.command
def plain():
    return "plain"


@worker.command
def blocks(count, size):
    for index in range(count):
        yield {"index": index, "data": bytes([index]) * size}


@worker.command
def stubborn():
    while True:
        try:
            yield "again"
        except BaseException as error:
            print(type(error).__name__, flush=True)


@worker.command
def broken():
    yield 1
    raise ValueError("no second")


@worker.command
def unsendable():
    yield 1
    yield float("nan")


@worker.command
def farewell():
    try:
        while True: yield 0
    finally:
        yield "bye"

@worker.command
def tidy():
    try:
        while True:
            yield 0
    except skep.Cancelled:
        return "put away"
"""

AMPLE = {"chunks": 1000, "bytes": 1 << 20}


class Streams(HostCase):
    def start_stream(self, command, credit=AMPLE, **args):
        self.host = self.start(TOKENS)
        return self.host.send_call(command, args, stream=credit)

    def credit(self, call_id, chunks, size=1 << 20):
        self.host.tell({"type": "credit", "id": call_id, "credit": {"chunks": chunks, "bytes": size}})

    def receive_values(self, count):
        values = []
        for _ in range(count):
            message = self.host.receive()
            self.assertEqual(message["type"], "chunk")
            values.append(message["value"])
        return values

    def test_chunks_come_in_order_and_then_what_was_returned(self):
        call_id = self.start_stream("tokens", count=5)
        self.assertEqual(self.receive_values(5), [0, 1, 2, 3, 4])
        self.assertEqual(self.host.receive(), {"type": "result", "id": call_id, "value": {"count": 5}})
        self.assertEqual(self.host.call("plain"), "plain")

    def test_a_plain_command_is_a_stream_without_chunks(self):
        call_id = self.start_stream("plain")
        self.assertEqual(self.host.receive(), {"type": "result", "id": call_id, "value": "plain"})

    def test_a_call_that_is_no_stream_gets_a_list(self):
        host = self.start(TOKENS)
        self.assertEqual(host.call("tokens", {"count": 3}), [0, 1, 2])
        error = host.call_error("tokens", {"count": 10_001})
        self.assertEqual(error["type"], "skep.ResultTooLarge")
        self.assertIn("call it as a stream", error["message"])

    def test_chunks_carry_attachments(self):
        self.start_stream("blocks", count=2, size=3)
        for index in range(2):
            message = self.host.receive()
            self.assertEqual(message["value"], {"index": index, "data": {"$attachment": 0}})
            self.assertEqual(self.host.received_attachments, [bytes([index]) * 3])

    def test_the_generator_stands_still_without_credit(self):
        call_id = self.start_stream("tokens", {"chunks": 2, "bytes": 1 << 20}, count=5)
        self.assertEqual(self.receive_values(2), [0, 1])
        self.assertEqual(self.host.ping()["in_flight"], 1)  # a pong is what comes next
        self.credit(call_id, 1)
        self.assertEqual(self.receive_values(1), [2])
        self.credit(call_id, 10)
        self.assertEqual(self.receive_values(2), [3, 4])

    def test_bytes_count_too(self):
        call_id = self.start_stream("blocks", {"chunks": 100, "bytes": 1000}, count=4, size=600)
        self.assertEqual(len(self.receive_values(2)), 2)  # the second one is overdrawn
        self.host.data.settimeout(0.2)
        with self.assertRaises(socket.timeout):
            self.host.data.recv(1)
        self.host.data.settimeout(60)
        self.credit(call_id, 0, 500)
        self.assertEqual(len(self.receive_values(1)), 1)

    def test_credit_for_a_call_that_is_over_is_ignored(self):
        call_id = self.start_stream("tokens", count=1)
        self.receive_values(1)
        self.host.receive()
        self.credit(call_id, 5)
        self.assertEqual(self.host.call("plain"), "plain")

    def test_cancelled_while_it_waits_for_credit_it_cleans_up(self):
        call_id = self.start_stream("tokens", {"chunks": 1, "bytes": 1000}, count=5)
        self.receive_values(1)
        self.host.tell({"type": "cancel", "id": call_id})
        answer = self.host.receive()
        self.assertEqual((answer["type"], answer["error"]["type"]), ("error", "skep.Cancelled"))
        self.assertEqual(self.host.call("plain"), "plain")
        self.host.tell({"type": "shutdown", "grace_ms": 1000})
        self.assertIn("cleaned up", self.host.finish()[1])

    def test_cancelled_while_it_yields_it_cleans_up(self):
        call_id = self.start_stream("tokens", {"chunks": 1 << 40, "bytes": 1 << 40}, count=1 << 40)
        self.receive_values(10)
        self.host.tell({"type": "cancel", "id": call_id})
        answer = self.host.receive()
        while answer["type"] == "chunk":
            answer = self.host.receive()
        self.assertEqual(answer["error"]["type"], "skep.Cancelled")

    def test_a_generator_may_end_by_itself_when_it_is_cancelled(self):
        call_id = self.start_stream("tidy", {"chunks": 1, "bytes": 1000})
        self.receive_values(1)
        self.host.tell({"type": "cancel", "id": call_id})
        self.assertEqual(self.host.receive(), {"type": "result", "id": call_id, "value": "put away"})

    def test_a_generator_that_yields_when_it_is_cancelled_waits_for_no_credit(self):
        call_id = self.start_stream("farewell", {"chunks": 1, "bytes": 1000})
        self.receive_values(1)
        self.host.cancel(call_id)
        self.assertEqual(self.host.receive()["error"]["type"], "skep.Cancelled")
        self.assertEqual(self.host.call("plain"), "plain")

    def test_sigterm_ends_a_generator_that_waits(self):
        self.start_stream("tokens", {"chunks": 1, "bytes": 1000}, count=5)
        self.receive_values(1)
        self.host.signal(15)
        status, stdout, _ = self.host.finish()
        self.assertEqual(status, 0)
        self.assertIn("cleaned up", stdout)

    def test_an_error_ends_it(self):
        self.start_stream("broken")
        self.receive_values(1)
        self.assertEqual(self.host.receive()["error"]["message"], "no second")

    def test_a_chunk_that_cannot_be_sent_is_an_error_of_the_stream(self):
        self.start_stream("unsendable")
        self.receive_values(1)
        self.assertEqual(self.host.receive()["error"]["type"], "skep.UnserializableResult")
        self.assertEqual(self.host.call("plain"), "plain")

    def test_over_one_channel(self):
        self.host = self.start(TOKENS, stdio=True)
        call_id = self.host.send_call("tokens", {"count": 3}, stream={"chunks": 1, "bytes": 1000})
        self.receive_values(1)
        early = self.host.send_call("plain")
        self.assertEqual(self.host.ping()["in_flight"], 1)
        self.credit(call_id, 10)
        self.assertEqual(self.receive_values(2), [1, 2])
        self.assertEqual(self.host.receive()["type"], "result")
        self.assertEqual(self.host.receive(), {"type": "result", "id": early, "value": "plain"})

    def test_malformed_credit_breaks_the_protocol(self):
        self.start_stream("tokens", {"chunks": "many"}, count=3)
        self.assertEqual(self.host.finish()[0], 76)


class Writes:
    """A channel that keeps what each write has taken along."""

    def __init__(self):
        self.writes = []
        self.something = threading.Semaphore(0)

    def send(self, body, attachments):
        self.writes.append([body])
        self.something.release()

    def send_all_of(self, messages):
        self.writes.append([body for body, _ in messages])
        self.something.release()


class Batches(unittest.TestCase):
    def setUp(self):
        self.channel = Writes()
        self.batch = Batch(self.channel, threading.Lock())

    def sent(self):
        return [body[0] for write in self.channel.writes for body in write]

    def test_the_first_is_sent_at_once(self):
        self.batch.add((b"first",), ())
        self.assertEqual(self.sent(), [b"first"])

    def test_many_share_writes_and_keep_their_order(self):
        texts = [b"%d" % number for number in range(10_000)]
        for text in texts:
            self.batch.add((text,), ())
        self.batch.flush()
        self.assertEqual(self.sent(), texts)
        self.assertLess(len(self.channel.writes), 5_000)

    def test_the_last_is_sent_though_nothing_follows(self):
        for text in (b"first", b"second"):
            self.batch.add((text,), ())
        while len(self.sent()) < 2:
            self.assertTrue(self.channel.something.acquire(timeout=60))

    def test_attachments_do_not_wait_and_overtake_nothing(self):
        self.batch.add((b"first",), ())
        self.batch.add((b"second",), ())
        self.batch.add((b"third",), (memoryview(b"bytes"),))
        self.assertEqual(self.sent(), [b"first", b"second", b"third"])


if __name__ == "__main__":
    unittest.main()
