"""Batch commands: one function for many calls, each of which is answered on its own."""

import json
import os
import signal
import unittest
from unittest import mock

import skep
from host import LOOP, HostCase, frame
from skep._wire.messages import Answers
from skep._wire.protocol import DEFAULT_LIMITS

COMMANDS = """
import threading, time

worker = skep.Worker(thread_safe=SAFE)

# In one write: several threads print. No def: some workers make all of them async.
print_line = lambda *values: print(" ".join(map(str, values)) + chr(10), end="", flush=True)

@worker.command(batch=8)
def double(calls):
    return [call.args["value"] * 2 for call in calls]

@worker.command(batch=8)
def sizes(calls):
    return [len(calls)] * len(calls)

@worker.command("look", batch=8)
def look(calls):
    return [
        {"args": call.args, "parts": [bytes(part).decode() for part in call.attachments], "session": call.session,
         "metadata": call.metadata, "correlation_id": call.correlation_id, "cancelled": call.cancelled(),
         "late": call.remaining == 0, "timeless": call.remaining is None}
        for call in calls
    ]

RESULTS = {
    "error": lambda: skep.Error("bad", "too bad", data=[1]),
    "exception": lambda: ValueError("no value"),
    "unserializable": lambda: {"x": object()},
    "large": lambda: "x" * (1 << 20),
    "cancelled": lambda: skep.Cancelled(),
    "bytes": lambda: b"some bytes",
    "blob": lambda: b"x" * 100_000,
    "one": lambda: 1,
}

@worker.command(batch=8)
def places(calls):
    return [RESULTS[call.args["result"]]() for call in calls]

VALUES = {
    "few": lambda calls: [0] * (len(calls) - 1),
    "many": lambda calls: (0,) * (len(calls) + 1),
    "none": lambda calls: None,
    "text": lambda calls: "x" * len(calls),
    "dict": lambda calls: dict.fromkeys(range(len(calls)), 0),
    "generator": lambda calls: (0 for call in calls),
    "tuple": lambda calls: tuple(range(len(calls))),
    "range": lambda calls: range(len(calls)),
}

@worker.command(batch=8)
def values(calls):
    return VALUES[calls[0].args["value"]](calls)

runs = []

def strict(calls):
    runs.append([call.args["value"] for call in calls])
    if any(call.args["value"] == "bad" for call in calls): raise ValueError("bad among them")
    return [call.args["value"] for call in calls]

worker.command("strict", batch=8)(strict)
worker.command("split", batch=8, batch_errors="split")(strict)

@worker.command(batch=8, batch_errors="split")
def leave(calls):
    runs.append(len(calls))
    raise SystemExit(3)

@worker.command
def runs_so_far():
    seen = list(runs)
    runs.clear()
    return seen

@worker.command(batch=8)
def wait(calls):
    try:
        print_line("begun", len(calls))
        rounds = 0
        while True: rounds += 1
    finally:
        print_line("ended", [call.cancelled() for call in calls])

@worker.command(batch=8)
def until_cancelled(calls):
    print_line("begun", len(calls))
    while not calls[0].cancelled(): time.sleep(0.001)
    return [call.cancelled() for call in calls]

@worker.command(batch=8)
def lost(calls):
    found = []
    for ask in (skep.current, skep.attachments, lambda: skep.progress(1), lambda: skep.call_host("tool")):
        try: ask()
        except RuntimeError as error: found.append(str(error))
    skep.emit("batch.seen")
    return [found] * len(calls)

@worker.command(batch=8)
def forks(calls):
    import os
    child = os.fork()
    if child == 0: raise ValueError("of the child")
    return [os.waitpid(child, 0)[1] >> 8] * len(calls)

@worker.command(batch=8)
def where(calls):
    return [threading.current_thread() is threading.main_thread()] * len(calls)

@worker.command
def echo(value): return value

@worker.command
def call_id(): return skep.current().id

@worker.command(batch=8)
async def later(calls):
    import asyncio
    await asyncio.sleep(0.01)
    return [call.args["value"] for call in calls]

@worker.on_stop
def stop(): print("stopped", flush=True)
"""
PLAIN = COMMANDS.replace("async def later", "def later").replace("    import asyncio\n    await asyncio.sleep(0.01)\n", "")
THREAD_ENVIRONMENT = {"SKEP_THREADS": "4"}


class BatchCase(HostCase):
    """Starts the worker, and sends batches to it."""

    def setUp(self):
        self.batches = 0

    def start_commands(self, commands=PLAIN, safe=False, **options):
        script = f"import skep\n{commands.replace('SAFE', str(safe))}\nworker.run()\n"
        self.host = self.start_script(script, **options)
        return self.host

    def batch_frames(self, command, *args, attachments=(), **more):
        """The frames of a batch, and the ids of its calls."""
        self.batches += 1
        ids, frames = [], []
        for index, each in enumerate(args):
            self.host.last_id += 1
            ids.append(self.host.last_id)
            message = {"type": "call", "id": self.host.last_id, "command": command, "args": each}
            parts = attachments[index] if attachments else ()
            frames.append(frame({**message, "batch": [self.batches, len(args)], **more}, parts))
        return ids, frames

    def send_batch(self, command, *args, **more):
        ids, frames = self.batch_frames(command, *args, **more)
        self.host.data.sendall(b"".join(frames))
        return ids

    def answers(self, ids):
        """The answers to these calls, in their order."""
        answers = [self.host.receive() for _ in ids]
        found = {answer["id"]: answer for answer in answers}
        self.assertEqual(sorted(found), ids)
        return [found[call_id] for call_id in ids]

    def outcomes(self, ids):
        """The value of each call, or the type of its error."""
        answers = self.answers(ids)
        return [each["value"] if each["type"] == "result" else each["error"]["type"] for each in answers]

    def run_batch(self, command, *args, **more):
        return self.outcomes(self.send_batch(command, *args, **more))

    def values(self, command, *values):
        return self.run_batch(command, *({"value": value} for value in values))

    def wait_for_output(self, text):
        line = self.host.process.stdout.readline().decode()
        self.assertEqual(line, f"{text}\n")


class EachSide:
    """Tests of all ways to run batches."""

    def test_a_batch(self):
        self.assertEqual(self.values("double", 1, "a", [2]), [2, "aa", [2, 2]])
        self.assertEqual(self.run_batch("sizes", *[{}] * 5), [5] * 5)
        self.assertEqual(self.host.ping(), {"type": "pong", "seq": 1, "in_flight": 0, "completed": 8})

    def test_a_call_without_a_batch_is_alone(self):
        self.assertEqual(self.host.call("sizes"), 1)
        self.assertEqual(self.host.call("echo", {"value": 1}), 1)
        self.assertEqual(self.host.call("later", {"value": 1}), 1)

    def test_batches_and_calls_follow_each_other(self):
        data, expected = [], {}
        for round_number in range(30):
            ids, frames = self.batch_frames("double", *({"value": [round_number, n]} for n in range(round_number % 8 + 1)))
            data += frames
            expected.update({call_id: [round_number, n] * 2 for n, call_id in enumerate(ids)})
            self.host.last_id += 1
            data.append(frame({"type": "call", "id": self.host.last_id, "command": "echo", "args": {"value": round_number}}))
            expected[self.host.last_id] = round_number
        self.host.data.sendall(b"".join(data))
        answers = [self.host.receive() for _ in expected]
        self.assertEqual({answer["id"]: answer["value"] for answer in answers}, expected)

    def test_each_call_has_what_belongs_to_it(self):
        parts = [[b"a", b"bc"], [], [b"d"]]
        found = self.run_batch(
            "look", {"n": 1}, {}, {"n": 3}, attachments=parts, session="s", metadata={"k": 1}, deadline_ms=10_000
        )
        self.assertEqual([each["args"] for each in found], [{"n": 1}, {}, {"n": 3}])
        self.assertEqual([each["parts"] for each in found], [["a", "bc"], [], ["d"]])
        for each in found:
            flags = [each[name] for name in ("session", "metadata", "cancelled", "late", "timeless")]
            self.assertEqual(flags, ["s", {"k": 1}, False, False, False])
        self.assertEqual(len({each["correlation_id"] for each in found}), 3)

    def test_an_error_in_a_place_is_of_its_call(self):
        kinds = ("one", "error", "exception", "unserializable", "cancelled", "one")
        answers = self.answers(self.send_batch("places", *({"result": kind} for kind in kinds)))
        errors = [each.get("error", {}).get("type") for each in answers]
        expected = [None, "skep.Error", "ValueError", "skep.UnserializableResult", "skep.Cancelled", None]
        self.assertEqual(errors, expected)
        error = answers[1]["error"]
        self.assertEqual((error["code"], error["message"], error["data"]), ("bad", "too bad", [1]))

    def test_attachments_of_results(self):
        ids = self.send_batch("places", *({"result": kind} for kind in ("bytes", "blob", "one", "blob", "bytes")))
        parts = {}
        for _ in ids:
            message = self.host.receive()
            parts[message["id"]] = self.host.received_attachments
        blob = [b"x" * 100_000]
        self.assertEqual([parts[call_id] for call_id in ids], [[b"some bytes"], blob, [], blob, [b"some bytes"]])

    def test_a_wrong_number_of_results(self):
        for kind, text in (
            ("few", "returns a sequence of 3 results, one per call; it has returned 2"),
            ("many", "returns a sequence of 3 results, one per call; it has returned 4"),
            ("none", "returns a sequence of 3 results, one per call, not NoneType"),
            ("text", "one per call, not str"),
            ("dict", "one per call, not dict"),
            ("generator", "one per call, not generator"),
        ):
            for answer in self.answers(self.send_batch("values", {"value": kind}, {}, {})):
                self.assertEqual(answer["error"]["type"], "TypeError")
                self.assertIn(text, answer["error"]["message"])
        for kind in ("tuple", "range"):
            self.assertEqual(self.run_batch("values", {"value": kind}, {}, {}), [0, 1, 2])

    def test_an_error_of_the_function_is_of_all(self):
        answers = self.answers(self.send_batch("strict", {"value": 1}, {"value": "bad"}, {"value": 3}))
        for answer in answers:
            self.assertEqual(answer["error"]["message"], "bad among them")
            self.assertIn("in strict", answer["error"]["traceback"])
            self.assertNotIn("_calls", answer["error"]["traceback"])
        self.assertEqual(self.host.call("runs_so_far"), [[1, "bad", 3]])

    def test_split(self):
        self.assertEqual(self.values("split", 1, 2, "bad", 4, 5), [1, 2, "ValueError", 4, 5])
        runs = [[1, 2, "bad", 4, 5], [1, 2], ["bad", 4, 5], ["bad"], [4, 5]]
        self.assertEqual(self.host.call("runs_so_far"), runs)
        self.assertEqual(self.values("split", "bad", "bad"), ["ValueError"] * 2)

    def test_an_exit_is_an_error_and_never_split(self):
        self.host.call("runs_so_far")
        self.assertEqual(self.run_batch("leave", {}, {}, {}), ["SystemExit"] * 3)
        self.assertEqual(self.host.call("runs_so_far"), [3])

    def test_late_calls_are_not_in_the_list(self):
        ids, frames = self.batch_frames("sizes", {}, {}, {})
        frames[1] = frame({"type": "call", "id": ids[1], "command": "sizes", "args": {}, "deadline_ms": 0,
                           "batch": [self.batches, 3]})
        self.host.data.sendall(b"".join(frames))
        self.assertEqual(self.outcomes(ids), [2, "skep.DeadlineExceeded", 2])
        self.assertEqual(self.run_batch("strict", {}, {}, deadline_ms=0), ["skep.DeadlineExceeded"] * 2)
        self.assertEqual(self.host.call("runs_so_far"), [])

    def test_cancelled_calls_are_not_in_the_list(self):
        ids, frames = self.batch_frames("sizes", {}, {}, {})
        self.host.cancel(ids[2])
        self.host.ping()
        self.host.data.sendall(b"".join(frames))
        self.assertEqual(self.outcomes(ids), [2, 2, "skep.Cancelled"])
        ids, frames = self.batch_frames("strict", {}, {})
        for call_id in ids:
            self.host.cancel(call_id)
        self.host.ping()
        self.host.data.sendall(b"".join(frames))
        self.assertEqual(self.outcomes(ids), ["skep.Cancelled"] * 2)
        self.assertEqual(self.host.call("runs_so_far"), [])

    def test_one_cancelled_call_does_not_interrupt(self):
        ids = self.send_batch("until_cancelled", {}, {})
        self.wait_for_output("begun 2")
        self.assertEqual(self.host.ping()["in_flight"], 2)
        self.host.cancel(ids[0])
        self.assertEqual(self.outcomes(ids), [True, False])
        self.assertEqual(self.values("double", 1, 2), [2, 4])

    def test_the_last_cancel_interrupts(self):
        ids = self.send_batch("wait", {}, {}, {})
        self.wait_for_output("begun 3")
        for call_id in ids:
            self.host.cancel(call_id)
        self.wait_for_output("ended [True, True, True]")
        self.assertEqual(self.outcomes(ids), ["skep.Cancelled"] * 3)
        self.assertEqual(self.values("double", 1, 2), [2, 4])

    def test_late_calls_do_not_count_for_the_interrupt(self):
        ids, frames = self.batch_frames("wait", {}, {})
        frames[0] = frame({"type": "call", "id": ids[0], "command": "wait", "args": {}, "deadline_ms": 0,
                           "batch": [self.batches, 2]})
        self.host.data.sendall(b"".join(frames))
        self.wait_for_output("begun 1")
        self.host.cancel(ids[1])
        self.assertEqual(self.outcomes(ids), ["skep.DeadlineExceeded", "skep.Cancelled"])

    def test_cancels_at_any_moment(self):
        for round_number in range(100):
            ids, frames = self.batch_frames("double", {"value": 1}, {"value": 2})
            order = [(self.host.cancel, ids[0]), (self.host.cancel, ids[1]), (self.host.data.sendall, b"".join(frames))]
            for act, argument in order[round_number % 3 :] + order[: round_number % 3]:
                act(argument)
            outcomes = self.outcomes(ids)
            self.assertIn(outcomes[0], (2, "skep.Cancelled"))
            self.assertIn(outcomes[1], (4, "skep.Cancelled"))
            self.assertEqual(self.values("double", 5, 6), [10, 12])
            self.assertEqual(self.host.call("echo", {"value": round_number}), round_number)

    def test_there_is_no_current_call(self):
        for found in self.run_batch("lost", {}, {}):
            self.assertEqual(len(found), 4)
            for text in found:
                self.assertIn("a batch has several calls and no current one", text)
        event = self.host.receive(self.host.control)
        self.assertEqual(event["name"], "batch.seen")
        self.assertNotIn("correlation_id", event)
        self.assertEqual(self.host.call("call_id"), self.host.last_id)

    def test_a_forked_child_ends(self):
        self.assertEqual(self.run_batch("forks", {}, {}), [1, 1])

    def test_a_shutdown_before_the_rest_of_a_batch(self):
        frames = self.batch_frames("double", {"value": 1}, {"value": 2}, {"value": 3})[1]
        self.host.data.sendall(frames[0] + frames[1] + frames[2][:20])
        self.host.tell({"type": "shutdown", "grace_ms": 1000})
        self.assertTrue(self.host.is_closed(self.host.data))
        status, output, _ = self.host.finish()
        self.assertEqual((status, output), (0, "stopped\n"))

    def test_a_shutdown_lets_a_batch_end(self):
        ids = self.send_batch("until_cancelled", {}, {})
        self.wait_for_output("begun 2")
        self.host.tell({"type": "shutdown", "grace_ms": 1000})
        self.host.ping()
        self.host.cancel(ids[0])
        self.assertEqual(self.outcomes(ids), [True, False])
        self.assertEqual(self.host.finish()[0], 0)

    def test_sigterm_interrupts(self):
        self.send_batch("wait", {}, {})
        self.wait_for_output("begun 2")
        self.host.signal(signal.SIGTERM)
        status, output, _ = self.host.finish()
        self.assertEqual((status, output), (0, "ended [False, False]\nstopped\n"))

    def test_a_call_amid_a_batch_breaks_the_protocol(self):
        frames = self.batch_frames("double", {"value": 1}, {"value": 2})[1]
        self.host.data.sendall(frames[0])
        self.host.send_call("echo", {"value": 1})
        status, _, stderr = self.host.finish()
        self.assertEqual(status, 76)
        self.assertIn("call 3 comes amid batch [1, 2] of 'double'", stderr)

    def test_what_is_no_batch_breaks_the_protocol(self):
        self.host.send_call("double", {"value": 1}, batch=[1, 0])
        status, _, stderr = self.host.finish()
        self.assertEqual(status, 76)
        self.assertIn("a batch is its number and that of its calls, not [1, 0]", stderr)

    def test_the_end_of_the_host(self):
        frames = self.batch_frames("double", {"value": 1}, {"value": 2})[1]
        self.host.data.sendall(frames[0])
        self.host.data.close()
        self.assertEqual(self.host.process.wait(60), 70)


class Recalls:
    """Recalled calls of batches, of a worker with one place."""

    def test_recalled_calls_leave_their_batch(self):
        for kept in ([1], [0, 2], []):
            running = self.send_batch("until_cancelled", {}, {})
            self.wait_for_output("begun 2")
            ids = self.send_batch("wait", {}, {}, {})
            expected = [ids[index] for index in kept]
            for call_id in set(ids) - set(expected):
                self.host.tell({"type": "recall", "id": call_id})
                self.assertEqual(self.host.receive(self.host.control), {"type": "recalled", "id": call_id})
            self.host.cancel(running[0])
            self.assertEqual(self.outcomes(running), [True, False])
            if kept:
                self.wait_for_output(f"begun {len(kept)}")
                self.assertEqual(self.host.ping()["in_flight"], len(kept))
                for call_id in expected:
                    self.host.cancel(call_id)
                self.wait_for_output(f"ended {[True] * len(kept)}")
                self.assertEqual(self.outcomes(expected), ["skep.Cancelled"] * len(kept))
            self.assertEqual(self.values("double", 1), [2])
        self.assertEqual(self.host.ping()["in_flight"], 0)

    def test_a_begun_batch_is_not_given_back(self):
        running = self.send_batch("until_cancelled", {}, {})
        self.wait_for_output("begun 2")
        for call_id in running:
            self.host.tell({"type": "recall", "id": call_id})
        self.assertEqual(self.host.ping()["in_flight"], 2)
        self.host.cancel(running[0])
        self.assertEqual(self.outcomes(running), [True, False])


class OneAtATime(Recalls, EachSide, BatchCase):
    """By the loop in C, where it is built."""

    def setUp(self):
        super().setUp()
        self.start_commands(ready=False)
        self.hello = self.host.handshake()

    def test_hello(self):
        self.assertEqual(self.hello["loop"], LOOP)
        self.assertEqual(self.hello["batches"]["double"], {"most": 8, "wait_ms": 0})
        self.assertNotIn("echo", self.hello["batches"])

    def test_it_runs_on_the_main_thread(self):
        self.assertEqual(self.run_batch("where", {}, {}), [True, True])

    def test_a_batch_in_pieces(self):
        ids, frames = self.batch_frames("double", *({"value": n} for n in range(8)))
        data = b"".join(frames)
        for begin in range(0, len(data), 50):
            self.host.data.sendall(data[begin : begin + 50])
            self.host.ping()
        self.assertEqual(self.outcomes(ids), [2 * n for n in range(8)])

    def test_sigterm_amid_a_batch(self):
        frames = self.batch_frames("double", {"value": 1}, {"value": 2})[1]
        self.host.data.sendall(frames[0])
        self.host.ping()
        self.host.signal(signal.SIGTERM)
        self.assertEqual(self.host.finish()[:2], (0, "stopped\n"))

    def test_all_answers_go_out_in_one_write(self):
        self.send_batch("places", *[{"result": "one"}] * 8)
        self.host.receive()
        self.host.data.setblocking(False)
        self.assertEqual(len([self.host.receive() for _ in range(7)]), 7)

    def test_a_result_that_is_too_large_fails_alone(self):
        self.start_commands(ready=False).handshake(frame_bytes=1 << 19)
        self.batches = 0
        kinds = ("one", "large", "bytes")
        self.assertEqual(self.run_batch("places", *({"result": kind} for kind in kinds))[1], "skep.ResultTooLarge")
        self.assertEqual(self.values("double", 1, 2), [2, 4])


class OverStdio(BatchCase):
    def setUp(self):
        super().setUp()
        self.start_commands(stdio=True)

    def test_batches(self):
        self.assertEqual(self.values("double", 1, "a", [2]), [2, "aa", [2, 2]])
        ids = self.send_batch("wait", {}, {})
        self.host.until_busy()
        for call_id in ids:
            self.host.cancel(call_id)
        self.assertEqual(self.outcomes(ids), ["skep.Cancelled"] * 2)

    def test_a_shutdown_before_the_rest_of_a_batch(self):
        self.host.data.sendall(self.batch_frames("double", {"value": 1}, {"value": 2})[1][0])
        self.host.ping()
        self.host.tell({"type": "shutdown", "grace_ms": 1000})
        self.assertTrue(self.host.is_closed(self.host.data))
        self.assertEqual(self.host.finish()[0], 0)


class InPython(Recalls, EachSide, BatchCase):
    """Without the loop in C."""

    def setUp(self):
        super().setUp()
        self.start_commands(env={"SKEP_PURE_PYTHON": "1"})


class InThreads(EachSide, BatchCase):
    def setUp(self):
        super().setUp()
        self.start_commands(safe=True, env=THREAD_ENVIRONMENT)

    def test_it_runs_on_a_thread(self):
        self.assertEqual(self.run_batch("where", {}, {}), [False, False])

    def test_a_batch_takes_one_place(self):
        waiting = [self.send_batch("until_cancelled", {}, {}) for _ in range(3)]
        for _ in waiting:
            self.wait_for_output("begun 2")
        self.assertEqual(self.host.ping()["in_flight"], 6)
        self.assertEqual(self.host.call("echo", {"value": 1}), 1)
        for ids in waiting:
            self.host.cancel(ids[0])
            self.assertEqual(self.outcomes(ids), [True, False])


class InOneThread(Recalls, BatchCase):
    def setUp(self):
        super().setUp()
        self.start_commands(safe=True, ready=False, env=THREAD_ENVIRONMENT)
        self.host.receive()
        self.host.welcome(capacity=1)
        self.host.receive()


class OnALoopWithOnePlace(Recalls, BatchCase):
    def setUp(self):
        super().setUp()
        self.start_commands(ASYNC.replace("Worker(", "Worker(concurrency=1, "))


class BesideALoop(EachSide, BatchCase):
    """Plain batch functions on threads beside the event loop."""

    def setUp(self):
        super().setUp()
        self.start_commands(COMMANDS, safe=True)

    def test_async_batches(self):
        self.assertEqual(self.values("later", *range(8)), list(range(8)))


ASYNC = (
    COMMANDS.replace("\ndef ", "\nasync def ")
    .replace("async async", "async")
    .replace("async def stop", "def stop")
    .replace("rounds += 1", "await asyncio.sleep(0.001)")
    .replace("time.sleep", "await asyncio.sleep")
    .replace("import threading, time", "import asyncio, threading, time")
)


class OnALoop(EachSide, BatchCase):
    """Async batch functions, each batch as a task."""

    def setUp(self):
        super().setUp()
        self.start_commands(ASYNC)

    def test_batches_run_at_the_same_time(self):
        first, second = (self.send_batch("until_cancelled", {}, {}) for _ in range(2))
        self.wait_for_output("begun 2")
        self.wait_for_output("begun 2")
        self.assertEqual(self.values("later", 1, 2), [1, 2])
        for ids in (second, first):
            self.host.cancel(ids[0])
            self.assertEqual(self.outcomes(ids), [True, False])


ARRAYS = """
import numpy

@worker.command(batch=8)
def norm(calls):
    return numpy.stack([call.args["x"] for call in calls]).sum(axis=1)

@worker.command(batch=8)
def twice(calls):
    return [call.args["x"] * 2 for call in calls]
"""


class Arrays(BatchCase):
    @classmethod
    def setUpClass(cls):
        try:
            import numpy  # noqa: F401
        except ImportError:
            raise unittest.SkipTest("numpy is not installed") from None

    def send(self, command, *arrays, forms=None):
        import numpy

        parts = [numpy.asarray(each, "f4").tobytes() for each in arrays]
        self.batches += 1
        data, ids = b"", []
        for index, part in enumerate(parts):
            form = {"$array": {"$attachment": 0}, "dtype": "<f4", "shape": [len(part) // 4]}
            form = {**form, **(forms or {}).get(index, {})}
            self.host.last_id += 1
            ids.append(self.host.last_id)
            data += frame(
                {"type": "call", "id": self.host.last_id, "command": command, "args": {"x": form}, "arrays": ["x"],
                 "batch": [self.batches, len(parts)]}, [part])
        self.host.data.sendall(data)
        return ids

    def test_arrays(self):
        self.host = self.start(ARRAYS)
        self.assertEqual(self.outcomes(self.send("norm", [1, 2], [3, 4])), [3, 7])
        for answer in self.answers(self.send("twice", [1, 2], [3, 4])):
            self.assertIn("attachments", answer)

    def test_malformed_ones_fail_alone(self):
        self.host = self.start(ARRAYS)
        ids = self.send("norm", [1, 2], [3, 4], [5, 6], forms={1: {"shape": [7]}})
        self.assertEqual(self.outcomes(ids), [3, "skep.InvalidArguments", 11])


class ManyCommands(BatchCase):
    def test_hello_has_no_more_than_fit(self):
        self.host = self.start(
            "for n in range(3000):\n"
            "    worker.command(f'{n:04}' + '\\x01' * 20, batch=4)(lambda calls: [len(calls)] * len(calls))\n",
            ready=False,
        )
        hello = self.host.handshake()
        self.assertLess(len(json.dumps(hello)), 128 * 1024)
        self.assertGreater(len(hello["batches"]), 200)
        self.assertGreater(len(hello["commands"]), 200)
        self.assertEqual(self.host.call("2999" + "\x01" * 20), 1)


class Registration(unittest.TestCase):
    def setUp(self):
        with mock.patch.dict(os.environ):
            os.environ.pop("SKEP_PROTOCOL", None)
            self.worker = skep.Worker()

    def test_options(self):
        command = self.worker.command
        for options, text in (
            ({"batch": 65537}, "batch is a number of calls, 1 to 65536, not 65537"),
            ({"batch": 0}, "batch is a number of calls, 1 to 65536, not 0"),
            ({"batch": True}, "not True"),
            ({"batch": 2.0}, "not 2.0"),
            ({"batch": 2, "wait_ms": -1}, "wait_ms is a number of milliseconds, 0 to 10000, not -1"),
            ({"batch": 2, "wait_ms": 10_001}, "not 10001"),
            ({"batch": 2, "wait_ms": float("nan")}, "not nan"),
            ({"batch": 2, "wait_ms": "1"}, "not '1'"),
            ({"batch": 2, "batch_errors": "halves"}, "batch_errors is \"all\" or \"split\", not 'halves'"),
            ({"wait_ms": 1}, "options of batches: say how many calls by batch="),
            ({"batch_errors": "split"}, "options of batches"),
        ):
            with self.assertRaises(ValueError) as raised:
                command(**options)
            self.assertIn(text, str(raised.exception))

    def test_functions(self):
        def none(): pass
        def two(a, b): pass
        def by_name(*, calls): pass
        def one(calls, top=3): pass
        def positional(calls, /): pass
        def all_of_them(*calls): pass
        def generator(calls): yield 1
        async def async_generator(calls): yield 1

        for function in (none, two, by_name):
            with self.assertRaises(TypeError) as raised:
                self.worker.command(batch=2)(function)
            self.assertIn(f"batch command '{function.__name__}' is called with one argument", str(raised.exception))
        for function in (generator, async_generator):
            with self.assertRaises(TypeError) as raised:
                self.worker.command(batch=2)(function)
            self.assertIn("is a generator", str(raised.exception))
        for function in (one, positional, all_of_them):
            self.assertIs(self.worker.command(function.__name__, batch=2)(function), function)
        with self.assertRaises(ValueError):
            self.worker.command("one")(one)


class SameError(unittest.TestCase):
    def test_it_is_encoded_as_for_each_call(self):
        answers = Answers(DEFAULT_LIMITS)
        for error in (ValueError("no"), skep.Error("bad", "too bad", data={"id": 1})):
            ids = [9, 100, 8]
            bodies = [b"".join(body) for body, _ in answers.errors(ids, error)]
            self.assertEqual(bodies, [b"".join(answers.error(call_id, error)[0]) for call_id in ids])

    def test_no_answer_is_over_the_limit(self):
        error = ValueError("x" * 500)
        size = len(Answers(DEFAULT_LIMITS).error(1, error)[0][0])
        for limit in range(size - 3, size + 8):
            answers = Answers(DEFAULT_LIMITS._replace(json_bytes=limit)).errors([1, 10**6], error)
            for body, _ in answers:
                self.assertLessEqual(sum(map(len, body)), limit)


class LocalBatch(unittest.TestCase):
    def setUp(self):
        self.worker = skep.Worker()

        @self.worker.command(batch=4)
        def embed(calls):
            if any(call.args.get("text") == "all" for call in calls):
                raise KeyError("all")
            return [errors.get(call.args.get("text"), (call.args, len(call.attachments))) for call in calls]

        @self.worker.command(batch=4, batch_errors="split")
        async def later(calls):
            if any(call.args.get("text") == "bad" for call in calls):
                raise KeyError("bad")
            return [call.args for call in calls]

        @self.worker.command
        def single():
            pass

        errors = {"own": skep.Error("code"), "set": {1: object()}, "exit": SystemExit(1)}
        self.errors = errors

    def test_a_batch_of_one(self):
        self.assertEqual(self.worker.call("embed", [b"ab"], text="a"), [{"text": "a"}, 1])
        with self.assertRaises(skep.Error):
            self.worker.call("embed", text="own")
        with self.assertRaises(skep.UnserializableResult):
            self.worker.call("embed", text="set")
        with self.assertRaises(KeyError):
            self.worker.call("embed", text="all")

    def test_a_batch(self):
        results = self.worker.call_batch("embed", [{"text": "a"}, {"text": "own"}, {"text": "set"}], [[], [], []])
        self.assertEqual(results[0], [{"text": "a"}, 0])
        self.assertIs(results[1], self.errors["own"])
        self.assertIsInstance(results[2], skep.UnserializableResult)
        results = self.worker.call_batch("embed", [{"text": "a"}, {"text": "all"}])
        self.assertEqual([type(each) for each in results], [KeyError, KeyError])
        self.assertEqual(self.worker.call_batch("embed", [{}, {}], [[b"a"]]), [[{}, 1], [{}, 0]])

    def test_async(self):
        results = self.worker.call_batch("later", [{"text": "a"}, {"text": "bad"}, {"text": "c"}])
        self.assertEqual([results[0], type(results[1]), results[2]], [{"text": "a"}, KeyError, {"text": "c"}])

    def test_what_is_no_batch(self):
        for command, count, error in (("none", 1, skep.UnknownCommand), ("single", 1, ValueError),
                                      ("embed", 0, ValueError), ("embed", 5, ValueError)):
            with self.assertRaises(error):
                self.worker.call_batch(command, [{}] * count)


if __name__ == "__main__":
    unittest.main()
