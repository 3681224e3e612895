"""Engines: one function that serves many calls at once, step by step."""

import random
import select
import signal
import time
import unittest

import skep
from host import HostCase

# Each call counts to `count`; `over` is how it ends.
ENGINE = """
import time

worker = skep.Worker(thread_safe=True)
steps = []
state = {}

@worker.engine("generate", slots=4)
def generate(engine):
    counts = {}
    for step in engine:
        steps.append([[call.id for call in calls] for calls in (step.new, step.gone, step.stalled)])
        for call in step.new:
            counts[call] = 0
            over = call.args.get("over")
            if over == "raise": raise ValueError("of the engine")
            if over == "return": return
            if over == "exit": raise SystemExit(3)
            if over == "fork":
                import os
                child = os.fork()
                if child == 0: continue
                engine.finish(call, os.waitpid(child, 0)[1])
            if over == "current":
                try: skep.current()
                except RuntimeError as error: engine.finish(call, str(error))
        for call in step.gone:
            print("gone", call.id, flush=True)
            del counts[call]
            engine.send(call, "too late")
            engine.finish(call, "too late")
        for call in list(counts):
            over = call.args.get("over")
            if counts[call] == call.args.get("count", 3):
                if over == "fail": engine.fail(call, skep.Error("bad", "too bad"))
                elif over == "object": engine.finish(call, object())
                elif over == "wait": time.sleep(0.001); continue
                else: engine.finish(call, {"count": counts[call]})
                engine.send(call, "after the end")
                del counts[call]
            elif call not in step.stalled or over == "flood":
                engine.send(call, counts[call] if over != "unsendable" else {1, object()})
                counts[call] += 1

@worker.command
def echo(value): return value

@worker.command
def steps_so_far():
    seen = list(steps)
    steps.clear()
    return seen

@worker.command(batch=4)
def sizes(calls): return [len(calls)] * len(calls)

@worker.health_check
def check(): return "well"

@worker.on_stop
def stop(): print("stopped", flush=True)
"""

AMPLE = {"chunks": 1000, "bytes": 1 << 20}


class EngineCase(HostCase):
    def start_engine(self, source=ENGINE, **options):
        self.host = self.start_script(f"import skep\n{source}\nworker.run()\n", **options)
        return self.host

    def send(self, credit=AMPLE, **args):
        return self.host.send_call("generate", args, stream=credit)

    def stream(self, call_id):
        """The chunks of a call and its last message. No other call is running."""
        chunks = []
        while True:
            message = self.host.receive()
            self.assertEqual(message["id"], call_id)
            if message["type"] != "chunk":
                return chunks, message
            chunks.append(message["value"])

    def streams(self, ids):
        """The chunks of each call and its last message."""
        chunks, ends = {call_id: [] for call_id in ids}, {}
        while len(ends) < len(ids):
            message = self.host.receive()
            if message["type"] == "chunk":
                self.assertNotIn(message["id"], ends)
                chunks[message["id"]].append(message["value"])
            else:
                ends[message["id"]] = message
        return [(chunks[call_id], ends[call_id]) for call_id in ids]

    def wait_for_output(self, text):
        self.assertEqual(self.host.process.stdout.readline().decode(), f"{text}\n")


class Streams(EngineCase):
    def setUp(self):
        self.start_engine(ready=False)
        self.hello = self.host.handshake()

    def test_hello(self):
        self.assertEqual((self.hello["slots"], self.hello["capacity"]), (4, 4))
        self.assertIn("generate", self.hello["commands"])

    def test_a_stream(self):
        for _ in range(3):
            call_id = self.send(count=3)
            chunks, end = self.stream(call_id)
            self.assertEqual((chunks, end["value"]), ([0, 1, 2], {"count": 3}))
        self.assertEqual(self.host.ping(), {"type": "pong", "seq": 1, "in_flight": 0, "completed": 3})

    def test_many_at_once(self):
        ids = [self.send(count=count) for count in (50, 0, 7, 100)]
        for count, (chunks, end) in zip((50, 0, 7, 100), self.streams(ids)):
            self.assertEqual((chunks, end["value"]), (list(range(count)), {"count": count}))

    def test_calls_join_while_others_run(self):
        self.send(count=1, over="wait")
        self.host.receive()
        call_id = self.send(count=2)
        self.assertEqual(self.stream(call_id)[0], [0, 1])
        self.assertEqual(self.host.ping()["in_flight"], 1)

    def test_without_a_stream_the_chunks_are_the_result(self):
        self.assertEqual(self.host.call("generate", {"count": 3}), [0, 1, 2])
        self.assertEqual(self.host.call_error("generate", {"count": 10_001})["type"], "skep.ResultTooLarge")

    def test_failing_a_call(self):
        chunks, end = self.stream(self.send(over="fail"))
        self.assertEqual((chunks, end["error"]["code"], end["error"]["message"]), ([0, 1, 2], "bad", "too bad"))

    def test_what_cannot_be_sent_fails_its_call(self):
        chunks, end = self.stream(self.send(over="object"))
        self.assertEqual((chunks, end["error"]["type"]), ([0, 1, 2], "skep.UnserializableResult"))
        call_id = self.send(over="unsendable")
        chunks, end = self.stream(call_id)
        self.assertEqual((chunks, end["error"]["type"]), ([], "skep.UnserializableResult"))
        self.wait_for_output(f"gone {call_id}")
        self.assertEqual(self.stream(self.send())[0], [0, 1, 2])

    def test_the_engine_waits_without_calls(self):
        self.stream(self.send())
        self.host.call("steps_so_far")
        time.sleep(0.05)
        self.assertEqual(self.host.call("steps_so_far"), [])

    def test_there_is_no_current_call(self):
        self.assertIn("an engine has several calls and no current one", self.stream(self.send(over="current"))[1]["value"])


class Credit(EngineCase):
    def setUp(self):
        self.start_engine()

    def grant(self, call_id, chunks):
        self.host.tell({"type": "credit", "id": call_id, "credit": {"chunks": chunks, "bytes": 1 << 20}})

    def test_no_chunk_without_credit(self):
        call_id = self.send({"chunks": 2, "bytes": 1 << 20}, count=5)
        self.assertEqual([self.host.receive()["value"] for _ in range(2)], [0, 1])
        self.host.call("steps_so_far")
        time.sleep(0.02)
        self.assertEqual(self.host.call("steps_so_far"), [], "it waits for credit")
        self.grant(call_id, 1)
        self.assertEqual(self.host.receive()["value"], 2)
        self.grant(call_id, 100)
        chunks, end = self.stream(call_id)
        self.assertEqual((chunks, end["value"]), ([3, 4], {"count": 5}))

    def test_the_slowest_stalls_only_itself(self):
        slow = self.send({"chunks": 1, "bytes": 1 << 20}, count=100)
        self.assertEqual(self.host.receive()["value"], 0)
        for _ in range(3):
            self.assertEqual(self.stream(self.send(count=50))[0], list(range(50)))
        self.assertIn([slow], [stalled for _, _, stalled in self.host.call("steps_so_far")])
        self.grant(slow, 1000)
        self.assertEqual(self.stream(slow)[0], list(range(1, 100)))

    def test_kept_chunks_come_before_the_answer(self):
        call_id = self.send({"chunks": 1, "bytes": 1 << 20}, count=20, over="flood")
        self.send(count=1, over="wait")  # so that there are steps
        self.assertEqual({self.host.receive()["value"] for _ in range(2)}, {0})
        time.sleep(0.05)
        self.assertEqual(self.host.ping()["in_flight"], 2)
        self.grant(call_id, 1000)
        chunks, end = self.stream(call_id)
        self.assertEqual((chunks, end["value"]), (list(range(1, 20)), {"count": 20}))

    def test_too_many_chunks_fail_the_call(self):
        call_id = self.send({"chunks": 1, "bytes": 1 << 20}, count=2000, over="flood")
        other = self.send(count=1, over="wait")
        self.assertEqual({self.host.receive()["value"] for _ in range(2)}, {0})
        answer = self.host.receive()
        self.assertEqual((answer["id"], answer["error"]["type"]), (call_id, "skep.ResultTooLarge"))
        self.assertEqual(answer["error"]["message"], "more than 1000 chunks of 'generate' wait for the consumer")
        self.wait_for_output(f"gone {call_id}")
        self.host.cancel(other)

    def test_a_stalled_call_is_cancelled(self):
        call_id = self.send({"chunks": 0, "bytes": 0})
        self.host.until_busy()
        self.host.cancel(call_id)
        self.assertEqual(self.stream(call_id)[1]["error"]["type"], "skep.Cancelled")
        self.wait_for_output(f"gone {call_id}")

    def test_a_stalled_call_meets_its_deadline(self):
        call_id = self.host.send_call("generate", {}, stream={"chunks": 0, "bytes": 0}, deadline_ms=50)
        error = self.stream(call_id)[1]["error"]
        self.assertEqual((error["type"], error["message"]),
                         ("skep.DeadlineExceeded", "the deadline of 'generate' passed before its end"))
        self.wait_for_output(f"gone {call_id}")


class Ends(EngineCase):
    def setUp(self):
        self.start_engine()

    def test_a_cancelled_call_is_gone(self):
        call_id, other = self.send(count=1, over="wait"), self.send(count=1, over="wait")
        self.host.receive()
        self.host.receive()
        self.host.cancel(call_id)
        self.assertEqual(self.stream(call_id)[1]["error"]["type"], "skep.Cancelled")
        self.wait_for_output(f"gone {call_id}")
        steps = self.host.call("steps_so_far")
        self.assertEqual([step[1] for step in steps if step[1]], [[call_id]])
        self.assertEqual(self.host.ping()["in_flight"], 1)
        self.host.cancel(other)

    def test_a_late_call_is_gone(self):
        call_id = self.host.send_call("generate", {"count": 1, "over": "wait"}, stream=AMPLE, deadline_ms=50)
        self.assertEqual(self.stream(call_id)[1]["error"]["type"], "skep.DeadlineExceeded")
        self.wait_for_output(f"gone {call_id}")

    def test_calls_that_never_begin(self):
        self.assertEqual(self.host.call_error("generate", deadline_ms=0)["type"], "skep.DeadlineExceeded")
        self.host.cancel(self.host.last_id + 1)
        self.host.ping()
        self.assertEqual(self.host.call_error("generate")["type"], "skep.Cancelled")
        self.assertEqual(self.stream(self.send())[0], [0, 1, 2])
        self.assertEqual([step[1] for step in self.host.call("steps_so_far") if step[1]], [])

    def test_a_recalled_call_never_begins(self):
        self.host.tell({"type": "recall", "id": 1})
        self.assertEqual(self.host.receive(self.host.control), {"type": "recalled", "id": 1})
        self.send()
        self.assertEqual(self.stream(self.send())[0], [0, 1, 2])
        self.host.tell({"type": "recall", "id": 2})
        self.assertEqual(self.host.ping(), {"type": "pong", "seq": 1, "in_flight": 0, "completed": 1})
        self.assertEqual([step[0] for step in self.host.call("steps_so_far") if step[0]], [[2]])

    def test_an_error_of_the_function_is_of_all_open_calls(self):
        waiting = self.send(count=1, over="wait")
        self.host.receive()
        bad = self.send(over="raise")
        for _, end in self.streams([waiting, bad]):
            self.assertEqual((end["error"]["type"], end["error"]["message"]), ("ValueError", "of the engine"))
            self.assertIn("in generate", end["error"]["traceback"])
        self.assertEqual(self.stream(self.send())[0], [0, 1, 2])

    def test_a_function_that_returns(self):
        error = self.stream(self.send(over="return"))[1]["error"]
        self.assertEqual((error["type"], error["message"]),
                         ("RuntimeError", "engine 'generate' has returned and left the call open"))
        self.assertEqual(self.stream(self.send())[0], [0, 1, 2])

    def test_an_exit_is_an_error(self):
        self.assertEqual(self.stream(self.send(over="exit"))[1]["error"]["type"], "SystemExit")
        self.assertEqual(self.stream(self.send())[0], [0, 1, 2])

    def test_a_forked_child_ends(self):
        self.assertEqual(self.stream(self.send(over="fork"))[1]["value"], 0)
        self.assertEqual(self.stream(self.send())[0], [0, 1, 2])

    def test_a_shutdown_waits_for_open_calls(self):
        call_id = self.send(count=1, over="wait")
        self.host.receive()
        self.host.tell({"type": "shutdown", "grace_ms": 1000})
        self.host.ping()
        self.host.cancel(call_id)
        self.assertEqual(self.stream(call_id)[1]["error"]["type"], "skep.Cancelled")
        self.assertEqual(self.host.finish()[:2], (0, f"gone {call_id}\nstopped\n"))

    def test_a_shutdown_without_calls(self):
        self.host.tell({"type": "shutdown", "grace_ms": 1000})
        self.assertEqual(self.host.finish()[:2], (0, "stopped\n"))

    def test_sigterm(self):
        for over in ("wait", None):
            self.start_engine()
            if over:
                self.send(count=1, over=over)
                self.host.receive()
            self.host.signal(signal.SIGTERM)
            self.assertEqual(self.host.finish()[:2], (0, "stopped\n"))

    def test_the_end_of_the_host(self):
        self.host.data.close()
        self.assertEqual(self.host.process.wait(60), 70)

    def test_a_broken_function(self):
        self.start_engine("""
worker = skep.Worker()
@worker.engine(slots=2)
def generate(engine): raise ValueError("at once")
""")
        for _ in range(3):
            self.assertEqual(self.stream(self.send())[1]["error"]["message"], "at once")
        self.host.tell({"type": "shutdown", "grace_ms": 1000})
        status, _, stderr = self.host.finish()
        self.assertEqual((status, stderr.count("ValueError: at once")), (0, 1))


class AtRandom(EngineCase):
    def test_cancels_and_credit_at_any_moment(self):
        self.start_engine()
        dice = random.Random(37)
        counts, credits, seen, cancelled = {}, {}, {}, set()
        waiting = [dice.randrange(60) for _ in range(150)]
        while waiting or counts:
            while waiting and len(counts) < 4:
                count, credit = waiting.pop(), dice.randrange(20)
                call_id = self.send({"chunks": credit, "bytes": 1 << 20}, count=count)
                counts[call_id], credits[call_id], seen[call_id] = count, credit, []
            act, call_id = dice.random(), dice.choice(list(counts))
            if act < 0.05:
                cancelled.add(call_id)
                self.host.cancel(call_id)
            elif act < 0.5:
                more = dice.randrange(1, 20)
                credits[call_id] += more
                self.host.tell({"type": "credit", "id": call_id, "credit": {"chunks": more, "bytes": 1 << 20}})
            while select.select([self.host.data], [], [], 0.0005)[0]:
                message = self.host.receive()
                chunks = seen[message["id"]]
                if message["type"] == "chunk":
                    self.assertEqual(message["value"], len(chunks))
                    chunks.append(message["value"])
                    self.assertLessEqual(len(chunks), credits[message["id"]])
                    continue
                count = counts.pop(message["id"])
                if message["type"] == "result":
                    self.assertEqual((message["value"], len(chunks)), ({"count": count}, count))
                else:
                    self.assertEqual(message["error"]["type"], "skep.Cancelled")
                    self.assertIn(message["id"], cancelled)
        self.assertEqual(self.host.ping(), {"type": "pong", "seq": 1, "in_flight": 0, "completed": 150})

    def test_calls_leave_nothing_behind(self):
        self.start_engine("""
import gc, sys

worker = skep.Worker()

@worker.engine("generate", slots=4)
def generate(engine):
    for step in engine:
        for call in step.new:
            engine.send(call, call.args)
            if call.args.get("fails"): engine.fail(call, ValueError("no"))
            elif call.args.get("unsendable"): engine.send(call, object())
            elif call.args.get("counts"):
                gc.collect()
                engine.finish(call, sys.getallocatedblocks())
            else: engine.finish(call, "end")
""")
        for round_number in range(2):
            for count in range((200, 3000)[round_number]):
                self.stream(self.send(**({}, {"fails": 1}, {"unsendable": 1})[count % 3]))
            blocks = self.stream(self.send(counts=1))[1]["value"]
            if round_number == 0:
                blocks_before = blocks
        self.assertLess(blocks - blocks_before, 500)


class Others(EngineCase):
    def test_other_commands_run_beside(self):
        for stdio in (False, True):
            self.start_engine(stdio=stdio)
            call_id = self.send({"chunks": 0, "bytes": 0})
            self.host.until_busy()
            self.assertEqual(self.host.call("echo", {"value": 1}), 1)
            self.assertEqual(self.host.call("sizes"), 1)
            self.assertEqual(self.host.call("skep.health_check"), "well")
            self.assertEqual(self.host.call_error("unknown")["type"], "skep.UnknownCommand")
            self.host.tell({"type": "credit", "id": call_id, "credit": AMPLE})
            self.assertEqual(self.stream(call_id)[0], [0, 1, 2])

    def test_they_need_a_thread_safe_script(self):
        self.start_engine(ENGINE.replace("thread_safe=True", ""), ready=False)
        self.assertIsNone(self.host.receive())
        status, _, stderr = self.host.finish()
        self.assertEqual(status, 78)
        self.assertIn("an engine and other commands (echo, steps_so_far, sizes), which run in threads beside it", stderr)

    def test_arrays(self):
        self.start_engine("""
worker = skep.Worker()
@worker.engine(slots=2)
def add(engine):
    for step in engine:
        for call in step.new:
            engine.send(call, skep.array(bytes(4)))
            engine.finish(call, call.args["x"].shape)
""")
        form = {"$array": {"$attachment": 0}, "dtype": "<f4", "shape": [2]}
        call_id = self.host.send_call("add", {"x": form}, [bytes(8)], arrays=["x"], stream=AMPLE)
        self.host.receive()
        self.assertEqual(self.host.received_attachments, [bytes(4)])
        self.assertEqual(self.host.receive(), {"type": "result", "id": call_id, "value": [2]})
        form["shape"] = [3]
        call_id = self.host.send_call("add", {"x": form}, [bytes(8)], arrays=["x"], stream=AMPLE)
        self.assertEqual(self.host.receive()["error"]["type"], "skep.InvalidArguments")


class Registration(unittest.TestCase):
    def setUp(self):
        self.worker = skep.Worker()

    def test_options(self):
        for slots in (0, -1, 65537, True, 1.5, "4"):
            with self.assertRaises(ValueError) as raised:
                self.worker.engine(slots=slots)
            self.assertIn("slots is a number of calls, 1 to 65536", str(raised.exception))

    def test_two_decorators_before_the_first_function(self):
        first, second = self.worker.engine("first", slots=2), self.worker.engine("second", slots=2)
        first(lambda engine: None)
        with self.assertRaisesRegex(ValueError, "there is already an engine 'first'"):
            second(lambda engine: None)

    def test_an_error_is_an_exception(self):
        @self.worker.engine(slots=2)
        def count(engine):
            for step in engine:
                for call in step.new:
                    engine.fail(call, "five")

        with self.assertRaisesRegex(TypeError, "the error of a call is an exception, not str"):
            self.worker.call("count")

    def test_functions(self):
        def none(): pass
        async def is_async(engine): pass
        def generator(engine): yield 1
        def generate(engine): pass

        for function in (none, is_async, generator):
            with self.assertRaises(TypeError):
                self.worker.engine(slots=2)(function)
        self.assertIs(self.worker.engine(slots=2)(generate), generate)
        with self.assertRaises(ValueError) as raised:
            self.worker.engine("other", slots=2)
        self.assertIn("there is already an engine 'generate'", str(raised.exception))


class LocalCall(unittest.TestCase):
    def setUp(self):
        self.worker = skep.Worker()

        @self.worker.engine("count", slots=4)
        def count(engine):
            for step in engine:
                for call in step.new:
                    for number in range(call.args["count"]):
                        engine.send(call, (number, len(call.attachments)))
                    if call.args["count"] == 3:
                        engine.fail(call, KeyError("three"))
                    elif call.args["count"] == 4:
                        return
                    engine.finish(call, "ignored")
                    if call.args["count"] == 1:
                        return

    def test_the_result_is_the_chunks(self):
        self.assertEqual(self.worker.call("count", [b"a"], count=2), [[0, 1], [1, 1]])
        self.assertEqual(self.worker.call("count", count=1), [[0, 0]])

    def test_errors(self):
        with self.assertRaises(KeyError):
            self.worker.call("count", count=3)
        with self.assertRaisesRegex(RuntimeError, "has returned and left the call open"):
            self.worker.call("count", count=4)
        with self.assertRaises(KeyError):
            self.worker.call("count")


if __name__ == "__main__":
    unittest.main()
