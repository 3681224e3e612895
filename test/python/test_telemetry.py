"""What a worker's code tells of itself: skep.emit(), skep.span(), and records of logging."""

import os
import time
import unittest

from host import HostCase

TELLING = """
import logging, math, os, threading

@worker.command
def tell(name, measurements=None, metadata=None):
    skep.emit(name, measurements, metadata)

@worker.command
def says(code):
    try:
        return eval(code)
    except Exception as error:
        return f"{type(error).__name__}: {error}"

@worker.command
def spans(fails):
    with skep.span("work", {"kind": "small"}):
        if fails:
            raise KeyError("no")

@worker.command
def nests():
    headers = [skep.traceparent()]
    with skep.span("outer"):
        headers.append(skep.traceparent())
        with skep.span("inner"):
            headers.append(skep.traceparent())
            skep.call_host("tool")
        headers.append(skep.traceparent())
    return headers + [skep.traceparent()]

@worker.command
def streams():
    with skep.span("streams"):
        yield 1
        yield 2

@worker.command
def log(level, text):
    logging.getLogger("model.weights").log(level, text)

@worker.command
def flood(count):
    for n in range(count):
        skep.emit("flood", {"n": n})

@worker.command
def fork():
    child = os.fork()
    if child == 0:
        skep.emit("from a child")
        logging.warning("of a child")
        from skep._calls.telemetry import records
        os._exit(records.dropped)
    return os.WEXITSTATUS(os.waitpid(child, 0)[1])
"""


class Telemetry(HostCase):
    def told(self, host):
        return host.receive(host.data if host.process.stdout is None else host.control)

    def test_an_event_with_all_it_can_have(self):
        for stdio in (False, True):
            host = self.start(TELLING, stdio=stdio)
            args = {"name": "model.loaded", "measurements": {"ms": 1.5, "n": 2}, "metadata": {"model": "small", "x": None}}
            host.send_call("tell", args, correlation_id="abc")
            messages = [self.told(host), host.receive()]
            messages.sort(key=lambda message: message["type"])
            event = {"type": "event", **args, "correlation_id": "abc"}
            self.assertEqual(messages[0], event)
            self.assertEqual(messages[1]["type"], "result")

    def test_a_bare_one_has_the_id_that_was_made_for_the_call(self):
        host = self.start(TELLING)
        host.call("tell", {"name": "x"})
        self.assertEqual(self.told(host), {"type": "event", "name": "x", "correlation_id": "1"})

    def test_what_was_told_before_there_was_a_host_comes_after_the_welcome(self):
        host = self.start("skep.emit('early', {'n': 1})", ready=False)
        self.assertEqual(host.receive()["type"], "hello")
        host.welcome()
        self.assertEqual(self.told(host), {"type": "event", "name": "early", "measurements": {"n": 1}})

    def test_what_is_no_event(self):
        host = self.start(TELLING)
        for code, said in (
            ("skep.emit('')", "ValueError: an event's name"),
            ("skep.emit(5)", "ValueError"),
            ("skep.emit('é' * 200)", "ValueError"),
            ("skep.emit('x', {'a': math.nan})", "ValueError: measurement 'a' is nan"),
            ("skep.emit('x', {'a': 10 ** 400})", "ValueError"),
            ("skep.emit('x', {'a': 'much'})", "ValueError"),
            ("skep.emit('x', {'a': None})", "TypeError"),
        ):
            self.assertIn(said, host.call("says", {"code": code}))

    def test_what_is_no_json_becomes_text(self):
        host = self.start(TELLING)
        code = "skep.emit('x', {'big': 2 ** 70}, {'a': [1], 'b': math.inf, 'c': 2 ** 70, 'd': '\\ud800', 5: True})"
        self.assertIsNone(host.call("says", {"code": code}))
        event = self.told(host)
        self.assertEqual(event["measurements"], {"big": float(2**70)})
        self.assertEqual(event["metadata"], {"a": "[1]", "b": "inf", "c": str(2**70), "d": "?", "5": True})

    def test_a_span_tells_how_long_it_took_and_how_it_ended(self):
        host = self.start(TELLING)
        host.call("spans", {"fails": False})
        event = self.told(host)
        self.assertEqual(event["metadata"], {"kind": "small", "outcome": "ok"})
        self.assertGreaterEqual(event["measurements"]["duration_ms"], 0)
        self.assertEqual(host.call_error("spans", {"fails": True})["type"], "KeyError")
        self.assertEqual(self.told(host)["metadata"]["outcome"], "KeyError")

    TRACEPARENT = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"

    def test_a_span_in_a_call_that_is_traced_is_in_its_trace(self):
        host = self.start(TELLING)
        before = time.time()
        for fails, outcome in ((False, "ok"), (True, "KeyError")):
            host.send_call("spans", {"fails": fails}, metadata={"traceparent": self.TRACEPARENT})
            host.receive()
            span = self.told(host)["span"]
            self.assertEqual(span["trace"], "4bf92f3577b34da6a3ce929d0e0e4736")
            self.assertEqual(span["parent"], "00f067aa0ba902b7")
            self.assertEqual(span["outcome"], outcome)
            self.assertRegex(span["id"], "^[0-9a-f]{16}$")
            self.assertLessEqual(abs(span["start_us"] / 1e6 - before), 60)
            self.assertGreaterEqual(span["time_us"], 0)

    def test_spans_lie_within_each_other_and_tools_within_them(self):
        host = self.start(TELLING)
        host.send_call("nests", metadata={"traceparent": self.TRACEPARENT})
        asked = host.receive_tool_call()
        host.answer_tool(asked, None)
        headers = host.receive()["value"]
        inner, outer = self.told(host)["span"], self.told(host)["span"]
        self.assertEqual(outer["parent"], "00f067aa0ba902b7")
        self.assertEqual(inner["parent"], outer["id"])
        self.assertEqual(asked["parent_span"], inner["id"])
        place = [header.split("-")[2] for header in headers]
        self.assertEqual(place, ["00f067aa0ba902b7", outer["id"], inner["id"], outer["id"], "00f067aa0ba902b7"])

    def test_without_a_trace_that_is_recorded_there_are_no_spans_of_it(self):
        host = self.start(TELLING)
        for header in (None, 5, "nonsense", self.TRACEPARENT[:-1] + "0", "00-" + "0" * 32 + "-00f067aa0ba902b7-01"):
            host.call("spans", {"fails": False}, metadata={"traceparent": header} if header else {})
            self.assertNotIn("span", self.told(host))
        self.assertIsNone(host.call("says", {"code": "skep.traceparent()"}))
        self.assertIsNone(host.call("says", {"code": "skep.traceparent()"}, metadata={"traceparent": 5}))
        broken = {"traceparent": self.TRACEPARENT + "\r\nX: y"}
        self.assertIsNone(host.call("says", {"code": "skep.traceparent()"}, metadata=broken))
        passed_on = host.call("says", {"code": "skep.traceparent()"}, metadata={"traceparent": self.TRACEPARENT[:-1] + "0"})
        self.assertEqual(passed_on, self.TRACEPARENT[:-1] + "0")

    def test_a_generator_may_be_left_anywhere_within_a_span(self):
        host = self.start(TELLING)
        host.send_call("streams", metadata={"traceparent": self.TRACEPARENT})
        self.assertEqual(host.receive()["value"], [1, 2])
        self.assertEqual(self.told(host)["span"]["parent"], "00f067aa0ba902b7")
        self.assertIsNone(host.call("says", {"code": "skep.traceparent()"}))

    def test_a_host_that_does_not_read_holds_up_nobody_and_is_told_what_was_dropped(self):
        host = self.start(TELLING)
        host.call("flood", {"count": 50_000})  # nothing is read of them meanwhile
        events = [self.told(host) for _ in range(1024)]
        host.call("tell", {"name": "after"})
        while events[-1]["name"] != "after":
            events.append(self.told(host))
        kept = len(events) - 1
        numbers = [event["measurements"]["n"] for event in events[:kept]]
        self.assertEqual(numbers, sorted(numbers))
        self.assertEqual(events[-1]["dropped"], 50_000 - kept)
        self.assertEqual(host.ping()["in_flight"], 0)

    def test_what_is_too_long_for_the_host_is_dropped(self):
        host = self.start(TELLING)
        host.call("tell", {"name": "long", "metadata": {"a": "x" * 20_000}})
        host.call("tell", {"name": "short"})
        self.assertEqual(self.told(host), {"type": "event", "name": "short", "correlation_id": "2", "dropped": 1})

    def test_a_forked_child_tells_nothing_and_logs_to_stderr(self):
        host = self.start(TELLING)
        self.assertEqual(host.call("fork"), 1)  # what it told is dropped, not kept for a thread that it does not have
        host.call("tell", {"name": "mine"})
        self.assertEqual(self.told(host)["name"], "mine")
        host.tell({"type": "shutdown", "grace_ms": 1000})
        self.assertIn("of a child", host.finish()[2])

    def test_an_older_host_is_told_nothing(self):
        host = self.start(TELLING, ready=False)
        host.receive()
        host.welcome(records=False)
        self.assertEqual(host.receive()["type"], "ready")
        host.call("tell", {"name": "x"})
        host.call("log", {"level": 40, "text": "to stderr"})
        self.assertEqual(host.ping()["type"], "pong")
        host.tell({"type": "shutdown", "grace_ms": 1000})
        self.assertIn("to stderr", host.finish()[2])

    def test_what_was_told_early_keeps_to_the_hosts_limits(self):
        host = self.start("skep.emit('early', {}, {'a': 'x' * 5000})\nskep.emit('short')", ready=False)
        host.receive()
        host.welcome(frame_bytes=1024)
        self.assertEqual(self.told(host)["name"], "short")

    def test_the_log_of_a_hook_that_fails_arrives(self):
        source = "import logging, skep.logs\nlogging.getLogger().addHandler(skep.logs.Handler())\n"
        source += "@worker.on_start\ndef start():\n    logging.error('no GPU')\n    raise OSError\n"
        host = self.start(source, ready=False)
        host.receive()
        host.welcome()
        self.assertEqual(self.told(host)["text"], "no GPU")
        self.assertEqual(host.finish()[0], 1)

    def test_logging_keeps_level_logger_and_message(self):
        host = self.start(TELLING)
        host.send_call("log", {"level": 40, "text": "no weights"}, correlation_id="abc")
        record = {"type": "log", "level": "error", "logger": "model.weights", "text": "no weights"}
        self.assertEqual(self.told(host), {**record, "correlation_id": "abc"})
        host.receive()
        host.call("log", {"level": 20, "text": "below the root logger's level"})
        for text in ("x" * 100_000, "\u20ac" * 100_000):
            host.call("log", {"level": 30, "text": text + " the end"})
            cut = self.told(host)["text"]
            self.assertTrue(cut.startswith(text[0] * 1000) and cut.endswith("the end") and " ... " in cut)
            self.assertLess(len(cut.encode()), 16 * 1024)

    def test_what_is_told_last_arrives(self):
        host = self.start("@worker.on_stop\ndef stop():\n    skep.emit('bye')")
        host.tell({"type": "shutdown", "grace_ms": 1000})
        self.assertEqual(self.told(host), {"type": "event", "name": "bye"})
        self.assertEqual(host.finish()[0], os.EX_OK)


if __name__ == "__main__":
    unittest.main()
