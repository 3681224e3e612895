"""A worker is cancelled, asked to stop, terminated, or left by its host."""

import os
import signal
import unittest

from host import TIMEOUT, HostCase

SLEEP = """
import time
@worker.command
def sleep(seconds=1000): time.sleep(seconds)
@worker.command
def echo(value): return value
@worker.on_stop
def first_hook(): print("first hook")
@worker.on_stop
def last_hook(): print("last hook")
"""
ECHO_PID = """
import os
pid = os.getpid()
@worker.on_stop
def last(): print("stopped", os.getpid() == pid)
@worker.command(name="pid")
def tell(): return os.getpid()
"""
HOOKS_RAN = "last hook\nfirst hook\n"


class Cancelling(HostCase):
    def test_a_running_call_is_interrupted(self):
        host = self.start(SLEEP + "@worker.command\ndef report_and_sleep():\n    skep.progress(0)\n    time.sleep(1000)\n")
        call_id = host.send_call("report_and_sleep")
        self.assertEqual(host.receive()["type"], "progress")
        host.tell({"type": "cancel", "id": call_id})
        reply = host.receive()
        self.assertEqual((reply["id"], reply["error"]["type"]), (call_id, "skep.Cancelled"))
        self.assertIn("in report_and_sleep", reply["error"]["traceback"])
        self.assertEqual(host.call("echo", {"value": 1}), 1)

    def test_a_call_that_computes_is_interrupted(self):
        host = self.start("@worker.command\ndef spin():\n    while True: pass\n")
        call_id = host.send_call("spin")
        host.until_busy()
        host.tell({"type": "cancel", "id": call_id})
        self.assertEqual(host.receive()["error"]["type"], "skep.Cancelled")

    def test_calls_not_started_yet_are_skipped(self):
        host = self.start(SLEEP)
        running, waiting, last = host.send_call("sleep"), host.send_call("sleep"), host.send_call("echo", {"value": 1})
        for call_id in (last, waiting, running):
            host.tell({"type": "cancel", "id": call_id})
        for call_id in (running, waiting, last):
            reply = host.receive()
            self.assertEqual((reply["id"], reply["error"]["type"]), (call_id, "skep.Cancelled"))

    def test_a_cancel_may_come_before_its_call_or_after_its_end(self):
        host = self.start(SLEEP)
        self.assertEqual(host.call("echo", {"value": 1}), 1)
        host.tell({"type": "cancel", "id": 1})
        host.tell({"type": "cancel", "id": 2})
        host.ping()
        self.assertEqual(host.call_error("echo", {"value": 2})["type"], "skep.Cancelled")
        self.assertEqual(host.call("echo", {"value": 3}), 3)

    def test_a_command_may_clean_up_and_is_interrupted_once(self):
        host = self.start(
            "import time\n"
            "@worker.command\n"
            "def careful():\n"
            "    try:\n"
            "        skep.progress(0)\n"
            "        time.sleep(1000)\n"
            "    except skep.Cancelled:\n"
            "        time.sleep(0.2)\n"  # longer than the interrupt is repeated after
            "        return ['cleaned up', skep.current().cancelled()]\n"
        )
        call_id = host.send_call("careful")
        self.assertEqual(host.receive()["type"], "progress")
        host.tell({"type": "cancel", "id": call_id})
        self.assertEqual(host.receive()["value"], ["cleaned up", True])

    def test_cancels_at_any_moment_reach_the_right_call(self):
        host = self.start(SLEEP)
        outcomes = set()
        for round_number in range(300):
            call_id = host.send_call("sleep", {"seconds": 0.0001 * (round_number % 3)})
            for ping in range(round_number % 4):
                host.ping()
            host.tell({"type": "cancel", "id": call_id})
            reply = host.receive()
            self.assertEqual(reply["id"], call_id)
            outcomes.add(reply["error"]["type"] if reply["type"] == "error" else "result")
            self.assertEqual(host.call("echo", {"value": round_number}), round_number)
        self.assertLessEqual(outcomes, {"skep.Cancelled", "result"})

    def test_long_sleeps_never_miss_their_cancel(self):
        host = self.start(SLEEP)
        for _ in range(200):
            call_id = host.send_call("sleep")
            host.tell({"type": "cancel", "id": call_id})
            self.assertEqual(host.receive()["error"]["type"], "skep.Cancelled")


class Stopping(HostCase):
    def test_shutdown_of_an_idle_worker(self):
        host = self.start(SLEEP)
        host.tell({"type": "shutdown", "grace_ms": 1000})
        self.assertIsNone(host.receive())
        self.assertEqual(host.finish(), (0, HOOKS_RAN, ""))

    def test_shutdown_lets_the_running_call_finish_and_takes_no_other(self):
        host = self.start(SLEEP)
        call_id = host.send_call("sleep", {"seconds": 0.2})
        host.until_busy()
        host.send_call("echo", {"value": 1})
        host.tell({"type": "shutdown", "grace_ms": 1000})
        self.assertEqual(host.receive(), {"type": "result", "id": call_id, "value": None})
        self.assertTrue(host.is_closed(host.data))
        self.assertEqual(host.finish(), (0, HOOKS_RAN, ""))

    def test_shutdown_during_start(self):
        host = self.start(SLEEP + "@worker.on_start\ndef load(): print('loading'); time.sleep(0.2)\n", ready=False)
        host.receive()
        host.welcome()
        self.assertEqual(host.process.stdout.readline(), b"loading\n")
        host.tell({"type": "shutdown", "grace_ms": 1000})
        self.assertIsNone(host.receive())
        self.assertEqual(host.finish(), (0, HOOKS_RAN, ""))

    def test_sigterm_interrupts_waiting(self):
        for _ in range(5):
            host = self.start(SLEEP)
            host.signal(signal.SIGTERM)
            self.assertIsNone(host.receive())
            self.assertEqual(host.finish(), (0, HOOKS_RAN, ""))

    def test_sigterm_interrupts_user_code(self):
        host = self.start(SLEEP)
        host.send_call("sleep")
        host.until_busy()
        host.signal(signal.SIGTERM)
        self.assertIsNone(host.receive())
        self.assertEqual(host.finish(), (0, HOOKS_RAN, ""))

    def test_a_command_may_report_while_it_unwinds(self):
        host = self.start(
            SLEEP + "@worker.command\ndef unwind():\n"
            "    try:\n"
            "        skep.progress(0)\n"
            "        time.sleep(1000)\n"
            "    finally:\n"
            "        skep.progress(1)\n"
            "        print('cleaned up')\n"
        )
        host.send_call("unwind")
        self.assertEqual(host.receive()["type"], "progress")
        host.signal(signal.SIGTERM)
        self.assertEqual(host.finish(), (0, "cleaned up\n" + HOOKS_RAN, ""))

    def test_sigterm_after_shutdown_interrupts_the_call_it_waits_for(self):
        host = self.start(SLEEP)
        host.send_call("sleep")
        host.until_busy()
        host.tell({"type": "shutdown", "grace_ms": 1000})
        host.ping()
        host.signal(signal.SIGTERM)
        self.assertEqual(host.finish(), (0, HOOKS_RAN, ""))

    def test_sigterm_during_start_runs_no_stop_hooks(self):
        host = self.start(SLEEP + "@worker.on_start\ndef load(): print('loading'); time.sleep(1000)\n", ready=False)
        host.receive()
        host.welcome()
        self.assertEqual(host.process.stdout.readline(), b"loading\n")
        host.signal(signal.SIGTERM)
        self.assertEqual(host.finish(), (0, "", ""))

    def test_sigterm_before_the_welcome(self):
        host = self.start(SLEEP, ready=False)
        host.receive()
        host.signal(signal.SIGTERM)
        self.assertEqual(host.finish(), (0, "", ""))

    def test_a_second_sigterm_does_not_disturb_the_stop_hooks(self):
        host = self.start(
            SLEEP + "@worker.on_stop\ndef slow(): print('stopping'); time.sleep(0.2); print('stopped')\n"
        )
        host.signal(signal.SIGTERM)
        self.assertEqual(host.process.stdout.readline(), b"stopping\n")
        host.signal(signal.SIGTERM)
        self.assertEqual(host.finish(), (0, "stopped\n" + HOOKS_RAN, ""))

    def test_a_failing_stop_hook_shows_and_the_others_run(self):
        host = self.start(SLEEP + "@worker.on_stop\ndef bad(): raise ValueError('mine')\n")
        host.tell({"type": "shutdown", "grace_ms": 1000})
        status, stdout, stderr = host.finish()
        self.assertEqual((status, stdout), (1, HOOKS_RAN))
        self.assertIn("ValueError: mine", stderr)


class HostGone(HostCase):
    FAMILY = SLEEP + (
        "import subprocess\n"
        "@worker.command\ndef family():\n"
        "    subprocess.Popen(['sleep', '1000'])\n"
        "    print('started', flush=True)\n"
        "    time.sleep(1000)\n"
    )

    def test_over_stdio_the_worker_takes_its_group_along_even_while_user_code_runs(self):
        host = self.start(self.FAMILY, stdio=True)
        host.send_call("family")
        self.assertEqual(host.process.stderr.readline(), b"started\n")
        host.data.close()
        self.assertEqual(host.finish(), (-9, "", ""))

    def test_over_sockets_it_leaves_its_group_to_the_guard_of_the_host(self):
        host = self.start(self.FAMILY)
        host.send_call("family")
        self.assertEqual(host.process.stdout.readline(), b"started\n")
        host.control.close()
        self.assertEqual(host.process.wait(TIMEOUT), 70)
        os.killpg(host.process.pid, 0)

    def test_either_channel_will_do(self):
        for channel in ("data", "control"):
            with self.subTest(channel):
                host = self.start(SLEEP)
                getattr(host, channel).close()
                self.assertEqual(host.finish(), (70, "", ""))

    def test_a_host_that_is_gone_before_the_welcome(self):
        host = self.start(SLEEP, ready=False)
        host.receive()
        host.control.close()
        self.assertEqual(host.finish(), (70, "", ""))

    def test_a_worker_that_leads_no_group_just_leaves(self):
        host = self.start_script(
            "import os, skep\n"
            "if os.fork(): os._exit(os.wait()[1] >> 8)\n"
            "skep.Worker().run()\n"
        )
        # the forking parent still holds the channels, but what counts is that the host does not
        host.data.close()
        host.control.close()
        self.assertEqual(host.finish(), (70, "", ""))


class Children(HostCase):
    def test_children_do_not_keep_the_channels_open(self):
        for name, spawn in (
            ("subprocess", "import subprocess; subprocess.Popen(['sleep', '1000'], close_fds=False)"),
            ("os.fork", "import os\n    if os.fork() == 0: time.sleep(1000)"),
            (
                "multiprocessing",
                "import multiprocessing\n"
                "    multiprocessing.get_context('fork').Process(target=time.sleep, args=(1000,)).start()",
            ),
        ):
            with self.subTest(name):
                host = self.start(SLEEP + f"@worker.command\ndef spawn():\n    {spawn}\n    return 'spawned'\n")
                self.assertEqual(host.call("spawn"), "spawned")
                host.signal(signal.SIGKILL)
                self.assertTrue(host.is_closed(host.data))
                self.assertTrue(host.is_closed(host.control))

    def test_a_forked_child_can_be_terminated(self):
        host = self.start(
            SLEEP + "import multiprocessing\n@worker.command\ndef spawn():\n"
            "    child = multiprocessing.get_context('fork').Process(target=time.sleep, args=(1000,))\n"
            "    child.start(); child.terminate(); child.join()\n"
            "    return child.exitcode\n"
        )
        self.assertEqual(host.call("spawn"), -signal.SIGTERM)
        self.assertEqual(host.call("echo", {"value": 1}), 1)

    def test_a_child_of_a_child_keeps_what_the_child_has_set_up(self):
        host = self.start(
            SLEEP + "import os, signal\n@worker.command\ndef spawn():\n"
            "    if os.fork() == 0:\n"
            "        reused = [os.open('/dev/null', os.O_RDONLY) for _ in range(8)]\n"
            "        signal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
            "        if os.fork() == 0:\n"
            "            open_still = all(os.fstat(fd) for fd in reused)\n"
            "            os._exit(7 if open_still and signal.getsignal(signal.SIGTERM) == signal.SIG_IGN else 8)\n"
            "        os._exit(os.wait()[1] >> 8)\n"
            "    return os.wait()[1] >> 8\n"
        )
        self.assertEqual(host.call("spawn"), 7)

    def test_a_child_that_returns_from_the_command_does_not_answer_or_kill(self):
        host = self.start(
            SLEEP + "import os\n@worker.command\ndef stray(): return os.getpid() if os.fork() else None\n"
        )
        self.assertEqual(host.call("stray"), host.process.pid)
        self.assertEqual(host.call("echo", {"value": 1}), 1)

    def test_a_child_ends_as_user_code_has_it_and_nothing_of_the_worker_runs_in_it(self):
        host = self.start(
            SLEEP + "import os, sys\n"
            "worker.on_stop(lambda: print('hook in', 'worker' if os.getpid() == pid else 'child'))\n"
            "pid = os.getpid()\n"
            "class Forking:\n"
            "    def to_dict(self): return fork('')\n"
            "def fork(end):\n"
            "    child = os.fork()\n"
            "    if not child: return exec(end)\n"
            "    status = os.waitpid(child, 0)[1]\n"
            "    return os.WEXITSTATUS(status) if os.WIFEXITED(status) else -os.WTERMSIG(status)\n"
            "@worker.command\ndef spawn(end): return fork(end)\n"
            "@worker.command\ndef convert(): return Forking()\n"
        )
        for end, status in (
            ("sys.exit(5)", 5),
            ("sys.exit()", 0),
            ("sys.exit('mine')", 1),
            ("os._exit(6)", 6),
            ("raise ValueError('a value')", 1),
            ("raise OSError('a file')", 1),
            ("raise skep.Cancelled", 1),
            ("os.kill(os.getpid(), 15)", -signal.SIGTERM),
            ("print('returns', end='')", 0),
        ):
            with self.subTest(end):
                self.assertEqual(host.call("spawn", {"end": end}), status)
        self.assertEqual(host.call("convert"), 0)
        host.tell({"type": "shutdown", "grace_ms": 1000})
        self.assertIsNone(host.receive())
        status, stdout, stderr = host.finish()
        self.assertEqual((status, stdout), (0, "returnshook in worker\n" + HOOKS_RAN))
        self.assertEqual(stderr.count("Traceback"), 3)
        for said in ("mine\n", "ValueError: a value\n", "OSError: a file\n", "skep.Cancelled\n"):
            self.assertIn(said, stderr)

    def test_a_child_of_a_hook_leaves_the_rest_to_the_worker(self):
        for end, status in (("pass", 0), ("sys.exit(5)", 5), ("raise ValueError", 1)):
            for phase in ("start", "stop"):
                with self.subTest(phase=phase, end=end):
                    host = self.start(
                        ECHO_PID + "import sys\n"
                        f"@worker.on_{phase}\ndef fork():\n"
                        "    if not os.fork(): exec(" + repr(end) + "); return\n"
                        "    print('status', os.wait()[1] >> 8)\n"
                        "@worker.on_start\ndef second(): print('started', os.getpid() == pid)\n"
                    )
                    self.assertEqual(host.call("pid"), host.process.pid)
                    host.tell({"type": "shutdown", "grace_ms": 1000})
                    ended, stdout, _ = host.finish()
                    self.assertEqual(ended, 0)
                    expected = ["started True", f"status {status}", "stopped True"]
                    self.assertEqual(sorted(stdout.splitlines()), expected)

    def test_a_child_forked_while_a_terminated_command_unwinds(self):
        host = self.start(
            # From 3.12 on Python warns of a fork beside threads.
            SLEEP + "import os, warnings\nwarnings.simplefilter('ignore')\n@worker.command\n"
            "def unwind():\n"
            "    try:\n"
            "        skep.progress(0)\n"
            "        time.sleep(1000)\n"
            "    finally:\n"
            "        if os.fork(): print('status', os.wait()[1] >> 8)\n"
        )
        host.send_call("unwind")
        self.assertEqual(host.receive()["type"], "progress")
        host.signal(signal.SIGTERM)
        self.assertEqual(host.finish(), (0, "status 0\n" + HOOKS_RAN, ""))

if __name__ == "__main__":
    unittest.main()
