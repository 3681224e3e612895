"""Commands report how far they are: skep.progress(). And ids that follow a call: skep.current().correlation_id."""

import signal
import socket
import unittest

from host import HostCase

REPORTING = """
import threading, time

@worker.command
def report(reports):
    for fraction, text in reports:
        skep.progress(fraction, text)

@worker.command
def many(count):
    started = time.monotonic()
    for n in range(count):
        skep.progress(n / count)
    skep.progress(1)
    return time.monotonic() - started

@worker.command
def wait(event):
    skep.progress(0.1)
    skep.progress(0.2, "waiting")
    skep.call_host("go") if event == "tool" else time.sleep(1000)

@worker.command
def says(code):
    try:
        return eval(code)
    except Exception as error:
        return f"{type(error).__name__}: {error}"

@worker.command
def who(): return skep.current().correlation_id
"""


class Reports(HostCase):
    def receive_all(self, host):
        """What is reported until the answer, and the answer."""
        reports = []
        while True:
            message = host.receive()
            if message["type"] != "progress":
                return reports, message
            reports.append((message.pop("id"), message.pop("fraction"), message.pop("text", None)))
            self.assertEqual(message, {"type": "progress"})

    def test_the_first_and_the_last_arrive(self):
        host = self.start(REPORTING)
        call_id = host.send_call("report", {"reports": [[0, ""], [0.5, "a"], [0.75, "b"], [2, "ü\ud800"]]})
        reports, _ = self.receive_all(host)
        self.assertEqual(reports[0], (call_id, 0, None))
        self.assertEqual(reports[-1], (call_id, 1, "ü?"))

    def test_a_million_cost_little_and_come_in_order(self):
        host = self.start(REPORTING)
        call_id = host.send_call("many", {"count": 200_000})
        reports, answer = self.receive_all(host)
        self.assertEqual(reports, sorted(reports, key=lambda report: report[1]))
        self.assertEqual(reports[-1], (call_id, 1, None))
        self.assertLess(len(reports), answer["value"] / 0.02 + 10)

    def test_the_newest_arrives_while_the_command_goes_on(self):
        for stdio in (False, True):
            host = self.start(REPORTING, stdio=stdio)
            call_id = host.send_call("wait", {"event": "never"})
            self.assertEqual(host.receive()["fraction"], 0.1)
            self.assertEqual(host.receive(), {"type": "progress", "id": call_id, "fraction": 0.2, "text": "waiting"})

    def test_it_goes_before_a_tool_call(self):
        host = self.start(REPORTING)
        host.send_call("wait", {"event": "tool"})
        self.assertEqual([host.receive()["type"] for _ in range(3)], ["progress", "progress", "tool_call"])

    def test_what_is_no_progress(self):
        host = self.start(REPORTING)
        for code, said in (
            ("skep.progress(float('nan'))", "ValueError: progress is a number from 0 to 1, not NaN"),
            ("skep.progress('much')", "ValueError"),
            ("skep.progress(None)", "TypeError"),
            ("skep.progress(1, 5)", "TypeError: the text of a progress is a str, not 5"),
        ):
            self.assertIn(said, host.call("says", {"code": code}))

    def test_long_text_is_cut(self):
        host = self.start(REPORTING)
        host.send_call("report", {"reports": [[-1, "x" * 100_000]]})
        reports, _ = self.receive_all(host)
        self.assertEqual(reports, [(1, 0, "x" * 1024)])

    def test_a_late_report_harms_nobody(self):
        host = self.start(
            "import threading\ngo = threading.Event()\n"
            "@worker.command\ndef leave():\n"
            "    def late():\n        skep.progress(0.1)\n        go.wait()\n        skep.progress(0.5)\n"
            "    global thread\n    thread = threading.Thread(target=late)\n    thread.start()\n"
            "@worker.command\ndef join():\n    go.set()\n    thread.join()\n"
        )
        host.send_call("leave")
        reports, _ = self.receive_all(host)
        self.assertLessEqual(len(reports), 1)
        host.send_call("join")
        reports, answer = self.receive_all(host)
        self.assertEqual(answer["type"], "result")  # such a thread works for the call that runs now

    def test_a_signal_handler_reports_in_the_middle_of_a_message(self):
        host = self.start(
            "import signal, time\n"
            "signal.signal(signal.SIGALRM, lambda *_: (skep.progress(0.5), print('reported', flush=True)))\n"
            "@worker.command\ndef blocks():\n"
            "    yield bytes(10_000_000)\n"
            "    time.sleep(1000)\n"
        )
        call_id = host.send_call("blocks", stream={"chunks": 9, "bytes": 1 << 30})
        host.data.recv(1, socket.MSG_PEEK)
        host.signal(signal.SIGALRM)
        self.assertEqual(host.process.stdout.readline(), b"reported\n")
        host.cancel(call_id)
        host.ping()
        self.assertEqual(host.receive()["type"], "chunk")  # a whole one
        _, answer = self.receive_all(host)
        self.assertEqual(answer["error"]["type"], "skep.Cancelled")


class Correlation(HostCase):
    def test_every_call_has_an_id(self):
        host = self.start(REPORTING, ready=False)
        host.receive()
        host.welcome(correlation="7f3a9c1b-")
        host.receive()
        self.assertEqual(host.call("who"), "7f3a9c1b-1")
        self.assertEqual(host.call("who", correlation_id="mine"), "mine")


if __name__ == "__main__":
    unittest.main()
