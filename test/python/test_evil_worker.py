"""The evil worker is as good as it should be, and as bad."""

import os
import pathlib
import signal
import subprocess
import sys
import time
import unittest

from host import EVIL_WORKER, HostCase


class EvilWorker(HostCase):
    def evil(self, fault=None, ready=True, delay=0.05):
        options = [f"--fault={fault}"] if fault else []
        return self.start_command([sys.executable, str(EVIL_WORKER), f"--delay={delay}", *options], ready)

    def test_without_a_fault_it_is_a_proper_worker(self):
        host = self.evil()
        self.assertEqual(host.call("echo", {"value": {"a": 1}}), {"a": 1})
        self.assertEqual(host.call("pid"), host.process.pid)
        self.assertIsNone(host.call("sleep", {"seconds": 0}))
        cancelled = host.send_call("sleep", {"seconds": 1000})
        host.tell({"type": "cancel", "id": cancelled})
        self.assertEqual(host.receive()["error"]["type"], "skep.Cancelled")
        self.assertEqual(host.ping(3)["seq"], 3)
        host.tell({"type": "shutdown", "grace_ms": 1000})
        self.assertEqual(host.finish(), (0, "", ""))

    def test_it_goes_with_its_host(self):
        for fault in (None, "no_hello", "hello_then_hang"):
            host = self.evil(fault, ready=fault is None)
            host.control.close()
            self.assertEqual(host.finish()[0], 70)

    def test_ends_of_all_kinds(self):
        for fault, status in (
            ("exit0_before_hello", 0),
            ("exit1_before_hello", 1),
            ("exit0_after_ready", 0),
            ("abort_after_ready", -signal.SIGABRT),
        ):
            with self.subTest(fault):
                host = self.evil(fault, ready=fault.endswith("ready"))
                self.assertEqual(host.finish()[0], status)

    def test_calls_that_end_it(self):
        for fault, status in (
            ("die_on_call", -signal.SIGKILL),
            ("reply_then_exit", 0),
            ("segv", -signal.SIGSEGV),
            ("abort", -signal.SIGABRT),
            ("exit3", 3),
            ("partial_reply_then_die", -signal.SIGKILL),
            ("hold_channels", -signal.SIGKILL),
        ):
            with self.subTest(fault):
                host = self.evil(fault + "@2")
                self.assertEqual(host.call("echo", {"value": 1}), 1)
                host.send_call("echo", {"value": 2})
                self.assertEqual(host.finish()[0], status)

    def test_answers_that_are_none(self):
        for fault, start in (
            ("bad_json", b'"value":{oops}'),
            ("nan", b"1e400"),
            ("nan_literal", b"NaN"),
            ("bad_utf8", b"\xff\xfe"),
            ("deep", b"[[[["),
            ("huge_number", b"9999"),
            ("big_tree", b"[0,0,"),
            ("dup_id_key", b'"id":1,"id":2'),
            ("length_zero", b"\0\0\0\0"),
            ("length_max_plus_1", b"\x04\0\0\1\0\0\0\2{}"),
            ("length_2_32_1", b"\xff\xff\xff\xff"),
            ("json_length_lies", b"\0\0\0\x64\0\0\0\xc8"),
            ("attachments_lie", b"[10]}abc"),
            ("unknown_id", b"1000001"),
            ("foreign_type", b'"type": "call"'),
            ("garbage", b""),
        ):
            with self.subTest(fault):
                host = self.evil(fault)
                host.send_call("echo", {"value": 1})
                answer = host.data.recv(4096)
                self.assertTrue(answer)
                self.assertIn(start, answer)

    def test_answers_that_come_oddly(self):
        for fault in ("dribble", "late_reply", "print_stdout", "flood_stderr", "slow_start", "stop_reading"):
            with self.subTest(fault):
                host = self.evil(fault)
                self.assertEqual(host.call("echo", {"value": 1}), 1)
                self.assertEqual(host.ping(4)["seq"], 4)
        host = self.evil("two_replies")
        self.assertEqual(host.call("echo", {"value": 1}), 1)
        self.assertEqual(host.receive(), {"type": "result", "id": 1, "value": 1})

    def test_lies_at_start(self):
        self.assertEqual(self.evil("wrong_version", ready=False).receive()["protocol"], 99)
        self.assertEqual(self.evil("wrong_token", ready=False).receive()["token"], "000000")
        self.assertEqual(self.evil("garbage_hello", ready=False).data.recv(4), b"\xde\xad\xbe\xef")

    def test_closed_channels(self):
        for fault in ("close_data", "half_close"):
            with self.subTest(fault):
                host = self.evil(fault)
                host.send_call("echo", {"value": 1})
                self.assertTrue(host.is_closed(host.data))
                self.assertEqual(host.ping(5)["seq"], 5)

    def test_silence(self):
        host = self.evil("no_reply")
        host.send_call("echo", {"value": 1})
        self.assertEqual(host.call("echo", {"value": 2}), 2)
        host = self.evil("freeze")
        host.send_call("echo", {"value": 1})
        host.control.settimeout(0.2)
        with self.assertRaises(OSError):  # the first pings may still be answered
            while True:
                host.ping()
        host = self.evil("sigstop_self")
        host.send_call("echo", {"value": 1})
        self.wait_until_stopped(host)
        host.signal(signal.SIGCONT)
        self.assertEqual(host.receive()["value"], 1)

    def wait_until_stopped(self, host):
        os.waitid(os.P_PID, host.process.pid, os.WSTOPPED | os.WNOWAIT)

    def test_stopping(self):
        for fault, on_shutdown, on_term in (
            ("ignore_term", None, None),
            ("ignore_shutdown", None, 0),
            ("exit5_on_term", None, 5),
            ("slow_stop", 0, 0),
        ):
            for act, status in (("shutdown", on_shutdown), ("term", on_term)):
                with self.subTest(fault, act=act):
                    host = self.evil(fault)
                    if act == "shutdown":
                        host.tell({"type": "shutdown", "grace_ms": 10})
                    else:
                        host.signal(signal.SIGTERM)
                    if status is None:
                        self.assertEqual(host.call("echo", {"value": 1}), 1)
                    else:
                        self.assertEqual(host.finish()[0], status)

    def test_a_grandchild(self):
        host = self.evil("spawn_grandchild")
        command = pathlib.Path(f"/proc/{host.call('grandchild')}/comm")
        while command.read_text() != "sleep\n":  # the child has not executed its program yet
            time.sleep(0.01)

    def test_the_list_of_faults(self):
        listed = subprocess.run([sys.executable, str(EVIL_WORKER), "--list"], stdout=subprocess.PIPE, check=True)
        self.assertIn(b"die_on_call\n", listed.stdout)
        wrong = subprocess.run([sys.executable, str(EVIL_WORKER), "--fault=none"], stderr=subprocess.PIPE)
        self.assertEqual(wrong.returncode, 2)


if __name__ == "__main__":
    unittest.main()
