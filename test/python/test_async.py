"""Async commands: many calls at once on the event loop of one worker."""

import asyncio
import gc
import os
import re
import subprocess
import sys
import time
import unittest

import skep
from host import ROOT, HostCase, check_turns

COMMANDS = """
import asyncio, contextvars, threading, time

@worker.command
async def sleep(seconds):
    try:
        await asyncio.sleep(seconds)
    finally:
        print("cleaned up", flush=True)

@worker.command
async def echo(value): return value

@worker.command
async def who():
    await asyncio.sleep(0)
    call = skep.current()
    is_main = threading.current_thread() is threading.main_thread()
    return [call.id, call.correlation_id, bytes(skep.attachments()[0]).decode(), is_main]

user = contextvars.ContextVar("user", default="nobody")
@worker.command
async def log_in(name):
    before = user.get()
    user.set(name)
    await skep.call_host_async("tool")
    return before

@worker.command
async def ask(n):
    skep.progress(0.5)
    return await skep.call_host_async("tool", n=n)

@worker.command
async def ask_wrongly():
    return skep.call_host("tool")

@worker.command
async def ask_in_a_thread(n):
    context = contextvars.copy_context()
    loop = asyncio.get_running_loop()
    return await loop.run_in_executor(None, lambda: context.run(skep.call_host, "tool", n=n))

@worker.command
async def tokens(count):
    try:
        for n in range(count): yield n
    finally:
        await asyncio.sleep(0)
        print("cleaned up", flush=True)

@worker.command
async def slow_tokens():
    try:
        yield 1
        await asyncio.sleep(1000)
    finally:
        print("cleaned up", flush=True)

@worker.command
async def deaf_tokens():
    try:
        while True:
            try: await asyncio.sleep(0.05)
            except asyncio.CancelledError: pass
            yield 1
    finally:
        await asyncio.sleep(0)
        print("cleaned up", flush=True)

@worker.command
async def block(seconds): time.sleep(seconds)

@worker.command
async def fails(): raise ValueError("mine")

@worker.command
async def blames(): raise skep.Error("code", "no", data={"n": 1})

@worker.command
async def gives_up(): raise asyncio.CancelledError

@worker.command
async def interrupts(): raise KeyboardInterrupt

@worker.command
async def odd(): return object()

@worker.command
async def stubborn():
    try: await asyncio.sleep(1000)
    except asyncio.CancelledError:
        await asyncio.sleep(0.1)
        return ["put away", skep.current().cancelled()]

@worker.command
async def forks(end="pass"):
    import os, sys
    child = os.fork()
    return os.waitpid(child, 0)[1] >> 8 if child else exec(end)
"""
PLAIN = """
@worker.command
def plain(n=0):
    return [threading.current_thread() is threading.main_thread(), skep.current().id]

@worker.command
def spin():
    try:
        skep.progress(0)
        rounds = 0
        while True: rounds += 1
    finally:
        print("cleaned up", flush=True)

@worker.command
def plain_ask(n): return skep.call_host("tool", n=n)
"""
AMPLE = {"chunks": 1000, "bytes": 1 << 20}


class Async(HostCase):
    def start_async(self, options="", more="", ready=True, **how):
        script = f"import skep\nworker = skep.Worker({options})\n{COMMANDS}{more}\nworker.run()\n"
        self.host = self.start_script(script, ready, **how)
        return self.host

    def answers(self, count):
        answers = [self.host.receive() for _ in range(count)]
        return {answer["id"]: answer for answer in answers}

    def until_busy(self, calls):
        while self.host.ping()["in_flight"] < calls:
            pass

    def test_hello_says_how_many(self):
        self.assertEqual(self.start_async(ready=False).handshake()["capacity"], 100)
        self.assertEqual(self.start_async("concurrency=7", ready=False).handshake()["capacity"], 7)

    def test_hundred_calls_that_wait_take_as_long_as_one(self):
        for stdio in (False, True):
            self.start_async(stdio=stdio)
            started = time.monotonic()
            ids = [self.host.send_call("sleep", {"seconds": 1}) for _ in range(100)]
            self.assertEqual(set(self.answers(100)), set(ids))
            self.assertLess(time.monotonic() - started, 60)  # a hundred after each other take 100
            self.assertEqual(self.host.ping()["completed"], 100)

    def test_no_more_at_once_than_it_says(self):
        self.start_async("concurrency=2")
        ids = [self.host.send_call("sleep", {"seconds": 0.05}) for _ in range(6)]
        for _ in ids:
            self.assertLessEqual(self.host.ping()["in_flight"], 2)
            self.host.receive()

    def test_no_more_at_once_than_the_host_allows(self):
        self.start_async(ready=False).receive()
        self.host.welcome(capacity=2)
        self.host.receive()
        check_turns(self, ["ask"] * 6)

    def test_what_is_no_capacity(self):
        for bad in (0, -1, 1.5, "2", None):
            self.start_async(ready=False).receive()
            self.host.welcome(capacity=bad)
            status, _, stderr = self.host.finish()
            self.assertEqual(status, 76)
            self.assertIn("the capacity is a number of calls", stderr)

    def test_each_task_knows_its_call(self):
        self.start_async()
        ids = [self.host.send_call("who", (), [b"%d" % n], correlation_id=f"c{n}") for n in range(200)]
        answers = self.answers(200)
        for n, call_id in enumerate(ids):
            self.assertEqual(answers[call_id]["value"], [call_id, f"c{n}", str(n), True])

    def test_no_call_sees_the_variables_of_another(self):
        self.start_async("concurrency=1")
        first = self.host.send_call("log_in", {"name": "Ada"})
        asked = self.host.receive_tool_call()
        second = self.host.send_call("log_in", {"name": "Eve"})  # which begins when the first one ends
        self.host.ping()
        self.host.answer_tool(asked)
        self.assertEqual(self.host.receive()["id"], first)
        self.host.answer_tool(self.host.receive_tool_call())
        self.assertEqual(self.host.receive(), {"type": "result", "id": second, "value": "nobody"})

    def test_errors(self):
        self.start_async()
        for command, kind in (
            ("fails", "ValueError"),
            ("missing", "skep.UnknownCommand"),
            ("odd", "skep.UnserializableResult"),
            ("gives_up", "asyncio.exceptions.CancelledError"),
            ("interrupts", "KeyboardInterrupt"),
            ("echo", "skep.InvalidArguments"),
        ):
            self.assertEqual(self.host.call_error(command)["type"], kind)
        error = self.host.call_error("blames")
        self.assertEqual((error["code"], error["data"], error["traceback"]), ("code", {"n": 1}, ""))
        traceback = self.host.call_error("fails")["traceback"]
        self.assertTrue(traceback.startswith("Traceback (most recent call last):\n  File"), traceback)
        self.assertNotIn("/skep/", traceback)
        self.assertEqual(self.host.call_error("echo", {"value": 1}, deadline_ms=0)["type"], "skep.DeadlineExceeded")

    def test_a_task_factory_that_raises_errors(self):
        more = (
            "def no_task(*args, **kwargs): raise OSError('no task')\n"
            "@worker.command\nasync def spoil(): asyncio.get_running_loop().set_task_factory(no_task)\n"
        )
        self.start_async(more=more)
        self.host.call("spoil")
        error = self.host.call_error("sleep", {"seconds": 0})
        self.assertEqual((error["type"], error["message"]), ("OSError", "no task"))
        self.assertEqual(self.host.ping()["in_flight"], 0)
        self.host.tell({"type": "shutdown"})
        self.assertEqual(self.host.finish(), (0, "", ""))

    def test_cancelled_where_it_waits_and_no_other(self):
        self.start_async()
        ids = [self.host.send_call("sleep", {"seconds": 1000}) for _ in range(3)]
        self.until_busy(3)
        self.host.cancel(ids[1])
        answer = self.host.receive()
        self.assertEqual((answer["id"], answer["error"]["type"]), (ids[1], "skep.Cancelled"))
        self.assertIn("in sleep", answer["error"]["traceback"])
        self.assertEqual(self.host.call("echo", {"value": 1}), 1)
        for call_id in (ids[0], ids[2]):
            self.host.cancel(call_id)
        self.assertEqual(set(self.answers(2)), {ids[0], ids[2]})

    def test_cancels_at_any_moment_reach_the_right_call(self):
        self.start_async()
        for round_number in range(300):
            call_id = self.host.send_call("sleep", {"seconds": 0.0001 * (round_number % 3)})
            other = self.host.send_call("echo", {"value": round_number})
            for _ in range(round_number % 4):
                self.host.ping()
            self.host.cancel(call_id)
            answers = self.answers(2)
            self.assertEqual(answers[other].get("value"), round_number, answers)
            error = answers[call_id].get("error")
            self.assertIn(error and error["type"], (None, "skep.Cancelled"))

    def test_a_cancel_before_its_call_and_of_one_that_waits(self):
        self.start_async("concurrency=1")
        self.host.cancel(1)
        self.host.ping()
        self.assertEqual(self.host.call_error("echo", {"value": 1})["type"], "skep.Cancelled")
        running, waiting = (self.host.send_call("sleep", {"seconds": 1000}) for _ in range(2))
        self.until_busy(1)
        self.host.cancel(waiting)
        self.host.cancel(running)
        self.assertEqual({answer["error"]["type"] for answer in self.answers(2).values()}, {"skep.Cancelled"})

    def test_a_command_may_clean_up_and_answer_all_the_same(self):
        self.start_async()
        call_id = self.host.send_call("stubborn")
        self.until_busy(1)
        self.host.cancel(call_id)
        self.host.cancel(call_id)
        self.assertEqual(self.host.receive()["value"], ["put away", True])

    def test_streams(self):
        self.start_async()
        call_id = self.host.send_call("tokens", {"count": 5}, stream=AMPLE)
        values = [self.host.receive()["value"] for _ in range(5)]
        self.assertEqual(values, [0, 1, 2, 3, 4])
        self.assertEqual(self.host.receive(), {"type": "result", "id": call_id, "value": None})
        self.assertEqual(self.host.call("tokens", {"count": 3}), [0, 1, 2])
        self.assertEqual(self.host.call_error("tokens", {"count": 10_001})["type"], "skep.ResultTooLarge")

    def test_streams_wait_for_their_own_credit(self):
        self.start_async()
        first = self.host.send_call("tokens", {"count": 3}, stream={"chunks": 1, "bytes": 1000})
        self.assertEqual(self.host.receive()["value"], 0)
        second = self.host.send_call("tokens", {"count": 3}, stream={"chunks": 1, "bytes": 1000})
        self.assertEqual(self.host.receive(), {"type": "chunk", "id": second, "value": 0})
        for call_id in (second, first):
            self.host.tell({"type": "credit", "id": call_id, "credit": {"chunks": 5, "bytes": 100}})
            values = [self.host.receive() for _ in range(3)]
            self.assertEqual([message["id"] for message in values], [call_id] * 3)

    def test_a_generator_does_not_keep_the_loop(self):
        self.start_async()
        endless = self.host.send_call("tokens", {"count": 1 << 40}, stream={"chunks": 1 << 40, "bytes": 1 << 40})
        self.host.receive()
        other = self.host.send_call("echo", {"value": 1})
        while self.host.receive()["id"] != other:
            pass
        self.host.cancel(endless)
        answer = self.host.receive()
        while answer["type"] == "chunk":
            answer = self.host.receive()
        self.assertEqual(answer["error"]["type"], "skep.Cancelled")

    def test_a_cancelled_stream_cleans_up_wherever_it_is(self):
        self.start_async()
        for command, args, credit in (
            ("tokens", {"count": 3}, {"chunks": 1, "bytes": 1000}),
            ("slow_tokens", {}, AMPLE),
        ):
            call_id = self.host.send_call(command, args, stream=credit)
            self.host.receive()
            self.host.cancel(call_id)
            self.assertEqual(self.host.receive()["error"]["type"], "skep.Cancelled")
        self.host.tell({"type": "shutdown", "grace_ms": 1000})
        self.assertEqual(self.host.finish(), (0, "cleaned up\n" * 2, ""))

    def test_a_generator_that_goes_on_when_it_is_cancelled_is_closed(self):
        self.start_async()
        call_id = self.host.send_call("deaf_tokens", stream={"chunks": 5, "bytes": 1000})
        self.host.receive()
        self.host.cancel(call_id)
        answer = self.host.receive()
        while answer["type"] == "chunk":
            answer = self.host.receive()
        self.assertEqual(answer["error"]["type"], "skep.Cancelled")
        self.host.tell({"type": "shutdown", "grace_ms": 1000})
        self.assertEqual(self.host.finish(), (0, "cleaned up\n", ""))

    def test_tools_and_progress(self):
        self.start_async()
        ids = {self.host.send_call("ask", {"n": n}): n for n in range(20)}
        reported, returned = [], {}
        while len(returned) < 20:
            message = self.host.receive()
            if message["type"] == "progress":
                reported.append(message["id"])
            elif message["type"] == "tool_call":
                self.assertEqual(ids[message["id"]], message["args"]["n"])
                self.host.answer_tool(message, message["args"]["n"] * 10)
            else:
                returned[message["id"]] = message["value"]
        self.assertEqual(returned, {id: n * 10 for id, n in ids.items()})
        self.assertEqual(sorted(reported), sorted(ids))

    def test_a_cancelled_call_waits_for_no_tool(self):
        self.start_async()
        for by_the_tool in (False, True):
            call_id = self.host.send_call("ask", {"n": 1})
            self.assertEqual(self.host.receive()["type"], "progress")
            asked = self.host.receive_tool_call()
            if by_the_tool:
                self.host.fail_tool(asked, "skep.Cancelled", "the call was cancelled")
            self.host.cancel(call_id)
            self.assertEqual(self.host.receive()["error"]["type"], "skep.Cancelled")

    def test_blocking_tool_calls_are_for_threads(self):
        self.start_async()
        self.assertIn("await skep.call_host_async()", self.host.call_error("ask_wrongly")["message"])
        self.host.send_call("ask_in_a_thread", {"n": 1})
        self.host.answer_tool(self.host.receive_tool_call(), 5)
        self.assertEqual(self.host.receive()["value"], 5)

    def test_a_blocked_loop_is_reported_once_for_each_place(self):
        self.start_async()
        for _ in range(2):
            blocking = self.host.send_call("block", {"seconds": 1.5})
            self.until_busy(1)
            self.host.send_call("echo", {"value": 1})
            self.answers(2)
        self.host.tell({"type": "shutdown", "grace_ms": 1000})
        status, _, stderr = self.host.finish()
        self.assertEqual(status, 0)
        self.assertIn("skep: the event loop has been blocked for 1 s", stderr)
        # A machine that stands still may cause reports of other places.
        places = re.findall(r'It is here:\n  File ".*script.py", line \d+, in block\n', stderr)
        self.assertEqual(len(places), 1, stderr)

    def test_a_loop_that_is_busy_alone_harms_nobody(self):
        self.start_async()
        self.host.call("block", {"seconds": 1.2})
        self.host.tell({"type": "shutdown", "grace_ms": 1000})
        self.assertEqual(self.host.finish(), (0, "", ""))

    def test_shutdown_lets_what_runs_finish(self):
        self.start_async()
        ids = [self.host.send_call("sleep", {"seconds": 0.2}) for _ in range(2)]
        self.until_busy(2)
        self.host.tell({"type": "shutdown", "grace_ms": 1000})
        self.assertEqual(set(self.answers(2)), set(ids))
        self.assertTrue(self.host.is_closed(self.host.data))
        self.assertEqual(self.host.finish(), (0, "cleaned up\n" * 2, ""))

    def test_shutdown_of_an_idle_worker(self):
        self.start_async()
        self.host.tell({"type": "shutdown", "grace_ms": 1000})
        self.assertEqual(self.host.finish(), (0, "", ""))

    def test_sigterm_cancels_what_waits(self):
        for stdio in (False, True):
            self.start_async(stdio=stdio)
            self.host.send_call("sleep", {"seconds": 1000})
            self.host.send_call("tokens", {"count": 3}, stream={"chunks": 0, "bytes": 1000})
            self.until_busy(2)
            self.host.signal(15)
            status, stdout, stderr = self.host.finish()
            self.assertEqual((status, (stdout + stderr).count("cleaned up\n")), (0, 2))

    def test_sigterm_while_idle(self):
        for _ in range(3):
            self.start_async(more="worker.on_stop(lambda: print('stopped'))\n")
            self.host.signal(15)
            self.assertEqual(self.host.finish(), (0, "stopped\n", ""))

    def test_a_forked_child_ends_where_it_comes_back(self):
        self.start_async()
        for end, status in (("pass", 0), ("sys.exit(5)", 5), ("sys.exit('mine')", 1), ("raise ValueError", 1)):
            self.assertEqual(self.host.call("forks", {"end": end}), status)
            self.assertEqual(self.host.call("echo", {"value": 1}), 1)
        self.host.tell({"type": "shutdown", "grace_ms": 1000})
        status, _, stderr = self.host.finish()
        self.assertEqual((status, stderr.count("Traceback"), stderr.count("mine\n")), (0, 1, 1))

    def test_a_child_of_a_hook_leaves_the_loop_to_the_worker(self):
        self.start_async(
            more="import os, sys\n@worker.on_start\ndef fork():\n"
            "    if not os.fork(): sys.exit()\n"
            "    os.wait()\n"
        )
        self.assertEqual(self.host.call("echo", {"value": 1}), 1)

    def test_the_host_is_gone(self):
        self.start_async()
        self.host.send_call("sleep", {"seconds": 1000})
        self.host.data.close()
        self.assertEqual(self.host.finish()[0], 70)

    def test_a_broken_protocol(self):
        self.start_async()
        self.host.data.sendall(b"\0\0\0\x06\0\0\0\x02{}")
        self.assertEqual(self.host.finish()[0], 76)

    def test_hooks_and_health_checks_may_be_async(self):
        self.start_async(
            more="seen = []\n"
            "@worker.on_start\nasync def load(): seen.append(asyncio.get_running_loop())\n"
            "@worker.command\nasync def same(): return seen == [asyncio.get_running_loop()]\n"
            "@worker.on_stop\nasync def close(): print(seen == [asyncio.get_running_loop()])\n"
            "@worker.health_check\nasync def check(): await asyncio.sleep(0); return {'fine': True}\n"
        )
        self.assertTrue(self.host.call("same"))
        self.assertEqual(self.host.call("skep.health_check"), {"fine": True})
        self.assertEqual(self.host.ping()["completed"], 1)
        self.host.tell({"type": "shutdown", "grace_ms": 1000})
        self.assertEqual(self.host.finish(), (0, "True\n", ""))


class Mixed(Async):
    """Everything above again, and plain commands beside it."""

    def start_async(self, options="", more="", ready=True, **how):
        return super().start_async(f"thread_safe=True, {options}", PLAIN + more, ready, **how)

    def test_plain_commands_run_in_threads(self):
        self.start_async()
        self.assertEqual(self.host.call("plain"), [False, 1])
        spinning = self.host.send_call("spin")
        self.assertEqual(self.host.receive()["type"], "progress")
        self.assertEqual(self.host.call("plain"), [False, 3])
        self.assertEqual(self.host.call("echo", {"value": 1}), 1)
        self.host.cancel(spinning)
        self.assertEqual(self.host.receive()["error"]["type"], "skep.Cancelled")
        self.host.send_call("plain_ask", {"n": 1})
        self.host.answer_tool(self.host.receive_tool_call(), 5)
        self.assertEqual(self.host.receive()["value"], 5)

    def test_sigterm_interrupts_threads(self):
        self.start_async()
        self.host.send_call("spin")
        self.assertEqual(self.host.receive()["type"], "progress")
        self.host.signal(15)
        self.assertEqual(self.host.finish(), (0, "cleaned up\n", ""))

    def test_they_have_to_be_declared_thread_safe(self):
        host = self.start(COMMANDS + PLAIN, ready=False)
        self.assertIsNone(host.receive())
        status, _, stderr = host.finish()
        self.assertEqual(status, 78)
        self.assertIn("async commands and plain ones (plain, spin, plain_ask)", stderr)


class WithoutPool(unittest.TestCase):
    def setUp(self):
        self.worker = skep.Worker()
        self.loops = []

        @self.worker.on_start
        async def start():
            self.loops.append(asyncio.get_running_loop())

        @self.worker.command
        async def ask():
            self.loops.append(asyncio.get_running_loop())
            await asyncio.sleep(0)
            return [skep.current().command, await skep.call_host_async("tool", n=1)]

        @self.worker.command
        async def tokens(count):
            for n in range(count):
                yield n

    def test_commands_run_on_one_loop(self):
        async def tool(n):
            await asyncio.sleep(0)
            return n + 1

        for fake in (tool, lambda n: n + 1):
            with skep.fake_tools({"tool": fake}):
                self.assertEqual(self.worker.call("ask"), ["ask", 2])
        self.assertEqual(len(set(self.loops)), 1)
        self.assertEqual(self.worker.call("tokens", count=3), [0, 1, 2])

    def test_a_loop_that_is_not_needed_any_more_is_closed(self):
        with skep.fake_tools({"tool": lambda n: n}):
            self.worker.call("ask")
        del self.worker
        gc.collect()
        self.assertTrue(self.loops[0].is_closed())

    def test_who_needs_no_loop_does_not_import_one(self):
        code = "import skep, sys; skep.Worker().command(lambda: 0, name='p'); sys.exit('asyncio' in sys.modules)"
        env = {**os.environ, "PYTHONPATH": str(ROOT / "lib" / "python")}
        self.assertEqual(subprocess.run([sys.executable, "-c", code], env=env).returncode, 0)

    def test_what_is_no_concurrency(self):
        for bad in (0, -1, 1.5, "many", True):
            with self.assertRaises(ValueError):
                skep.Worker(concurrency=bad)


if __name__ == "__main__":
    unittest.main()
