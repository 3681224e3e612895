"""The host asks an idle worker whether it is well."""

import functools
import signal
import unittest

import skep
from host import HostCase

PROBE = "skep.health_check"
SERVING = """
@worker.command
def echo(value): return value
"""


def check():
    pass


class Registration(unittest.TestCase):
    def test_the_function_is_returned_unchanged(self):
        self.assertIs(skep.Worker().health_check(check), check)

    def test_what_can_be_called_without_arguments(self):
        def optional(a=1, *args, b=2, **named):
            pass

        for function in (optional, self.bound, lambda: True, functools.partial(isinstance, 1, int)):
            self.assertIs(skep.Worker().health_check(function), function)

    def bound(self):
        pass

    def test_there_is_one(self):
        worker = skep.Worker()
        worker.health_check(check)
        with self.assertRaisesRegex(ValueError, "already a health check 'check'"):
            worker.health_check(self.bound)

    def test_what_cannot_be_a_health_check(self):
        async def later_and_later():
            yield

        def bit_by_bit():
            yield

        def positional(a):
            pass

        def keyword(*, key):
            pass

        worker = skep.Worker()
        for function, said in (
            (later_and_later, "health check 'later_and_later' is a generator; health checks return what they find"),
            (bit_by_bit, "health check 'bit_by_bit' is a generator; health checks return what they find"),
            (positional, "health check 'positional' has the required parameter 'a'; it is called without arguments"),
            (keyword, "health check 'keyword' has the required parameter 'key'; it is called without arguments"),
            (functools.partial(keyword), "has the required parameter 'key'"),
        ):
            with self.subTest(said=said), self.assertRaisesRegex(TypeError, said):
                worker.health_check(function)
        worker.health_check(check)  # nothing refused is in its way


class Probing(HostCase):
    def test_without_a_check_the_main_thread_answers(self):
        host = self.start(SERVING)
        self.assertIsNone(host.call(PROBE))
        self.assertEqual(host.call("echo", {"value": 1}), 1)

    def test_what_the_check_returns_decides(self):
        host = self.start(
            "answers = [None, True, 0, '', [], {'connections': 3}, False, {'again': 'well'}]\n"
            "@worker.health_check\ndef check(): return answers.pop(0)\n"
        )
        for answer in (None, True, 0, "", [], {"connections": 3}):
            self.assertEqual(host.call(PROBE), answer)
        self.assertEqual(
            host.call_error(PROBE),
            {"type": "skep.Unhealthy", "message": "the health check returned False", "traceback": ""},
        )
        self.assertEqual(host.call(PROBE), {"again": "well"})

    def test_an_exception_is_a_failure_and_the_worker_serves_on(self):
        host = self.start(SERVING + "@worker.health_check\ndef check(): raise OSError('the disk is gone')\n")
        error = host.call_error(PROBE)
        self.assertEqual((error["type"], error["message"]), ("OSError", "the disk is gone"))
        self.assertRegex(error["traceback"], r"^Traceback.*\n  File .*script.py.*, in check\n")
        self.assertEqual(host.call("echo", {"value": 1}), 1)

    def test_information_that_cannot_be_sent_is_no_failure(self):
        host = self.start(
            "class Bad:\n    def to_dict(self): raise RuntimeError\n"
            "answers = [object(), float('nan'), Bad(), 'x' * 3000, b'x' * 3000, 'x' * 1000, b'raw']\n"
            "@worker.health_check\ndef check(): return answers.pop(0)\n",
            ready=False,
        )
        host.handshake(frame_bytes=2000)
        for _ in range(5):
            self.assertIsNone(host.call(PROBE))
            self.assertEqual(host.received_attachments, [])
        self.assertEqual(host.call(PROBE), "x" * 1000)
        self.assertEqual(host.call(PROBE), {"$attachment": 0})
        self.assertEqual(host.received_attachments, [b"raw"])

    def test_it_is_no_command_but_the_host_knows_of_it(self):
        host = self.start(SERVING + "@worker.health_check\ndef check(): pass\n", ready=False)
        hello = host.handshake()
        self.assertEqual((hello["commands"], hello["own_health_check"]), (["echo"], True))
        for name in ("check", "skep.health_chec"):
            message = host.call_error(name)["message"]
            self.assertEqual(message, f"unknown command '{name}'; this worker knows echo")

    def test_it_is_in_flight_but_no_call_completed(self):
        host = self.start(SERVING + "import time\n@worker.health_check\ndef check(): time.sleep(1000)\n")
        host.call("echo", {"value": 1})
        call_id = host.send_call(PROBE)
        host.until_busy()
        self.assertEqual(host.ping(), {"type": "pong", "seq": 1, "in_flight": 1, "completed": 1})
        host.tell({"type": "cancel", "id": call_id})
        self.assertEqual(host.receive()["error"]["type"], "skep.Cancelled")
        self.assertEqual(host.ping(), {"type": "pong", "seq": 1, "in_flight": 0, "completed": 1})
        host.call("echo", {"value": 2})
        self.assertEqual(host.ping(), {"type": "pong", "seq": 1, "in_flight": 0, "completed": 2})

    def test_sigterm_interrupts_it(self):
        host = self.start("import time\n@worker.health_check\ndef check(): time.sleep(1000)\n")
        host.send_call(PROBE)
        host.until_busy()
        host.signal(signal.SIGTERM)
        self.assertIsNone(host.receive())
        self.assertEqual(host.finish(), (0, "", ""))

    def test_over_stdio(self):
        host = self.start("@worker.health_check\ndef check(): print('fine'); return 'fine'\n", stdio=True)
        self.assertEqual(host.call(PROBE), "fine")


if __name__ == "__main__":
    unittest.main()
