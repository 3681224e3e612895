"""Commands ask their host for something: skep.call_host()."""

import os
import subprocess
import sys
import unittest

import skep
from host import ROOT, HostCase

ASKING = """
import asyncio, os, threading, time

@worker.command
def ask(name="tool", timeout=None, **args):
    value = skep.call_host(name, timeout, **args)
    return [type(value).__name__, value]

@worker.command
def ask_raw():
    return skep.call_host("tool", image=b"abc", more=[bytearray(b"de")])

@worker.command
def error():
    try:
        skep.call_host("tool")
    except skep.HostError as error:
        return [error.type, error.message, error.code, error.data, str(error)]

@worker.command
def thread_asks(count=1):
    results = []
    threads = [
        threading.Thread(target=lambda n=n: results.append(skep.call_host("tool", n=n))) for n in range(count)
    ]
    for thread in threads: thread.start()
    for thread in threads: thread.join()
    return sorted(results)

@worker.command
def plain(): return "plain"

@worker.command
def says(code):
    try:
        return eval(code)
    except Exception as error:
        return f"{type(error).__name__}: {error}"

@worker.command
def leaves_a_thread():
    def later():
        go.wait()
        try:
            skep.progress(0.5)
            skep.call_host("tool")
        except RuntimeError as error:
            said.append(str(error))
    global go, said, thread
    go, said = threading.Event(), []
    threading.Thread(target=lambda: None)
    call = skep.current()
    def keep():
        from skep._calls.call import set_context_call
        set_context_call(call)
        later()
    thread = threading.Thread(target=keep)
    thread.start()

@worker.command
def look_after_it():
    go.set()
    thread.join()
    return said

@worker.command
def cleans_up():
    try:
        skep.call_host("tool")
    except skep.Cancelled:
        try:
            skep.call_host("release")
        except skep.Cancelled:
            return ["cancelled again", skep.current().cancelled()]

@worker.command
def asynchronously(count):
    async def all():
        return await asyncio.gather(*(skep.call_host_async("tool", n=n) for n in range(count)))
    return asyncio.run(all())

@worker.command
def forks():
    pid = os.fork()
    if pid: return os.WEXITSTATUS(os.waitpid(pid, 0)[1])
    skep.progress(0.5)
    try:
        skep.call_host("tool")
    except RuntimeError as error:
        os._exit(7 if "forked" in str(error) else 8)

class Odd:
    def to_dict(self): raise KeyError("odd")

@worker.command
def streams():
    for n in range(2):
        yield skep.call_host("tool", n=n)
"""


class Tools(HostCase):
    def setUp(self):
        self.host = self.start(ASKING)

    def test_a_command_asks_and_gets_what_the_tool_returns(self):
        call_id = self.host.send_call("ask", {"name": "lookup", "key": "x", "self": 1, "call": None})
        asked = self.host.receive()
        self.assertEqual(
            asked,
            {
                "type": "tool_call",
                "id": call_id,
                "tool_call": 1,
                "name": "lookup",
                "args": {"key": "x", "self": 1, "call": None},
            },
        )
        self.assertEqual(self.host.ping()["in_flight"], 1)
        self.host.answer_tool(asked, {"found": True})
        expected = {"type": "result", "id": call_id, "value": ["dict", {"found": True}]}
        self.assertEqual(self.host.receive(), expected)

    def test_numbers_rise_from_call_to_call(self):
        for number in (1, 2):
            self.host.send_call("ask")
            asked = self.host.receive_tool_call()
            self.assertEqual(asked["tool_call"], number)
            self.host.answer_tool(asked)
            self.assertEqual(self.host.receive()["value"], ["NoneType", None])

    def test_attachments_both_ways(self):
        self.host.send_call("ask_raw")
        asked = self.host.receive_tool_call()
        self.assertEqual(asked["args"], {"image": {"$attachment": 0}, "more": [{"$attachment": 1}]})
        self.assertEqual(self.host.received_attachments, [b"abc", b"de"])
        self.host.answer_tool(asked, {"a": [{"$attachment": 1}], "b": {"$attachment": 2}}, [b"x", b"yy"])
        value = self.host.receive()["value"]
        self.assertEqual(value, {"a": [{"$attachment": 0}], "b": {"$attachment": 2}})
        self.assertEqual(self.host.received_attachments, [b"yy"])

    def test_attachments_of_a_tool_that_returns_nothing_else(self):
        self.host.send_call("ask")
        self.host.answer_tool(self.host.receive_tool_call(), None, [b"x", b"yy"])
        self.assertEqual(self.host.receive()["value"], ["list", [{"$attachment": 0}, {"$attachment": 1}]])

    def test_an_error_of_a_tool(self):
        self.host.send_call("error")
        asked = self.host.receive_tool_call()
        self.host.fail_tool(asked, "skep.UnknownTool", "there is no tool 'tool'")
        said = "there is no tool 'tool'"
        value = ["skep.UnknownTool", said, None, None, f"skep.UnknownTool: {said}"]
        self.assertEqual(self.host.receive()["value"], value)
        self.host.send_call("error")
        self.host.fail_tool(self.host.receive_tool_call(), "my::error", "no", code="busy", data={"n": 1})
        self.assertEqual(self.host.receive()["value"], ["my::error", "no", "busy", {"n": 1}, "my::error: no"])

    def test_an_error_that_nobody_catches(self):
        self.host.send_call("ask")
        self.host.fail_tool(self.host.receive_tool_call(), "my::error", "no")
        error = self.host.receive()["error"]
        self.assertEqual((error["type"], error["message"]), ("skep.HostError", "my::error: no"))
        self.assertIn("in ask", error["traceback"])

    def test_threads_of_a_command_ask(self):
        call_id = self.host.send_call("thread_asks", {"count": 5})
        asked = [self.host.receive_tool_call() for _ in range(5)]
        self.assertEqual([one["tool_call"] for one in asked], [1, 2, 3, 4, 5])
        for one in reversed(asked):
            self.host.answer_tool(one, one["args"]["n"])
        self.assertEqual(self.host.receive(), {"type": "result", "id": call_id, "value": [0, 1, 2, 3, 4]})

    def test_tasks_of_a_command_ask(self):
        self.host.send_call("asynchronously", {"count": 5})
        for asked in reversed([self.host.receive_tool_call() for _ in range(5)]):
            self.host.answer_tool(asked, asked["args"]["n"])
        self.assertEqual(self.host.receive()["value"], [0, 1, 2, 3, 4])

    def test_a_generator_asks_between_its_chunks(self):
        self.host.send_call("streams", stream={"chunks": 10, "bytes": 1000})
        for n in range(2):
            self.host.answer_tool(self.host.receive_tool_call(), n)
            self.assertEqual(self.host.receive()["value"], n)
        self.assertEqual(self.host.receive()["type"], "result")

    def test_a_cancellation_ends_the_waiting(self):
        for command in ("ask", "asynchronously"):
            with self.subTest(command):
                call_id = self.host.send_call(command, {"count": 3} if command == "asynchronously" else {})
                self.host.receive_tool_call()
                self.host.cancel(call_id)
                answer = self.host.receive()
                while answer["type"] == "tool_call":
                    answer = self.host.receive()
                self.assertEqual(answer["error"]["type"], "skep.Cancelled")
                self.assertEqual(self.host.call("plain"), "plain")

    def test_the_hosts_word_that_it_is_cancelled_is_enough(self):
        call_id = self.host.send_call("cleans_up")
        asked = self.host.receive_tool_call()
        self.host.fail_tool(asked, "skep.Cancelled", "the call was cancelled")
        self.host.cancel(call_id)
        answer = self.host.receive()
        self.assertEqual((answer["type"], answer["value"]), ("result", ["cancelled again", True]))

    def test_a_cancellation_ends_the_waiting_of_threads(self):
        call_id = self.host.send_call("thread_asks", {"count": 2})
        for _ in range(2):
            self.host.receive_tool_call()
        self.host.cancel(call_id)
        self.assertEqual(self.host.receive()["error"]["type"], "skep.Cancelled")

    def test_sigterm_ends_the_waiting(self):
        self.host.send_call("ask")
        self.host.receive_tool_call()
        self.host.signal(15)
        self.assertIsNone(self.host.receive())
        self.assertEqual(self.host.finish()[0], 0)

    def test_a_time_of_its_own_and_the_deadline_bound_the_waiting(self):
        self.host.send_call("ask", {"timeout": 0.05})
        late = self.host.receive_tool_call()
        error = self.host.receive()["error"]
        self.assertEqual(error["type"], "TimeoutError")
        self.assertEqual(error["message"], "tool 'tool' has not answered within 0.05 s")
        self.host.answer_tool(late)
        self.host.send_call("ask", {"timeout": 1000}, deadline_ms=100)
        self.host.receive_tool_call()
        error = self.host.receive()["error"]
        self.assertIn("has not answered before the deadline of the call", error["message"])
        self.assertEqual(self.host.call("plain"), "plain")

    def test_what_cannot_be_sent_is_an_error_there(self):
        for code, said in (
            ("skep.call_host('t', a=1j)", "cannot be sent: value of type 'complex' at args.a"),
            ("skep.call_host('t', a=2**64)", "integer at args.a is not within"),
            ("skep.call_host('t', a=Odd())", "KeyError: 'odd'"),
            ("skep.call_host('t', 0)", "ValueError: the timeout of a tool call is more than 0"),
            ("skep.call_host(5)", "TypeError: the name of a tool is text"),
            ("skep.call_host('t' * 300)", "names are shorter"),
            ("skep.call_host('t', a=b'x' * (64 << 20))", "the limit is 67108864 bytes"),
            ("skep.call_host('t', a='x' * (64 << 20))", "the limit is 67108864 bytes"),
        ):
            with self.subTest(code):
                self.assertIn(said, self.host.call("says", {"code": code}))

    def test_nothing_is_said_of_a_call_that_is_answered(self):
        self.host.call("leaves_a_thread")
        said = self.host.call("look_after_it")
        self.assertEqual(said, ["cannot call tool 'tool': the call that it is for has been answered"])

    def test_answers_nobody_waits_for_are_ignored(self):
        self.host.tell({"type": "tool_result", "tool_call": 99, "value": 1})
        self.assertEqual(self.host.call("plain"), "plain")

    def test_malformed_answers_break_the_protocol(self):
        self.host.tell({"type": "tool_error", "tool_call": 1, "error": {"type": 1}})
        self.assertEqual(self.host.finish()[0], 76)

    def test_a_forked_child_has_no_host(self):
        self.assertEqual(self.host.call("forks"), 7)
        self.assertEqual(self.host.call("plain"), "plain")

    def test_outside_of_a_call(self):
        for use in (lambda: skep.call_host("tool"), lambda: skep.progress(0.5)):
            with self.assertRaisesRegex(RuntimeError, "no call is running"):
                use()


class Limited(HostCase):
    def test_more_requests_than_the_host_takes_wait(self):
        for command in ("thread_asks", "asynchronously"):
            with self.subTest(command):
                host = self.start(ASKING, ready=False)
                host.handshake(tool_calls=2)
                host.send_call(command, {"count": 5})
                seen = []
                asked = [host.receive_tool_call(), host.receive_tool_call()]
                for _ in range(5):
                    self.assertEqual(host.ping()["in_flight"], 1)
                    host.data.setblocking(False)
                    with self.assertRaises(BlockingIOError):
                        host.data.recv(1)
                    host.data.settimeout(60)
                    one = asked.pop(0)
                    seen.append(one["args"]["n"])
                    host.answer_tool(one, one["args"]["n"])
                    if len(seen) + len(asked) < 5:
                        asked.append(host.receive_tool_call())
                self.assertEqual(host.receive()["value"], [0, 1, 2, 3, 4])

    def test_a_request_beyond_the_limit_of_tool_calls_is_an_error_of_its_call(self):
        script = (
            "@worker.command\ndef ask(size, attached):\n"
            "    data = b'x' * size if attached else 'x' * size\n"
            "    return skep.call_host('tool', data=data)\n"
        )
        host = self.start(script, ready=False)
        host.handshake(tool_call_bytes=2000, message_bytes=1000)
        for attached in (True, False):
            with self.subTest(attached=attached):
                host.send_call("ask", {"size": 1500, "attached": attached})
                host.answer_tool(host.receive_tool_call(), 1)
                self.assertEqual(host.receive()["value"], 1)
                host.send_call("ask", {"size": 2000, "attached": attached})
                error = host.receive()["error"]
                self.assertEqual(error["type"], "ValueError")
                self.assertIn("the arguments of tool 'tool' cannot be sent: with them the message takes", error["message"])
                self.assertIn("the limit is 2000 bytes", error["message"])

    def test_a_request_that_is_given_up_makes_no_room_before_it_is_answered(self):
        host = self.start(
            "@worker.command\ndef ask():\n"
            "    for timeout in (0.01, 0.01):\n"
            "        try: skep.call_host('tool', timeout)\n"
            "        except TimeoutError: pass\n"
            "    return skep.call_host('tool', None, last=True)\n",
            ready=False,
        )
        host.handshake(tool_calls=1)
        host.send_call("ask")
        first = host.receive_tool_call()
        host.ping()
        host.answer_tool(first)
        asked = host.receive_tool_call()
        if not asked["args"]:  # the second one had its turn in time
            host.answer_tool(asked)
            asked = host.receive_tool_call()
        self.assertEqual(asked["args"], {"last": True})
        host.answer_tool(asked, "done")
        self.assertEqual(host.receive()["value"], "done")

    def test_over_one_channel(self):
        host = self.start(ASKING, stdio=True)
        for command in ("ask", "thread_asks"):
            call_id = host.send_call(command)
            asked = host.receive_tool_call()
            self.assertEqual(host.ping()["in_flight"], 1)
            host.answer_tool(asked, 1)
            self.assertEqual(host.receive()["id"], call_id)
        call_id = host.send_call("ask")
        host.receive_tool_call()
        host.cancel(call_id)
        self.assertEqual(host.receive()["error"]["type"], "skep.Cancelled")


class WithoutPool(unittest.TestCase):
    def setUp(self):
        self.worker = skep.Worker()

        @self.worker.command
        def greet(user):
            return "Hello, " + skep.call_host("lookup", id=user, raw=b"ab")["name"]

        @self.worker.command
        def report():
            skep.progress(0.5, "half")
            return skep.current().correlation_id

    def test_a_fake_stands_in_for_a_tool(self):
        seen = []

        def lookup(id, raw):
            seen.append((id, bytes(raw)))
            return {"name": "Ada", "photo": b"x"}

        with skep.fake_tools({"lookup": lookup}):
            self.assertEqual(self.worker.call("greet", user=(1, 2)), "Hello, Ada")
        self.assertEqual(seen, [([1, 2], b"ab")])

    def test_errors_of_fakes(self):
        def fails(id, raw):
            raise KeyError(id)

        with skep.fake_tools({"lookup": fails}):
            with self.assertRaisesRegex(skep.HostError, "KeyError: 5"):
                self.worker.call("greet", user=5)
        with skep.fake_tools({"other": fails}):
            with self.assertRaisesRegex(skep.HostError, "UnknownTool: there is no tool 'lookup'; the fakes are other"):
                self.worker.call("greet", user=5)
        with self.assertRaisesRegex(RuntimeError, "skep.fake_tools"):
            self.worker.call("greet", user=5)

    def test_progress_goes_nowhere(self):
        self.assertEqual(self.worker.call("report"), "local-1")

    def test_from_the_command_line(self):
        script = (
            "import skep\nworker = skep.Worker()\n@worker.command\ndef ask():\n"
            "    skep.progress(0.25, 'a quarter')\n    return skep.call_host('lookup')\nworker.run()\n"
        )
        process = subprocess.run(
            [sys.executable, "-m", "skep", "call", "/dev/stdin", "ask"],
            input=script.encode(),
            env={**os.environ, "PYTHONPATH": str(ROOT / "lib" / "python"), "SKEP_THREADS": "4"},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        self.assertEqual(process.returncode, 1)
        self.assertIn("skep: 25% a quarter\n", process.stderr.decode())
        self.assertIn("there is no tool 'lookup' without a pool", process.stderr.decode())


if __name__ == "__main__":
    unittest.main()
