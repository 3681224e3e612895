"""Several calls at once in threads of one worker: skep.Worker(thread_safe=True) and SKEP_THREADS."""

import sys
import threading
import time
import unittest
from unittest import mock

import skep
from host import HostCase, check_turns
from skep._process.interpreter import threading_kind
from skep._profiles.thread_profile import ThreadWindow
from skep._wire.errors import Cancelled

COMMANDS = """
import threading, time

@worker.command
def sleep(seconds): time.sleep(seconds)

@worker.command
def spin():
    try:
        skep.progress(0)
        rounds = 0  # where a loop is the first thing in a block, CPython 3.11 takes an interrupt for one before it
        while True: rounds += 1
    finally:
        print("cleaned up\\n", end="", flush=True)  # in one piece: another thread may print as well

@worker.command
def echo(value): return value

@worker.command
def where():
    is_main = threading.current_thread() is threading.main_thread()
    return [is_main, skep.current().id, bytes(skep.attachments()[0]).decode()]

@worker.command
def ask(n):
    skep.progress(0.5)
    return skep.call_host("tool", n=n)

@worker.command
def tokens(count):
    try:
        for n in range(count): yield n
    finally:
        print("cleaned up\\n", end="", flush=True)

barrier = threading.Barrier(4)
@worker.command
def meet():
    return barrier.wait(60) >= 0

@worker.command
def forks(end="pass"):
    import os, sys
    child = os.fork()
    return os.waitpid(child, 0)[1] >> 8 if child else exec(end)
"""


class Threads(HostCase):
    def start_threads(self, count=4, ready=True, stdio=False):
        script = f"import skep\nworker = skep.Worker(thread_safe=True)\n{COMMANDS}\nworker.run()\n"
        self.host = self.start_script(script, ready, env={"SKEP_THREADS": str(count)}, stdio=stdio)
        return self.host

    def answers(self, count):
        answers = [self.host.receive() for _ in range(count)]
        return {answer["id"]: answer for answer in answers}

    def start_spinning(self, calls):
        """Returns the ids of calls that compute, once they do."""
        ids = [self.host.send_call("spin") for _ in range(calls)]
        for _ in ids:
            self.assertEqual(self.host.receive()["type"], "progress")
        return ids

    def until_busy(self, calls):
        while self.host.ping()["in_flight"] < calls:
            pass

    def test_hello_says_how_many(self):
        self.assertEqual(self.start_threads(3, ready=False).handshake()["capacity"], 3)

    def test_a_worker_has_to_say_that_it_can(self):
        host = self.start(COMMANDS, ready=False, env={"SKEP_THREADS": "2"})
        self.assertIsNone(host.receive())
        status, _, stderr = host.finish()
        self.assertEqual(status, 78)
        self.assertIn("the pool wants 2 calls at once in threads", stderr)
        self.assertIn("skep.Worker(thread_safe=True)", stderr)
        self.assertEqual(stderr.count("\n"), 1)

    def test_what_is_no_number_of_threads(self):
        for text in ("0", "-1", "many", ""):
            host = self.start(COMMANDS, ready=False, env={"SKEP_THREADS": text})
            self.assertEqual(host.finish()[0], 78)

    def test_one_thread_is_the_main_thread(self):
        host = self.start_threads(1)
        self.assertEqual(host.call("where", (), [b"a"]), [True, 1, "a"])

    def test_calls_run_at_the_same_time(self):
        for stdio in (False, True):
            self.start_threads(stdio=stdio)
            ids = [self.host.send_call("meet") for _ in range(4)]
            answers = self.answers(4)
            self.assertEqual([answers[id]["value"] for id in ids], [True] * 4)

    def test_no_more_at_once_than_the_host_allows(self):
        self.start_threads(4, ready=False).receive()
        self.host.welcome(capacity=2)
        self.host.receive()
        check_turns(self, ["ask"] * 6)

    def test_many_calls_find_their_way(self):
        self.start_threads()
        ids = [self.host.send_call("where", (), [b"%d" % n]) for n in range(500)]
        answers = self.answers(500)
        self.assertEqual([answers[id]["value"] for id in ids], [[False, id, str(id - 1)] for id in ids])
        self.assertEqual(self.host.ping(), {"type": "pong", "seq": 1, "in_flight": 0, "completed": 500})

    def test_tools_and_progress_belong_to_their_calls(self):
        self.start_threads()
        ids = {self.host.send_call("ask", {"n": n}): n for n in range(4)}
        reported, returned = [], {}
        while len(returned) < 4:
            message = self.host.receive()
            if message["type"] == "progress":
                reported.append(message["id"])
            elif message["type"] == "tool_call":
                self.assertEqual(ids[message["id"]], message["args"]["n"])
                self.assertIn(message["id"], reported)
                self.host.answer_tool(message, message["args"]["n"] * 10)
            else:
                returned[message["id"]] = message["value"]
        self.assertEqual(returned, {id: n * 10 for id, n in ids.items()})

    def test_streams_beside_each_other_wait_for_their_own_credit(self):
        self.start_threads()
        first = self.host.send_call("tokens", {"count": 3}, stream={"chunks": 1, "bytes": 1000})
        self.assertEqual(self.host.receive()["value"], 0)
        second = self.host.send_call("tokens", {"count": 3}, stream={"chunks": 1, "bytes": 1000})
        self.assertEqual(self.host.receive(), {"type": "chunk", "id": second, "value": 0})
        for call_id in (first, second):
            self.host.tell({"type": "credit", "id": call_id, "credit": {"chunks": 5, "bytes": 100}})
            values = [self.host.receive() for _ in range(3)]
            self.assertEqual([message["id"] for message in values], [call_id] * 3)
            self.assertEqual([message["value"] for message in values], [1, 2, None])

    def test_a_call_that_computes_is_cancelled_and_no_other(self):
        self.start_threads()
        for _ in range(20):
            ids = self.start_spinning(3)
            for call_id in ids[::-1]:
                self.host.cancel(call_id)
                answer = self.host.receive()
                self.assertEqual((answer["id"], answer["error"]["type"]), (call_id, "skep.Cancelled"))
            self.assertEqual(self.host.call("echo", {"value": 1}), 1)
        self.host.tell({"type": "shutdown", "grace_ms": 1000})
        self.assertEqual(self.host.finish(), (0, "cleaned up\n" * 60, ""))

    def test_cancels_at_any_moment_reach_the_right_call(self):
        self.start_threads(2)
        for round_number in range(300):
            call_id = self.host.send_call("sleep", {"seconds": 0.0001 * (round_number % 3)})
            other = self.host.send_call("echo", {"value": round_number})
            for _ in range(round_number % 4):
                self.host.ping()
            self.host.cancel(call_id)
            answers = self.answers(2)
            self.assertEqual(answers[other].get("value"), round_number, answers)
            error = answers[call_id].get("error")
            self.assertIn(error and error["type"], (None, "skep.Cancelled"))

    def test_a_cancel_before_its_call_and_of_one_that_waits(self):
        self.start_threads(2)
        self.host.cancel(1)
        self.host.ping()
        self.assertEqual(self.host.call_error("echo", {"value": 1})["type"], "skep.Cancelled")
        spinning = self.start_spinning(2)
        waiting = self.host.send_call("echo", {"value": 1})
        for call_id in (waiting, *spinning):
            self.host.cancel(call_id)
        kinds = {id: answer["error"]["type"] for id, answer in self.answers(3).items()}
        self.assertEqual(kinds, dict.fromkeys((waiting, *spinning), "skep.Cancelled"))

    def test_what_waits_for_the_host_is_cancelled(self):
        self.start_threads()
        stream = self.host.send_call("tokens", {"count": 3}, stream={"chunks": 1, "bytes": 1000})
        self.host.receive()
        self.host.cancel(stream)
        self.assertEqual(self.host.receive()["error"]["type"], "skep.Cancelled")
        asking = self.host.send_call("ask", {"n": 1})
        self.assertEqual([self.host.receive()["type"] for _ in range(2)], ["progress", "tool_call"])
        self.host.cancel(asking)
        self.assertEqual(self.host.receive()["error"]["type"], "skep.Cancelled")
        self.host.signal(15)
        self.assertEqual(self.host.finish(), (0, "cleaned up\n", ""))

    def test_shutdown_lets_what_runs_finish(self):
        self.start_threads(2)
        ids = [self.host.send_call("sleep", {"seconds": 0.2}) for _ in range(2)]
        self.until_busy(2)
        self.host.send_call("echo", {"value": 1})
        self.host.tell({"type": "shutdown", "grace_ms": 1000})
        self.assertEqual(set(self.answers(2)), set(ids))
        self.assertTrue(self.host.is_closed(self.host.data))
        self.assertEqual(self.host.finish()[0], 0)

    def test_sigterm_interrupts_what_computes_and_waits(self):
        self.start_threads()
        self.start_spinning(1)
        self.host.send_call("tokens", {"count": 3}, stream={"chunks": 1, "bytes": 1000})
        self.assertEqual(self.host.receive()["value"], 0)
        self.host.signal(15)
        self.assertIsNone(self.host.receive())
        self.assertEqual(self.host.finish(), (0, "cleaned up\n" * 2, ""))

    def test_sigterm_does_not_wait_for_ever(self):
        self.start_threads()
        self.host.send_call("sleep", {"seconds": 1000})
        self.until_busy(1)
        self.host.signal(15)
        self.assertEqual(self.host.finish()[0], 0)

    def test_a_forked_child_ends_where_it_comes_back(self):
        self.start_threads()
        for end, status in (("pass", 0), ("sys.exit(5)", 5), ("sys.exit('mine')", 1), ("raise ValueError", 1)):
            self.assertEqual(self.host.call("forks", {"end": end}), status)
            self.assertEqual(self.host.call("echo", {"value": 1}), 1)
        self.host.tell({"type": "shutdown", "grace_ms": 1000})
        status, _, stderr = self.host.finish()
        self.assertEqual((status, stderr.count("Traceback"), stderr.count("mine\n")), (0, 1, 1))

    def test_the_host_is_gone(self):
        self.start_threads()
        self.host.send_call("sleep", {"seconds": 1000})
        self.until_busy(1)
        self.host.data.close()
        self.assertEqual(self.host.finish()[0], 70)


class Windows(unittest.TestCase):
    def test_an_interrupt_hits_only_what_is_between_open_and_close(self):
        outside = []

        def run():
            for _ in range(3000):
                window = ThreadWindow()
                window.begin()
                windows.append(window)
                try:
                    try:
                        window.open(1)
                        sum(range(20))
                    finally:
                        window.close()
                except Cancelled:
                    pass
                try:
                    for _ in range(20):
                        len(outside)
                except Cancelled:
                    outside.append(1)

        windows = []
        thread = threading.Thread(target=run)
        thread.start()
        cancelled = 0
        while thread.is_alive():
            if len(windows) > cancelled:
                cancelled = len(windows)
                windows[-1].interrupt(Cancelled)
        thread.join()
        self.assertEqual((len(windows), outside), (3000, []))

    def test_the_main_thread_of_a_test_is_none_of_ours(self):
        window = ThreadWindow()
        window.interrupt(Cancelled)
        self.assertTrue(window.is_cancelled(1))
        with self.assertRaises(Cancelled):
            window.open(1)
        window.open(1)  # once is enough
        window.close()


class FreeThreading(unittest.TestCase):
    def test_hello_says_whether_threads_are_free(self):
        for disabled, has_gil, said in (
            (None, True, ""),
            (1, False, " (free-threaded)"),
            (1, True, " (free-threaded build, with its GIL on)"),
        ):
            with mock.patch("sysconfig.get_config_var", lambda _: disabled):
                with mock.patch.object(sys, "_is_gil_enabled", lambda: has_gil, create=True):
                    self.assertEqual(threading_kind(), said)


if __name__ == "__main__":
    unittest.main()
