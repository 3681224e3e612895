"""A signal makes a worker show what its threads are doing, whatever they are doing."""

import os
import select
import signal
import unittest

from host import TIMEOUT, HostCase

SERVING = """
import os, re, signal, subprocess, sys, threading, time
@worker.command
def echo(value): return value
"""


class Stacks(HostCase):
    def read_stacks(self, host, last="in <module>\n"):
        """Sends the signal; returns what arrives on stderr, up to the outermost frame of the main thread."""
        host.signal(signal.SIGUSR2)
        return self.read_until(host, last)

    def read_until(self, host, last):
        descriptor = host.process.stderr.fileno()
        text = ""
        while not text.endswith(last):
            ready, _, _ = select.select([descriptor], [], [], TIMEOUT)
            self.assertTrue(ready, f"nothing more came after {text!r}")
            text += os.read(descriptor, 65536).decode()
        return text

    def test_an_idle_worker_shows_all_its_threads_and_works_on(self):
        host = self.start(SERVING)
        for number in range(3):
            stacks = self.read_stacks(host)
            self.assertIn("hread 0x", stacks)
            self.assertRegex(stacks, r'File ".*/skep/_profiles/control.py", line \d+ in _listen\n')
            self.assertRegex(stacks, r'File ".*/skep/_profiles/conversation.py", line \d+ in serve\n')
            self.assertEqual(host.call("echo", {"value": number}), number)
        host.tell({"type": "shutdown", "grace_ms": 1000})
        self.assertEqual(host.finish(), (0, "", ""))

    def test_a_blocked_main_thread(self):
        host = self.start(
            SERVING + "@worker.command\ndef nap(): blocked()\n"
            "def blocked(): print('blocked'); time.sleep(1.5); print('awake')\n"
        )
        call_id = host.send_call("nap")
        self.assertEqual(host.process.stdout.readline(), b"blocked\n")
        self.assertRegex(self.read_stacks(host), r'line \d+ in blocked\n  File ".*script.py", line \d+ in nap\n')
        # It sleeps on to its end: the signal is nothing that user code gets to see.
        self.assertEqual(host.receive(), {"type": "result", "id": call_id, "value": None})
        self.assertEqual(host.process.stdout.readline(), b"awake\n")

    def test_c_code_that_never_lets_go_of_the_gil(self):
        for code in ("sum(range(10**12))", "re.match('(a+)+$', 'a' * 60 + 'b')"):
            with self.subTest(code):
                host = self.start(
                    SERVING + "@worker.command\ndef spin(): stuck()\n"
                    f"def stuck(): print('stuck'); {code}\n"
                )
                host.send_call("spin")
                self.assertEqual(host.process.stdout.readline(), b"stuck\n")
                host.control.settimeout(0.3)
                with self.assertRaises(OSError):  # the first pings may still be answered
                    while True:
                        host.ping()
                stacks = self.read_stacks(host)
                self.assertRegex(stacks, r'line \d+ in stuck\n  File ".*script.py", line \d+ in spin\n')
                self.assertIn("in _listen\n", stacks)
                self.assertIsNone(host.process.poll())

    def test_threads_of_the_user(self):
        host = self.start(
            SERVING + "def background(): time.sleep(1000)\n"
            "threading.Thread(target=background, daemon=True).start()\n"
        )
        self.assertIn("in background\n", self.read_stacks(host))

    def test_what_user_code_makes_of_its_own_stderr_does_not_matter(self):
        for line in ("sys.stderr = None", "sys.stderr = open(os.devnull, 'w')", "sys.stderr = sys.__stderr__ = None"):
            with self.subTest(line):
                host = self.start(SERVING + line)
                self.assertIn("in serve\n", self.read_stacks(host))

    def test_over_stdio(self):
        host = self.start(SERVING, stdio=True)
        self.assertIn("in serve\n", self.read_stacks(host))
        self.assertEqual(host.call("echo", {"value": 1}), 1)

    def test_before_the_welcome(self):
        host = self.start(SERVING, ready=False)
        host.receive()
        self.assertIn("in greet\n", self.read_stacks(host))
        host.welcome()
        self.assertEqual(host.receive(), {"type": "ready"})


class ChoiceOfSignal(HostCase):
    def announced(self, *lines):
        host = self.start("\n".join((SERVING, *lines)), ready=False)
        hello = host.handshake()
        self.assertEqual(host.call("echo", {"value": 1}), 1)
        return hello.get("stack_signal")

    def test_one_that_is_taken_is_left_alone(self):
        handler = "def handler(*_): print('mine')"
        for name, number in (("USR1", signal.SIGUSR2), ("USR2", signal.SIGUSR1)):
            for take in (
                f"signal.signal(signal.SIG{name}, handler)",
                f"signal.signal(signal.SIG{name}, signal.SIG_IGN)",
                f"import faulthandler; faulthandler.register(signal.SIG{name}, file=1)",  # unseen by getsignal()
            ):
                with self.subTest(take):
                    self.assertEqual(self.announced(handler, take), number)

    def test_a_handler_of_the_user_keeps_working(self):
        host = self.start(SERVING + "signal.signal(signal.SIGUSR2, lambda *_: print('mine'))")
        host.signal(signal.SIGUSR2)
        self.assertEqual(host.process.stdout.readline(), b"mine\n")

    def test_without_a_signal_the_worker_runs_all_the_same(self):
        for lines in (
            ["signal.signal(signal.SIGUSR1, signal.SIG_IGN)", "signal.signal(signal.SIGUSR2, signal.SIG_IGN)"],
            ["sys.modules['faulthandler'] = None"],
            ["import faulthandler", "def register(*_, **__): raise OSError('no')", "faulthandler.register = register"],
        ):
            with self.subTest(lines=lines):
                self.assertIsNone(self.announced(*lines))


class Crashes(HostCase):
    CRASH = "import faulthandler, os, signal\n@worker.command\ndef crash(number): os.kill(os.getpid(), number)\n"

    def crash(self, host, number=signal.SIGSEGV):
        host.send_call("crash", {"number": number})
        self.assertIsNone(host.receive())
        status, stdout, stderr = host.finish()
        self.assertEqual((status, stdout), (-number, ""))
        return stderr

    def test_show_the_stacks(self):
        for number in (signal.SIGSEGV, signal.SIGABRT, signal.SIGBUS, signal.SIGFPE, signal.SIGILL):
            for stdio in (False, True):
                with self.subTest(number=number, stdio=stdio):
                    stderr = self.crash_over(stdio, number)
                    self.assertTrue(stderr.startswith("Fatal Python error: "), stderr)
                    self.assertRegex(stderr, r'Current thread .*\n  File ".*script.py", line \d+ in crash\n')
                    self.assertIn("in _listen\n", stderr)

    def crash_over(self, stdio, number):
        host = self.start(self.CRASH, stdio=stdio)
        if not stdio:
            return self.crash(host, number)
        host.send_call("crash", {"number": number})
        status, _, stderr = host.finish()
        self.assertEqual(status, -number)
        return stderr

    def test_while_the_script_is_loaded(self):
        host = self.start("import os; os.abort()", ready=False)
        status, _, stderr = host.finish()
        self.assertEqual(status, -signal.SIGABRT)
        self.assertIn("script.py", stderr)

    def test_without_stacks_by_an_option(self):
        source = f"import skep\nworker = skep.Worker(faulthandler=False)\n{self.CRASH}\nworker.run()\n"
        self.assertEqual(self.crash(self.start_script(source)), "")
        stderr = self.crash(self.start_script(source, env={"PYTHONFAULTHANDLER": "1"}))
        self.assertIn("in crash\n", stderr)

    def test_what_the_script_has_set_up_stays(self):
        for lines in (
            "import faulthandler\nfile = open(__file__ + '.log', 'w+')\nfaulthandler.enable(file)",
            "import faulthandler\nfaulthandler.disable()",
        ):
            for before in (False, True):
                with self.subTest(lines=lines, before=before):
                    if before and "disable" in lines:
                        continue  # it is off anyway
                    create = "import skep\nworker = skep.Worker()"
                    parts = (lines, create) if before else (create, lines)
                    host = self.start_script("\n".join((*parts, self.CRASH, "worker.run()\n")))
                    self.assertEqual(self.crash(host), "")

    def test_of_a_python_without_faulthandler_show_nothing(self):
        host = self.start_script(
            "import sys\nsys.modules['faulthandler'] = None\nimport skep\nworker = skep.Worker()\n"
            + self.CRASH.replace("faulthandler, ", "") + "worker.run()\n"
        )
        self.assertEqual(self.crash(host), "")


class Children(HostCase):
    def test_a_forked_child_lives_through_it_and_may_have_a_handler_of_its_own(self):
        host = self.start(
            SERVING + "@worker.command\ndef spawn(own_handler):\n"
            "    child = os.fork()\n"
            "    if child == 0:\n"
            "        try:\n"
            "            seen = []\n"
            "            if own_handler: signal.signal(signal.SIGUSR2, lambda *_: seen.append(1))\n"
            "            os.kill(os.getpid(), signal.SIGUSR2)\n"
            "            os._exit(7 + len(seen))\n"
            "        finally:\n"
            "            os._exit(99)\n"
            "    return os.waitpid(child, 0)[1] >> 8\n"
        )
        self.assertEqual(host.call("spawn", {"own_handler": False}), 7)
        self.assertEqual(host.call("spawn", {"own_handler": True}), 8)
        host.tell({"type": "shutdown", "grace_ms": 1000})
        status, _, stderr = host.finish()
        self.assertEqual(status, 0)
        self.assertEqual(stderr.count("in spawn\n"), 1)

    def test_a_program_that_is_executed_has_the_signal_as_ever(self):
        host = self.start(
            SERVING + "@worker.command\n"
            "def execute(): return subprocess.run(['sh', '-c', 'kill -USR2 $$']).returncode\n"
        )
        self.assertEqual(host.call("execute"), -signal.SIGUSR2)
        self.assertEqual(host.call("echo", {"value": 1}), 1)


if __name__ == "__main__":
    unittest.main()
