"""Attachments of results, chunks and tool calls in regions for results: their places, and hosts that break the rules."""

import array
import json
import random
import signal
import unittest

from host import LOOP
from shared_host import COMMANDS, HAS_NUMPY, LEAST, LIMITS, STEP, Region, SharedCase, place

ONE_PLACE = {**LIMITS, "bytes": 4 << 20}  # for a result of so many bytes

NUMPY = """
import numpy
@worker.command
def give_numpy(size):
    return numpy.full(size, 7, "u1")
"""

CALLER = """
import sys
@worker.command
def caller():
    return sys._getframe(1).f_code.co_name
"""


class ResultsTest(SharedCase):
    def test_results_come_in_the_frame_until_there_is_a_region(self):
        self.start_shared()
        for _ in range(3):
            self.assertIsInstance(self.give(10_000), bytes)
        number = self.grant()
        self.assertEqual(self.regions[number].size, 3 * STEP)
        self.assertEqual(self.give(10_000), {"region": number, "at": 0, "bytes": 10_000})
        self.check_no_request()

    def test_small_attachments_come_in_the_frame(self):
        self.start_shared()
        self.assertIsInstance(self.give(LEAST - 1), bytes)
        self.check_no_request()
        self.begin_sharing(LEAST)
        self.assertIsInstance(self.give(LEAST), dict)

    def test_a_place_is_used_again_once_it_is_released(self):
        host = self.start_shared()
        self.begin_sharing(LEAST)
        first = self.give(LEAST, 1)
        for fill in (2, 3):
            self.assertIsInstance(self.give(LEAST, fill), bytes)
        self.assertEqual(self.content(first), b"\1" * LEAST)
        self.assertEqual(host.call("small", {"n": 5}, released=[place(first)]), 5)
        self.assertEqual(self.give(LEAST, 4), first)
        self.assertEqual(self.give(LEAST, 5, released=[place(first)]), first)

    def test_a_call_that_releases_places_is_served_as_others_are(self):
        host = self.start_shared(COMMANDS + CALLER)
        self.begin_sharing(LEAST)
        item = self.give(LEAST)
        served_by = host.call("caller")  # the loop in C, in "serve"
        self.assertEqual(served_by == "serve", LOOP == "c")
        self.assertEqual(host.call("caller", released=[place(item)]), served_by)

    def test_regions_double_up_to_the_limits(self):
        self.start_shared()
        sizes = []
        while True:
            if isinstance(self.give(16 * STEP), bytes):
                if sum(sizes) == LIMITS["bytes"] or len(sizes) == LIMITS["regions"]:
                    break
                sizes.append(self.regions[self.grant()].size // STEP)
        self.check_no_request()
        self.assertEqual(sizes, [16, 16, 32, 64])

    def test_a_region_is_large_enough(self):
        self.start_shared()
        self.begin_sharing(LEAST)
        self.give(LEAST)
        self.assertIsInstance(self.give(100 * STEP), bytes)
        self.assertEqual(self.regions[self.grant()].size, 100 * STEP)
        self.assertIsInstance(self.give(100 * STEP), dict)

    def test_attachments_beyond_the_memory_come_in_the_frame(self):
        self.start_shared()
        self.assertIsInstance(self.give(LIMITS["bytes"] + 1), bytes)
        self.check_no_request()
        self.begin_sharing(LIMITS["bytes"])
        self.assertIsInstance(self.give(LIMITS["bytes"]), dict)
        self.assertIsInstance(self.give(LEAST), bytes)
        self.check_no_request()

    def test_the_attachments_of_a_message_share_the_memory(self):
        host = self.start_shared()
        self.begin_sharing(20 * LEAST)
        host.call("give", {"size": LEAST, "count": 3})
        self.assertEqual([item["at"] for item in host.received_attachments], [0, STEP, 2 * STEP])

    def test_a_message_has_few_shared_attachments(self):
        host = self.start_shared()
        self.begin_sharing(100 * LEAST)
        host.call("give", {"size": LEAST, "count": 70})
        kinds = [type(item) for item in host.received_attachments]
        self.assertEqual(kinds, [dict] * 64 + [bytes] * 6)
        self.check_no_request()

    def test_a_refused_request_is_not_repeated_for_each_result(self):
        host = self.start_shared()
        self.give(LEAST)
        host.line.send(b'{"region":0,"bytes":%d,"results":1}' % self.receive_request())
        for _ in range(101):
            self.check_no_request()
            self.assertIsInstance(self.give(LEAST), bytes)
        self.grant()
        self.assertIsInstance(self.give(LEAST), dict)

    def test_frame_limits_do_not_count_shared_attachments(self):
        host = self.start_shared(limits={"frame_bytes": 64 * 1024})
        error = host.call_error("give", {"size": 100_000})
        self.assertEqual(error["type"], "skep.ResultTooLarge")
        self.grant()
        item = self.give(100_000)
        self.assertEqual(host.call_error("give", {"size": 100_000})["type"], "skep.ResultTooLarge")
        self.assertEqual(self.give(100_000, released=[place(item)]), item)

    def test_arrays(self):
        host = self.start_shared()
        self.begin_sharing(LEAST * 4)
        value = host.call("give_array", {"size": LEAST})
        self.assertEqual(value["x"]["shape"], [LEAST])
        (item,) = host.received_attachments
        self.assertEqual(self.content(item), array.array("f", [1.5] * LEAST).tobytes())

    @unittest.skipUnless(HAS_NUMPY, "needs numpy")
    def test_arrays_of_numpy(self):
        host = self.start_shared(COMMANDS + NUMPY)
        self.begin_sharing(LEAST)
        host.call("give_numpy", {"size": LEAST})
        (item,) = host.received_attachments
        self.assertEqual(self.content(item), b"\7" * LEAST)

    def test_a_forked_child_sends_nothing(self):
        host = self.start_shared()
        self.begin_sharing(LEAST)
        for _ in range(3):
            host.call("fork", {"size": LEAST})
            (item,) = host.received_attachments
            self.assertEqual(self.content(item), b"p" * LEAST)
            host.call("small", {"n": 1}, released=[place(item)])

    def test_results_that_are_kept_never_change(self):
        self.start_shared()
        self.begin_sharing(32 * LEAST)
        dice, kept = random.Random(1), []
        for fill in range(1000):
            released = [place(kept.pop(dice.randrange(len(kept)))[0])] if len(kept) > 20 else []
            item = self.give(LEAST, fill % 250, released=released)
            self.assertIsInstance(item, dict)
            kept.append((item, fill % 250))
            for other, value in kept:
                self.assertEqual(self.content(other), bytes([value]) * LEAST)

    def test_cancels_lose_no_place(self):
        self.start_shared(shared=ONE_PLACE)
        self.check_cancels()

    def test_cancels_of_threads_lose_no_place(self):
        self.start_threads(2, shared=ONE_PLACE)
        self.check_cancels()

    def check_cancels(self):
        host, size = self.host, ONE_PLACE["bytes"]
        self.begin_sharing(size)
        dice = random.Random(2)
        for _ in range(50):
            call_id = host.send_call("give", {"size": size})
            for _ in range(dice.randrange(4)):
                host.ping()
            host.cancel(call_id)
            self.assertEqual(host.receive()["id"], call_id)
            self.assertLessEqual([type(item) for item in host.received_attachments], [dict])
            released = [place(item) for item in host.received_attachments]
            host.call("small", {"n": 1}, released=released)
        self.assertIsInstance(self.give(size), dict)

    def test_sigterm_ends_the_worker(self):
        host = self.start_shared()
        self.begin_sharing(LEAST)
        self.give(LEAST)
        host.signal(signal.SIGTERM)
        self.assertEqual(host.finish()[0], 0)


class StreamsTest(SharedCase):
    def start_stream(self, sizes, chunks=10, credit=1 << 20):
        self.begin_sharing(16 * LEAST)
        return self.host.send_call("stream", {"sizes": sizes}, stream={"chunks": chunks, "bytes": credit})

    def receive_chunk(self):
        message = self.host.receive()
        self.assertEqual(message["type"], "chunk")
        return self.host.received_attachments[0]

    def test_chunks(self):
        self.start_shared()
        self.start_stream([LEAST, 10, 2 * LEAST])
        items = [self.receive_chunk() for _ in range(3)]
        self.assertEqual([type(item) for item in items], [dict, bytes, dict])
        self.assertEqual([len(self.content(item)) for item in items], [LEAST, 10, 2 * LEAST])
        self.assertEqual(self.host.receive()["type"], "result")

    def test_credit_counts_shared_bytes_and_releases(self):
        host = self.start_shared()
        call_id = self.start_stream([12 * LEAST, 4 * LEAST, 12 * LEAST], credit=13 * LEAST)
        first, second = self.receive_chunk(), self.receive_chunk()
        self.assertEqual([first["at"], second["at"]], [0, 12 * LEAST])
        # The third has found the memory taken, and waits for credit. The place that is free now is too late for it.
        self.grant()
        host.tell({"type": "credit", "id": call_id, "credit": {"chunks": 0, "bytes": 20 * LEAST}, "released": [place(first)]})
        self.assertEqual(self.receive_chunk(), b"\3" * 12 * LEAST)
        self.assertEqual(host.receive()["type"], "result")
        self.assertEqual(self.give(12 * LEAST), first)

    def test_a_chunk_that_is_not_sent_gives_its_place_back(self):
        host = self.start_shared()
        call_id = self.start_stream([LEAST, 15 * LEAST], chunks=1)
        item = self.receive_chunk()
        host.cancel(call_id)
        self.assertEqual(host.receive()["type"], "error")
        self.assertEqual(self.give(16 * LEAST, released=[place(item)])["at"], 0)

    def test_engines(self):
        host = self.start_shared(
            """
@worker.engine("generate", slots=4)
def generate(engine):
    for step in engine:
        for call in step.new:
            engine.send(call, b"e" * call.args["size"])
            engine.finish(call, b"f" * call.args["size"])
"""
        )
        for kind in (bytes, dict):
            host.send_call("generate", {"size": LEAST}, stream={"chunks": 2, "bytes": 1 << 20})
            for letter in (b"e", b"f"):
                host.receive()
                (item,) = host.received_attachments
                self.assertIsInstance(item, kind)
                self.assertEqual(self.content(item), letter * LEAST)
            if kind is bytes:
                self.grant(4 * LEAST)


class ToolsTest(SharedCase):
    def test_arguments(self):
        host = self.start_shared()
        self.begin_sharing(4 * LEAST)
        host.send_call("ask", {"size": 3 * LEAST})
        request = host.receive_tool_call()
        (item,) = host.received_attachments
        self.assertEqual(self.content(item), b"x" * 3 * LEAST)
        self.assertEqual(request["args"], {"data": {"$attachment": 0}})
        host.answer_tool(request, 5)
        self.assertEqual(host.receive()["value"], 5)
        self.assertEqual(self.give(3 * LEAST, released=[place(item)])["at"], 0)

    def test_the_place_of_an_argument_is_released_before_the_answer(self):
        host = self.start_shared()
        self.begin_sharing(4 * LEAST)
        host.send_call("ask", {"size": 3 * LEAST})
        request = host.receive_tool_call()
        (item,) = host.received_attachments
        nothing = {"chunks": 0, "bytes": 0}
        host.tell({"type": "credit", "id": host.last_id, "credit": nothing, "released": [place(item)]})
        host.answer_tool(request, 5)
        self.assertEqual(host.receive()["value"], 5)
        self.assertEqual(self.give(3 * LEAST)["at"], 0)

    def test_limits_do_not_count_shared_attachments(self):
        host = self.start_shared(limits={"frame_bytes": 1 << 20, "tool_call_bytes": 10_000})
        self.assertEqual(host.call_error("ask", {"size": 3 * LEAST})["type"], "ValueError")
        self.grant()
        host.send_call("ask", {"size": 3 * LEAST})
        host.answer_tool(host.receive_tool_call(), 5)
        self.assertEqual(host.receive()["value"], 5)


ASYNC = """
@worker.command
async def give(size, fill=1):
    return bytes([fill]) * size
@worker.command
async def stream(sizes):
    for index, size in enumerate(sizes, 1):
        yield bytes([index]) * size
@worker.command
async def ask(size):
    return await skep.call_host_async("take", data=b"x" * size)
"""

BATCH = """
@worker.command(batch=8)
def give(calls):
    return [bytes([call.args["fill"]]) * call.args["size"] for call in calls]
"""


class ProfilesTest(SharedCase):
    def test_async_commands(self):
        host = self.start_shared(ASYNC)
        self.begin_sharing(4 * LEAST)
        item = self.give(LEAST)
        self.assertIsInstance(item, dict)
        host.send_call("stream", {"sizes": [LEAST, LEAST]}, stream={"chunks": 1, "bytes": LEAST})
        self.assertEqual(host.receive()["type"], "chunk")
        (chunk,) = host.received_attachments
        self.assertEqual(self.content(chunk), b"\1" * LEAST)
        host.tell({"type": "credit", "id": host.last_id, "credit": {"chunks": 1, "bytes": LEAST}, "released": [place(chunk)]})
        self.assertEqual(host.receive()["type"], "chunk")
        self.assertEqual(host.receive()["type"], "result")
        host.send_call("ask", {"size": LEAST}, released=[place(item)])
        request = host.receive_tool_call()
        self.assertIsInstance(host.received_attachments[0], dict)
        host.answer_tool(request, 1)
        self.assertEqual(host.receive()["value"], 1)

    def test_batches(self):
        host = self.start_shared(BATCH)
        self.begin_sharing(4 * LEAST)
        host.last_id = 10
        for fill in (1, 2, 3):
            host.send_call("give", {"size": LEAST, "fill": fill}, batch=[11, 3])
        items = []
        for fill in (1, 2, 3):
            self.assertEqual(host.receive()["id"], 10 + fill)
            items += host.received_attachments
            self.assertEqual(self.content(items[-1]), bytes([fill]) * LEAST)
        for fill, item in zip((4, 5, 6), items):  # the places are used again
            host.send_call("give", {"size": LEAST, "fill": fill}, batch=[14, 3], released=[place(item)])
        again = []
        for fill in (4, 5, 6):
            self.assertEqual(host.receive()["id"], 10 + fill)
            again += host.received_attachments
            self.assertEqual(self.content(again[-1]), bytes([fill]) * LEAST)
        self.assertEqual(sorted(map(place, items)), sorted(map(place, again)))

    def test_threads(self):
        host = self.start_threads(4)
        self.begin_sharing(32 * LEAST)
        dice, sent, released, shared = random.Random(3), {}, [], 0
        for _ in range(300):
            while len(sent) < 6:
                size, fill = dice.randrange(LEAST, 8 * LEAST), dice.randrange(256)
                sent[host.send_call("give", {"size": size, "fill": fill}, released=released)] = bytes([fill]) * size
                released = []
            answer = host.receive()
            (item,) = host.received_attachments
            self.assertEqual(self.content(item), sent.pop(answer["id"]))
            if isinstance(item, dict):
                shared += 1
                released.append(place(item))
        self.assertGreater(shared, 100)


class BadHostTest(SharedCase):
    def check_end(self, released, words):
        host = self.start_shared()
        self.begin_sharing(LEAST)
        self.give(LEAST)
        host.send_call("small", {"n": 1}, released=released)
        status, _, said = host.finish()
        self.assertEqual(status, 76)
        self.assertIn(words, said)

    def test_places_that_the_host_does_not_have(self):
        for released in ([[1, STEP]], [[2, 0]], [[1, 0], [1, 0]], [[0, 0]], [[-1, -1]]):
            with self.subTest(released=released):
                self.check_end(released, "a place that it does not have")

    def test_malformed_places(self):
        for released in ({}, 1, None, [1], [[1]], [[1, 0, 0]], [["1", 0]], [[1.0, 0]], [[True, 0]], [None]):
            with self.subTest(released=released):
                self.check_end(released, "release")

    def test_bad_packets(self):
        for text, size in (('{"region":1,"bytes":0,"results":1}', STEP), ('{"region":1,"bytes":8192,"results":1}', STEP)):
            with self.subTest(text=text):
                host = self.start_shared()
                self.give(LEAST)
                self.receive_request()
                self.send_packet(json.loads(text), Region(size).descriptor)
                host.send_call("give", {"size": LEAST})
                status, _, said = host.finish()
                self.assertEqual(status, 76)
                self.assertIn("cannot be mapped", said)

    def test_released_without_shared_memory_is_ignored(self):
        host = self.start(COMMANDS)
        self.assertEqual(host.call("small", {"n": 1}, released=[[1, 2]]), 1)

    def test_malformed_limits(self):
        for shared in ({}, 1, None, {"least": 0, "bytes": 1, "regions": 1}, {"least": 1, "bytes": "1", "regions": 1}):
            with self.subTest(shared=shared):
                host = self.start("", ready=False, shared=True)
                host.receive()
                host.welcome(shared=shared)
                self.assertEqual(host.finish()[0], 76)


if __name__ == "__main__":
    unittest.main()
