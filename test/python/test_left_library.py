"""The standard library as user code has left it: patched, replaced, closed, ignored."""

import importlib.util
import select
import signal
import sys
import threading
import types
import unittest
import unittest.mock

from skep._process import interpreter
from skep._process.diagnostics import printable

from host import HostCase

COMMANDS = """
import time
@worker.command
def echo(value): return value
@worker.command
def sleep(): time.sleep(1000)
@worker.command
def step():
    skep.progress(0.5, "half")
    return skep.call_host("tool")
@worker.on_stop
def last(): os.write(2, b"stopped\\n")
"""
STARTER = "_start_joinable_thread" if hasattr(threading, "_start_joinable_thread") else "_start_new_thread"
HAS_GEVENT = importlib.util.find_spec("gevent") is not None

# As gevent does it, but for coroutines that never run.
COROUTINES = """
import _thread, threading, time, socket, select, os, signal, queue
def start_later(function, args=(), named={}): return 1
_thread.start_new_thread = threading._start_new_thread = start_later
if hasattr(threading, "_start_joinable_thread"): threading._start_joinable_thread = start_later
class Patched: pass
class Socket(socket.socket):
    def __init__(self, *args, **named): raise OSError("not cooperative")
socket.socket = Socket
queue.SimpleQueue = select.poll = Patched
"""


class LeftLibrary(HostCase):
    def source(self, before="", between="", hook=""):
        lines = "\n    ".join(hook.splitlines()) or "pass"
        return (
            f"import os, sys\n{before}\nimport skep\nworker = skep.Worker()\n{COMMANDS}\n{between}\n"
            f"@worker.on_start\ndef first():\n    {lines}\nworker.run()\n"
        )

    def places(self, state):
        yield {"before": state}
        yield {"between": state}
        yield {"hook": state}

    def check(self, host, stderr="stopped\n", status=0):
        """A worker is as any other: calls, tools, cancellation, pings, an orderly end."""
        self.assertEqual(host.call("echo", {"value": [1]}), [1])
        host.send_call("step")
        self.assertEqual(host.receive()["fraction"], 0.5)
        host.answer_tool(host.receive_tool_call(), 7)
        self.assertEqual(host.receive()["value"], 7)
        call_id = host.send_call("sleep")
        host.until_busy()
        host.cancel(call_id)
        self.assertEqual(host.receive()["error"]["type"], "skep.Cancelled")
        host.send_call("sleep")
        host.until_busy()
        host.tell({"type": "shutdown", "grace_ms": 1000})
        host.ping()
        host.process.terminate()
        ended = host.finish()
        self.assertEqual((ended[0], ended[2]), (status, stderr))

    def check_refusal(self, said, **places):
        host = self.start_script(self.source(**places), ready=False)
        if "hook" in places:
            host.receive()
            host.welcome()
        status, _, stderr = host.finish()
        self.assertEqual(status, 78)
        self.assertTrue(stderr.startswith(f"skep: {said}"), stderr)

    def test_threads_that_are_coroutines(self):
        said = "a library has replaced threads by something else, and the SDK needs threads to hear its pool"
        self.check_refusal(said, before=f"import skep\nskep._process.interpreter._PATIENCE = 0.1\n{COROUTINES}")
        self.check_refusal(said, hook=f"skep._process.interpreter._PATIENCE = 0.1\n{COROUTINES}")

    def test_threads_that_gevent_has_patched(self):
        if HAS_GEVENT:
            for places in self.places("from gevent import monkey; monkey.patch_all()"):
                with self.subTest(places):
                    self.check_refusal("gevent has replaced threads", **places)

    def test_all_else_that_gevent_patches(self):
        if HAS_GEVENT:
            patch = "from gevent import monkey; monkey.patch_all(thread=False)"
            quiet = "import gevent.hub; gevent.hub.Hub.print_exception = lambda *args: None"
            for places in self.places(f"{patch}\n{quiet}"):
                with self.subTest(places):
                    self.check(self.start_script(self.source(**places)))

    def test_what_others_put_around_threads_is_a_thread(self):
        state = (
            "import _thread, threading\n"
            "def around(start):\n"
            "    return lambda *args, **named: start(*args, **named)\n"
            "_thread.start_new_thread = around(_thread.start_new_thread)\n"
            f"threading.{STARTER} = around(threading.{STARTER})\n"
            "threading.Thread.start = around(threading.Thread.start)\n"
        )
        for places in self.places(state):
            with self.subTest(places):
                self.check(self.start_script(self.source(**places)))

    def test_a_start_of_threads_that_runs_them_at_once(self):
        with unittest.mock.patch("_thread.start_new_thread", lambda function, args: function(*args)):
            self.assertIn("starts none", interpreter.replacement_of_threads())
        self.assertIsNone(interpreter.replacement_of_threads())

    def test_functions_in_c_are_taken_unpatched_and_stay_patched_for_others(self):
        with unittest.mock.patch.dict(vars(select), {"poll": None}), unittest.mock.patch("time.sleep") as patched:
            del select.epoll
            self.assertTrue(interpreter._unpatched("select")["poll"]())
            interpreter._unpatched("time")["sleep"](0)
            self.assertIsNone(select.poll)
            self.assertFalse(hasattr(select, "epoll"))
            self.assertIs(sys.modules["select"], select)
            patched.assert_not_called()
        with unittest.mock.patch.dict(sys.modules, {"select": types.ModuleType("select")}):
            self.assertTrue(interpreter._unpatched("select")["poll"]())

    def test_eventlet(self):
        module = unittest.mock.Mock(is_monkey_patched=lambda name: name == "thread")
        with unittest.mock.patch.dict("sys.modules", {"eventlet.patcher": module}):
            self.assertIn("eventlet has replaced threads", interpreter.replacement_of_threads())

    def test_whatever_else_is_patched_or_set(self):
        for state in (
            "import socket, select\nclass Other: pass\nsocket.socket = Other",
            "import queue\nclass Other: pass\nqueue.SimpleQueue = Other",
            "import select\nclass Other: pass\nselect.poll = Other",
            "import socket; socket.setdefaulttimeout(0.001)",
            "import warnings; warnings.simplefilter('error')",
            "import builtins\nbuiltins.print = lambda *args, **named: 1 / 0",
            "import json\njson.dumps = json.dump = json.loads = lambda *args, **named: b'{}'",
            "import logging; logging.disable(logging.CRITICAL); logging.basicConfig()",
            "import sys, threading\ndef trace(*args): return trace\nsys.settrace(trace); threading.settrace(trace)",
            "import sys, threading\ndef fail(*args): raise ValueError\n"
            "sys.excepthook = threading.excepthook = sys.unraisablehook = fail",
            "import asyncio\nclass Policy(asyncio.DefaultEventLoopPolicy): pass\n"
            "asyncio.set_event_loop_policy(Policy()); asyncio.set_event_loop(None)",
            "import os; os.chdir('/')",
            "import gc, locale; gc.disable(); locale.setlocale(locale.LC_ALL, 'C')",
            "import sys; sys.argv[:] = []",
            "import sys; del sys.argv",
            "import signal; signal.set_wakeup_fd(-1)",
            "import signal; signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM, signal.SIGRTMIN + 7})",
        ):
            for places in self.places(state):
                if "hook" in places and "pthread_sigmask" in state:  # whoever blocks it then does not want it
                    continue
                with self.subTest(places):
                    self.check(self.start_script(self.source(**places)))

    def test_warnings_that_are_errors(self):
        self.check(self.start_script(self.source(), env={"PYTHONWARNINGS": "error"}))

    def test_output_that_is_closed_or_gone(self):
        for state in (
            "sys.stdout = None",
            "sys.stdout = sys.stderr = None",
            "sys.stdout.close()",
            "import io; sys.stdout = io.StringIO(); sys.stderr = io.StringIO()",
            "os.close(0); os.close(1)",
        ):
            for places in self.places(state):
                with self.subTest(places):
                    self.check(self.start_script(self.source(**places)))

    def test_what_the_sdk_says_comes_through_all_the_same(self):
        for state in (
            "sys.stderr = None",
            "sys.stderr = open(os.devnull, 'w'); sys.stderr.close()",
            "class Broken:\n  def write(self, text): raise ValueError\n  flush = write\nsys.stdout = sys.stderr = Broken()",
            "import builtins, tokenize\nbuiltins.open = tokenize._builtin_open = lambda *args, **named: 1 / 0",
        ):
            with self.subTest(state):
                host = self.start_script(self.source(between=state, hook="1 / 0"), ready=False)
                host.receive()
                host.welcome()
                self.assertIn("ZeroDivisionError: division by zero\n", host.finish()[2])

    def test_sigterm_that_code_has_left_ignored(self):
        for state in (
            "signal.signal(signal.SIGTERM, signal.SIG_IGN)",
            "signal.signal(signal.SIGTERM, signal.SIG_DFL)",
            "import asyncio\nasync def use():\n  loop = asyncio.get_running_loop()\n"
            "  loop.add_signal_handler(signal.SIGTERM, print)\n  loop.remove_signal_handler(signal.SIGTERM)\nasyncio.run(use())",
        ):
            with self.subTest(state):
                self.check(self.start_script(self.source(hook=f"import signal\n{state}")))
                host = self.start_script(self.source(hook=f"import signal\n{state}"))
                host.process.terminate()
                self.assertEqual(host.finish(), (0, "", "stopped\n"))
        source = self.source(hook="import signal\nsignal.signal(signal.SIGTERM, signal.SIG_IGN)")
        source = source.replace("def sleep(): time", "async def sleep(): await asyncio").replace("import time", "import asyncio")
        source = source.replace("def echo", "async def echo").replace("def step", "async def step")
        self.check(self.start_script(source.replace("return skep.call_host(", "return await skep.call_host_async(")))

    def test_a_handler_of_sigterm_that_is_the_script_s_own_stays(self):
        state = "import signal\nsignal.signal(signal.SIGTERM, lambda *args: sys.exit(5))"
        self.check(self.start_script(self.source(hook=state)), status=5)

    def test_an_environment_that_is_emptied_later(self):
        host = self.start("import os\nos.environ.clear()\n", ready=False, env={"SKEP_THREADS": "4"})
        self.assertEqual(host.finish()[0], 78)


class Printable(unittest.TestCase):
    def test_what_does_something_to_a_terminal_is_escaped(self):
        harmful = "\x00\x1b[2J\r\x7f\x9b31m\u202e\u2028\u2029\u2066\u200f\u206a\ufeff\ufffa"
        shown = printable(harmful)
        self.assertTrue(shown.isascii() and shown.isprintable(), ascii(shown))
        self.assertIn("\\u009b31m\\u202e\\u2028", shown)

    def test_all_else_stays(self):
        text = "Zoë 🐝\tעברית\n"
        self.assertEqual(printable(text), text)


class Forking(HostCase):
    def test_without_a_warning(self):
        host = self.start(
            r"""
import os
import warnings

warnings.filterwarnings("ignore", r"This process \(pid=\d+\) is multi-threaded", DeprecationWarning)

@worker.command
def fork():
    pid = os.fork()
    if pid == 0:
        os._exit(0)
    os.waitpid(pid, 0)
    # As Python 3.12 and later say it.
    said = "This process (pid=1) is multi-threaded, use of fork() may lead to deadlocks in the child."
    warnings.warn(said, DeprecationWarning)
    return "forked"
""".strip("\n"),
            env={"PYTHONWARNINGS": "error"},
        )
        self.assertEqual(host.call("fork"), "forked")
        host.tell({"type": "shutdown", "grace_ms": 1000})
        self.assertEqual(host.finish(), (0, "", ""))


if __name__ == "__main__":
    unittest.main()
