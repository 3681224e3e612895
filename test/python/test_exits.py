"""sys.exit() in a command is an error of its call, unless SIGTERM has arrived."""

import signal
import unittest

from host import HostCase

EXITING = """
import asyncio, os, sys, threading, time
class Leaving:
    def to_dict(self): sys.exit(4)
def leave(): sys.exit(3)
def stream():
    yield 1
    sys.exit(3)
def convert(): return Leaving()
def blame(): raise skep.Error("bad", data=Leaving())
def text(): sys.exit("no model")
def echo(value): return value
def abort(): os._exit(9)
def sleep():
    try:
        print("sleeping", flush=True)
        time.sleep(1000)
    finally: sys.exit(6)
"""
ASYNC_EXITING = """
async def leave(): sys.exit(3)
async def stream():
    yield 1
    sys.exit(3)
async def convert(): return Leaving()
async def blame(): raise skep.Error("bad", data=Leaving())
async def text(): sys.exit("no model")
async def echo(value): return value
async def nested():
    await asyncio.gather(leave(), echo(1))
async def sleep():
    try:
        print("sleeping", flush=True)
        await asyncio.sleep(1000)
    finally: sys.exit(6)
"""
REGISTERING = """
for each in (leave, stream, convert, blame, text, echo, abort, sleep): worker.command(each)
@worker.health_check
def check(): sys.exit("not well")
@worker.on_stop
def stop(): print("stopped", flush=True)
"""
# Options of the worker, what follows the plain commands, threads of the worker.
PLAIN = ("", REGISTERING, "1")
THREADS = ("thread_safe=True", REGISTERING, "4")
ASYNC = ("thread_safe=True", ASYNC_EXITING + REGISTERING + "worker.command(nested)\n", "1")
# A plain worker that waits for what it returns; a worker whose threads wait for the loop.
AWAITED = (
    "",
    ASYNC_EXITING + REGISTERING.replace("worker.command(each)", "worker.command(name=each.__name__)(wrapped(each))")
    .replace("\nfor", "\ndef wrapped(function): return lambda **named: function(**named)\nfor")
    + "worker.command(name='nested')(lambda: nested())\n",
    "1",
)
AWAITED_IN_THREADS = (
    "thread_safe=True",
    AWAITED[1] + "@worker.command\nasync def other(): pass\n",
    "1",
)
KINDS = {
    "plain": PLAIN,
    "threads": THREADS,
    "async": ASYNC,
    "awaited": AWAITED,
    "awaited in threads": AWAITED_IN_THREADS,
}

# A handler of SIGTERM. The SDK must not interrupt it.
ENDING_SLOWLY = """
import signal
def end(*_):
    time.sleep(0.1)
    sys.exit(5)
@worker.on_start
def handle(): signal.signal(signal.SIGTERM, end)
"""


# The handler runs within the step of a task that the call does not await.
NAP_BESIDE_BUSY_TASK = """
async def block():
    print("sleeping", flush=True)
    time.sleep(1000)
async def wait():
    task = asyncio.ensure_future(block())
    await asyncio.sleep(1000)
def nap(): return wait()
"""


class Exits(HostCase):
    def start_kind(self, kind, more="", **how):
        options, source, threads = KINDS[kind]
        script = f"import skep\nworker = skep.Worker({options})\n{EXITING}{source}{more}\nworker.run()\n"
        return self.start_script(script, env={"SKEP_THREADS": threads}, **how)

    def test_in_a_command_is_an_error_of_its_call(self):
        for kind in KINDS:
            with self.subTest(kind):
                host = self.start_kind(kind)
                for command, message in (("leave", "3"), ("convert", "4"), ("blame", "4"), ("text", "no model")):
                    error = host.call_error(command)
                    self.assertEqual((error["type"], error["message"]), ("SystemExit", message), command)
                    self.assertIn("sys.exit(", error["traceback"])
                    self.assertEqual(host.call("echo", {"value": 1}), 1)
                if "nested" in KINDS[kind][1]:
                    error = host.call_error("nested")
                    self.assertEqual((error["type"], error["message"]), ("SystemExit", "3"))
                    self.assertIn("in nested\n", error["traceback"])
                    self.assertEqual(host.call("echo", {"value": 2}), 2)
                self.check_end(host)

    def test_in_a_stream_comes_behind_its_chunks(self):
        for kind in KINDS:
            with self.subTest(kind):
                host = self.start_kind(kind)
                host.send_call("stream", stream={"chunks": 4, "bytes": 1000})
                self.assertEqual(host.receive()["value"], 1)
                self.assertEqual(host.receive()["error"]["type"], "SystemExit")
                self.assertEqual(host.call_error("stream")["type"], "SystemExit")
                self.assertEqual(host.call("echo", {"value": 1}), 1)

    def test_in_a_health_check_means_unhealthy(self):
        for kind in KINDS:
            with self.subTest(kind):
                host = self.start_kind(kind)
                error = host.call_error("skep.health_check")
                self.assertEqual((error["type"], error["message"]), ("SystemExit", "not well"))
                self.assertEqual(host.call("echo", {"value": 1}), 1)

    def test_after_sigterm_ends_the_worker(self):
        for kind in KINDS:
            with self.subTest(kind):
                host = self.start_kind(kind)
                host.send_call("sleep")
                self.assertEqual(host.process.stdout.readline(), b"sleeping\n")
                host.signal(signal.SIGTERM)
                self.assertIsNone(host.receive())
                status, stdout, _ = host.finish()
                self.assertEqual((status, stdout), (6 if kind in ("plain", "async") else 0, "stopped\n"))

    def test_in_a_handler_of_sigterm_ends_the_worker(self):
        for kind, nap in (
            ("plain", "def nap():\n    print('sleeping', flush=True)\n    time.sleep(1000)\n"),
            ("async", "async def nap():\n    print('sleeping', flush=True)\n    time.sleep(1000)\n"),
            ("async", "async def nap():\n    print('sleeping', flush=True)\n    await asyncio.sleep(1000)\n"),
            ("awaited", "def nap():\n    print('sleeping', flush=True)\n    return asyncio.sleep(1000)\n"),
            ("awaited", NAP_BESIDE_BUSY_TASK),
        ):
            with self.subTest(kind=kind, nap=nap):
                more = ENDING_SLOWLY + nap + "worker.command(nap)\n"
                host = self.start_kind(kind, more)
                host.send_call("nap")
                self.assertEqual(host.process.stdout.readline(), b"sleeping\n")
                host.signal(signal.SIGTERM)
                self.assertIsNone(host.receive())
                self.assertEqual(host.finish()[:2], (5, "stopped\n"))

    def test_in_a_handler_of_sigterm_ends_an_idle_worker(self):
        for kind in KINDS:
            with self.subTest(kind):
                host = self.start_kind(kind, ENDING_SLOWLY)
                host.signal(signal.SIGTERM)
                self.assertEqual(host.finish()[:2], (5, "stopped\n"))

    def test_a_handler_of_sigterm_may_leave_the_running_call_alone(self):
        handler = (
            "import signal\n"
            "arrived = []\n"
            "@worker.on_start\ndef handle(): signal.signal(signal.SIGTERM, lambda *_: arrived.append(1))\n"
            "{}def wait():\n    print('waiting', flush=True)\n"
            "    while not arrived: time.sleep(0.01)\n    return 'complete'\n"
            "worker.command(wait)\n"
        )
        for kind in KINDS:
            with self.subTest(kind):
                host = self.start_kind(kind, handler.format("async " if kind == "async" else ""))
                host.send_call("wait")
                self.assertEqual(host.process.stdout.readline(), b"waiting\n")
                host.signal(signal.SIGTERM)
                self.assertEqual(host.receive()["value"], "complete")
                self.assertIsNone(host.receive())
                self.assertEqual(host.finish()[:2], (0, "stopped\n"))

    def test_in_a_stop_hook_ends_the_worker(self):
        host = self.start("import sys\n@worker.on_stop\ndef stop(): sys.exit(7)\n")
        host.tell({"type": "shutdown", "grace_ms": 1000})
        self.assertEqual(host.finish()[0], 7)

    def test_in_a_task_of_no_call_ends_the_worker(self):
        host = self.start_kind(
            "async",
            "@worker.on_start\nasync def watch():\n"
            "    global go, task\n"
            "    go = asyncio.Event()\n"
            "    async def wait():\n"
            "        await go.wait()\n"
            "        sys.exit(8)\n"
            "    task = asyncio.ensure_future(wait())\n"
            "@worker.command\nasync def end():\n"
            "    go.set()\n"
            "    await asyncio.sleep(1000)\n",
        )
        host.send_call("end")
        self.assertIsNone(host.receive())
        self.assertEqual(host.finish()[:2], (8, "stopped\n"))

    def test_os_exit_is_a_crash(self):
        for kind in KINDS:
            with self.subTest(kind):
                host = self.start_kind(kind)
                host.send_call("abort")
                self.assertIsNone(host.receive())
                self.assertEqual(host.finish()[:2], (9, ""))

    def check_end(self, host):
        host.tell({"type": "shutdown", "grace_ms": 1000})
        self.assertIsNone(host.receive())
        self.assertEqual(host.finish(), (0, "stopped\n", ""))


if __name__ == "__main__":
    unittest.main()
