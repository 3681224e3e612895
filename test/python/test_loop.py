"""The loop in C does what the loop in Python does."""

import os
import signal
import unittest
from collections import OrderedDict

import skep
from host import HostCase, frame
from loop_sides import _loop, commands_of, differences
from skep._calls.command import BatchCommand
from skep._wire.protocol import Limits

CALLS = 100_000


def echo(value):
    return value


def who():
    call = skep.current()
    return [call.id, call.session, call.correlation_id, call.metadata, call.remaining is not None, call.cancelled()]


def slots():
    """Records the whole of the running call."""
    call = skep.current()
    names = [name for name in skep.Call.__slots__ if name not in ("host", "window", "deadline")]
    call.host.worker.log.append([(name, getattr(call, name, "missing")) for name in names])
    assert call.window is call.host.worker.interrupts
    return round(call.remaining or 0)


def fail(kind):
    raise {"error": skep.Error("code", "text", [1]), "value": ValueError("bad"), "exit": SystemExit(2)}[kind]


def any_of(**keywords):
    return sorted(keywords)


def numbers():
    yield 1
    yield 2


def cancelled():
    skep.current().host.worker.interrupts.cancel(skep.current().id)
    return "goes on"


def recall(ids):
    """Returns whether each call was given back, of calls before, of this and of later ones."""
    call = skep.current()
    return [call.host.worker.profile.recall(call.id + each) for each in ids]


def unwinding():
    """Returns in spite of SIGTERM."""
    try:
        os.kill(os.getpid(), signal.SIGTERM)
        return "goes on"
    except BaseException:
        return "ends"


def report():
    skep.progress(0.5, "half")
    return "reported"


def keep():
    """A result that outlives the call."""
    return OrderedDict(a=1)


def values(calls):
    """Returns the value of each call; fails if one of them has none."""
    for call in calls:
        call.host.worker.log.append((call.id, len(calls), call.session))
        if call.args.get("cancels"):
            call.host.worker.profile.cancel(call.id)
    return [skep.Error("bad") if call.args["value"] == "bad" else call.args["value"] for call in calls]


COMMANDS = {
    **commands_of(echo, who, slots, fail, any_of, numbers, cancelled, recall, unwinding, report, keep),
    "batch": BatchCommand("batch", values, 8),
    "split": BatchCommand("split", values, 8, is_split=True),
}


def calls(*messages):
    """The frames of calls, numbered from 1. A message is a command, its arguments, and other members."""
    parts = []
    for number, (command, args, *more) in enumerate(messages, 1):
        parts.append(frame({"type": "call", "id": number, "command": command, "args": args, **(more[0] if more else {})}))
    return b"".join(parts)


@unittest.skipIf(_loop is None, "skep._loop is not there")
class Sides(unittest.TestCase):
    maxDiff = None

    def check_same(self, data, **options):
        self.assertEqual(differences(COMMANDS, data, **options), [])

    def test_values(self):
        values = ["ü\u20ac\U0001f600\n\x01\x7f", -(2**63), 2**64 - 1, 1e16, 1e-7, 0.1, [], {}, [{"a": [None, True]}], "x" * 5000]
        self.check_same(calls(*(("echo", {"value": value}) for value in values)))

    def test_values_that_are_left_to_python(self):
        deep = []
        for _ in range(150):
            deep = [deep]
        values = [2**64, float("nan"), "\ud800", deep, 10**400, {"$attachment": 0}, list(range(150_000))]
        for value in values:
            self.check_same(calls(("echo", {"value": value}), ("echo", {"value": 1})))
        self.check_same(calls(("keep", {}), ("numbers", {}), ("numbers", {}, {"stream": {"chunks": 9, "bytes": 999}})))

    def test_what_a_call_sees_of_itself(self):
        more = {"session": "s", "correlation_id": "c", "metadata": {"k": "v"}, "deadline_ms": 10**6, "sent_ms": 1}
        self.check_same(calls(("who", {}), ("who", {}, more), ("who", {}, {"deadline_ms": 0})))

    def test_a_call_is_made_as_by_its_constructor(self):
        times = [1e6, 10**6, -1, 0.5, True, None, "1", 2**60, 10**400]
        for more in [{}, {"metadata": {}}, *({"deadline_ms": time} for time in times)]:
            self.check_same(calls(("slots", {}, more)))
        for time in times:
            self.check_same(calls(("slots", {}, {"deadline_ms": 10**6, "sent_ms": time})))
        for key, value in (("type", "Call"), ("type", ["call"]), ("id", True), ("id", 1.0), ("command", None), ("args", [])):
            message = {"type": "call", "id": 1, "command": "slots", "args": {}, key: value}
            self.check_same(frame(message))
            del message[key]
            self.check_same(frame(message))

    def test_errors(self):
        self.check_same(calls(*(("fail", {"kind": kind}) for kind in ("error", "value", "exit", "none"))))

    def test_arguments_that_do_not_fit(self):
        self.check_same(calls(("echo", {}), ("echo", {"value": 1, "more": 2}), ("who", {"x": 1}), ("any_of", {"ü": 1, "a": 2})))
        self.check_same(calls(("nothing", {}), ("skep.health_check", {}), ("echo", {"value": 1})))

    def test_interrupts(self):
        self.check_same(calls(("cancelled", {}), ("echo", {"value": 1})))
        self.check_same(calls(("unwinding", {}), ("echo", {"value": 1})))

    def test_recalls(self):
        for ids in ([0], [1], [2, 1], [-1, 2, 9]):
            echoes = [("echo", {"value": n}) for n in range(3)]
            self.check_same(calls(echoes[0], ("recall", {"ids": ids}), *echoes, ("fail", {"kind": "error"})))
        self.check_same(calls(("recall", {"ids": [1, 2, 3]}), ("numbers", {}), ("nothing", {}), ("cancelled", {}), ("who", {})))

    def test_recalls_after_ids_that_fall(self):
        larger = {"type": "call", "id": 2**31, "command": "echo", "args": {"value": 1}}
        smaller = {"type": "call", "id": 9, "command": "recall", "args": {"ids": [-1, 0, 1]}}
        self.check_same(frame(larger) + frame(smaller))

    def test_progress(self):
        self.check_same(calls(("report", {}), ("report", {})))

    def test_limits(self):
        for limits in (Limits(200), Limits(2000, 150), Limits(2000, 2000, 4), Limits(2000, 2000, 9, 1100), Limits(2000, 2000, 9, 50)):
            values = ["x" * 90, "x" * 120, "x" * 150, [[]], [[[]]], [1, 2, 3], "x"]
            self.check_same(calls(*(("echo", {"value": value}) for value in values)), limits=limits)

    def test_frames_in_small_buffers(self):
        data = calls(*(("echo", {"value": "x" * size}) for size in (0, 500, 1000, 0, 5000, 3, 3, 300)))
        for size in (64, 700, 4096):
            self.check_same(data, buffer_size=size)

    def test_frames_that_break_the_protocol(self):
        good = frame({"type": "call", "id": 1, "command": "echo", "args": {"value": 1}})
        for bad in (b"\xff" * 8, b"\0\0\0\4\0\0\0\5", good.replace(b'"id"', b'"ix"'), good.replace(b"1}", b"01}"), good[:-1]):
            self.check_same(good + bad)

    def test_batches(self):
        batch = [("batch", {"value": n}, {"batch": [1, 5], "session": "s"}) for n in range(4)]
        batch.append(("batch", {"value": "bad"}, {"batch": [1, 5]}))
        split = [("split", {"value": 1} if n else {}, {"batch": [2, 3]}) for n in range(3)]
        late = [("batch", {"value": 1}, {"batch": [3, 2], **more}) for more in ({"deadline_ms": 0}, {})]
        data = calls(("echo", {"value": 1}), *batch, ("batch", {"value": 1}), *split, ("echo", {"value": 2}), *late)
        for size in (64, 700, 1 << 18):
            self.check_same(data, buffer_size=size)
        self.check_same(data[:-20])
        self.check_same(calls(*batch[:2], ("echo", {"value": 1})))
        self.check_same(calls(*[("batch", {"value": 1, "cancels": True}, {"batch": [1, 2]})] * 2, ("echo", {"value": 1})))

    def test_batches_with_errors(self):
        begun = ("batch", {"value": 1}, {"batch": [1, 3]})
        for other in (("echo", {"value": 1}), ("batch", {"value": 1}, {"batch": [2, 3]}), ("batch", 7, {"batch": [1, 3]})):
            self.check_same(calls(begun, other, ("batch", [], {"batch": [1, 3]})))
        for size in (0, -1, "2", None, 2**63, 2**70):
            self.check_same(calls(*[("batch", {"value": 1}, {"batch": [1, size]})] * 3))

    def test_values_of_batches_that_are_left_to_python(self):
        for value in (2**64, "\ud800", {"$attachment": 0}, list(range(150_000)), b"x" * 9):
            messages = [("give_batch", {"value": n}, {"batch": [1, 3]}) for n in range(3)]
            commands = {"give_batch": BatchCommand("give_batch", lambda calls: [1, value, 2], 3)}
            self.assertEqual(differences(commands, calls(*messages)), [])
        odd = calls(("batch", {"value": 1}, {"batch": [1, 3]}), ("batch", {"value": -0.0}, {"batch": [1, 3]}))
        third = frame({"type": "call", "id": 3, "command": "batch", "args": {"value": 2}, "batch": [1, 3]}, [b"ab"])
        self.check_same(odd + third)

    def test_attachments(self):
        message = {"type": "call", "id": 1, "command": "echo", "args": {"value": 1}}
        self.check_same(frame(message, [b"abc"]) + frame({**message, "id": 2}) + frame({**message, "attachments": []}))


MEASURING = """
import gc, sys

@worker.command
def echo(value): return value

@worker.command
def left_to_python(value): return {str(value)}

@worker.command
def fails(value): raise ValueError(value)

@worker.command(batch=10)
def batch(calls): return [KeyError(1) if call.id % 3 == 0 else call.args["value"] for call in calls]

@worker.command(batch=10, batch_errors="split")
def split(calls):
    if len(calls) > 3: raise ValueError(calls)
    return [call.args["value"] for call in calls]

@worker.command
def blocks():
    gc.collect()
    with open("/proc/self/statm") as file:
        return [sys.getallocatedblocks(), int(file.read().split()[1])]
"""


@unittest.skipIf(_loop is None, "skep._loop is not there")
class Processes(HostCase):
    def call_often(self, host, command, count):
        """Makes a call so many times, a hundred at once."""
        data = b"".join(
            frame({"type": "call", "id": n, "command": command, "args": {"value": {"ü": ["text", 2**40 + n, 2.5]}},
                   "batch": [n // 10, 10]})
            for n in range(100, 200)
        )
        for _ in range(count // 100):
            host.data.sendall(data)
            for _ in range(100):
                host.receive()

    def test_calls_leave_nothing_behind(self):
        host = self.start(MEASURING)
        commands = {"echo": CALLS, **dict.fromkeys(("left_to_python", "fails", "batch", "split"), CALLS // 20)}
        for command in commands:
            self.call_often(host, command, 2000)
        blocks, pages = host.call("blocks")
        for command, count in commands.items():
            self.call_often(host, command, count)
        blocks_after, pages_after = host.call("blocks")
        self.assertLess(blocks_after - blocks, 1000)
        self.assertLess(pages_after - pages, 256)

    def test_the_hello_names_the_loop(self):
        threads = "worker = skep.Worker(thread_safe=True)"
        for loop, source, options in (
            ("c", "", {}),
            ("python", "", {"env": {"SKEP_PURE_PYTHON": "1"}}),
            ("c", "", {"env": {"SKEP_PURE_PYTHON": "0"}}),
            ("python", "", {"stdio": True}),
            ("python", threads, {"env": {"SKEP_THREADS": "2"}}),
            ("python", "@worker.command\nasync def wait(): pass", {}),
        ):
            with self.subTest(source=source, **options):
                host = self.start(source, ready=False, **options)
                self.assertEqual(host.handshake()["loop"], loop)

    def test_a_worker_is_stopped_while_it_waits_and_while_it_works(self):
        source = "@worker.command\ndef sleep():\n    import time\n    time.sleep(100)\n@worker.command\ndef echo(value): return value"
        for is_busy in (False, True):
            host = self.start(source)
            self.assertEqual(host.call("echo", {"value": 1}), 1)
            if is_busy:
                host.send_call("sleep")
                host.until_busy()
            host.signal(signal.SIGTERM)
            self.assertEqual(host.finish()[0], 0)

    def test_a_full_socket_delays_the_answer_alone(self):
        host = self.start("@worker.command\ndef text(size): return 'x' * size")
        ids = [host.send_call("text", {"size": 100_000}) for _ in range(8)]
        self.assertEqual(host.ping()["type"], "pong")
        self.assertEqual([host.receive()["id"] for _ in ids], ids)


if __name__ == "__main__":
    unittest.main()
