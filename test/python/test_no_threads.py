"""A process that cannot have one more thread does what it can with those that it has."""

import unittest

from host import HostCase

SCRIPT = """
import threading
import skep

worker = skep.Worker(thread_safe=True)


def no_thread(*args, **kwargs):
    raise RuntimeError("can't start new thread")


@worker.command
def exhaust():
    threading.Thread.start = no_thread


@worker.command
def ask(n):
    return skep.call_host("tool", n=n)


@worker.command
def report():
    skep.progress(0.25)
    skep.progress(0.5)
    return skep.call_host("tool")


@worker.command
def count():
    yield from range(5)


@worker.on_start
def start():
    {}()
"""
RUN = "\nworker.run()\n"
ASYNC = """
import asyncio


@worker.command
async def exhaust_all(): exhaust()


@worker.command
async def wait(n): return await skep.call_host_async("tool", n=n)
"""
NO_THREAD = "can't start new thread"


class NoThreads(HostCase):
    def start_threads(self, more="", hook="int", **how):
        return self.start_script(SCRIPT.format(hook) + more + RUN, env={"SKEP_THREADS": "4"}, **how)

    def check_queue(self, host):
        """One thread does all calls, as none can be added."""
        host.call("exhaust")
        ids = [host.send_call("ask", {"n": n}) for n in range(4)]
        for n, call_id in enumerate(ids):
            asked = host.receive_tool_call()
            self.assertEqual((asked["id"], asked["args"]), (call_id, {"n": n}))
            host.answer_tool(asked, n)
            self.assertEqual(host.receive(), {"type": "result", "id": call_id, "value": n})

    def check_orderly_end(self, host):
        host.tell({"type": "shutdown"})
        self.assertEqual(host.finish(), (0, "", ""))

    def test_calls_wait_for_the_threads_that_there_are(self):
        host = self.start_threads()
        self.check_queue(host)
        self.check_orderly_end(host)

    def test_calls_beside_an_event_loop_too(self):
        host = self.start_threads(ASYNC)
        self.check_queue(host)
        self.check_orderly_end(host)

    def test_without_any_thread_the_call_fails_and_the_worker_goes_on(self):
        self.check_failing(self.start_threads(hook="exhaust"))

    def test_nor_beside_an_event_loop(self):
        host = self.start_threads(ASYNC)
        host.call("exhaust_all")
        self.check_failing(host)

    def check_failing(self, host):
        for _ in range(5):
            error = host.call_error("ask", {"n": 0})
            self.assertEqual((error["type"], error["message"]), ("RuntimeError", NO_THREAD))
        self.assertEqual(host.ping()["in_flight"], 0)
        self.check_orderly_end(host)

    def test_calls_on_the_event_loop_need_none(self):
        host = self.start_threads(ASYNC)
        host.call("exhaust_all")
        ids = [host.send_call("wait", {"n": n}) for n in range(2)]
        asked = [host.receive_tool_call() for _ in ids]
        for each in reversed(asked):
            host.answer_tool(each, 7)
            self.assertEqual(host.receive(), {"type": "result", "id": each["id"], "value": 7})
        self.check_orderly_end(host)

    def test_progress_and_chunks_go_out_all_the_same(self):
        host = self.start_script(SCRIPT.format("exhaust") + RUN)
        call_id = host.send_call("report")
        asked = host.receive()
        fractions = []
        while asked["type"] == "progress":
            fractions.append(asked["fraction"])
            asked = host.receive()
        self.assertEqual(fractions, [0.25, 0.5])
        host.answer_tool(asked, "told")
        self.assertEqual(host.receive(), {"type": "result", "id": call_id, "value": "told"})
        call_id = host.send_call("count", stream={"chunks": 100, "bytes": 1 << 20})
        chunks = [host.receive() for _ in range(5)]
        self.assertEqual(chunks, [{"type": "chunk", "id": call_id, "value": n} for n in range(5)])
        self.assertEqual(host.receive(), {"type": "result", "id": call_id, "value": None})
        self.check_orderly_end(host)


if __name__ == "__main__":
    unittest.main()
