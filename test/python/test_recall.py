"""Recalled calls: each is given back or begun, exactly one of both."""

import random
import unittest

from host import HostCase
from skep._calls.recalls import Recalls

SCRIPT = """
import time
started = []
@worker.command
def sleep(seconds, name=None):
    started.append(name)
    time.sleep(seconds)
    return name
@worker.command
def names(): return started
"""
ASYNC = """
import asyncio
started = []
@worker.command
async def sleep(seconds, name=None):
    started.append(name)
    await asyncio.sleep(seconds)
    return name
@worker.command
async def names(): return started
"""


def recall(host, call_id):
    host.tell({"type": "recall", "id": call_id})


def given_back(host):
    """The id of the next call that the worker gives back."""
    message = host.receive(host.control)
    assert message["type"] == "recalled", message
    return message["id"]


class OneCallAtATime(HostCase):
    env = ()

    def start(self, source=SCRIPT, **options):
        return super().start(source, env=dict(self.env), **options)

    def test_the_hello_offers_it(self):
        host = self.start(ready=False)
        self.assertIs(host.receive()["recall"], True)

    def test_a_call_that_has_not_begun_is_given_back(self):
        host = self.start()
        running = host.send_call("sleep", {"seconds": 0.2, "name": "running"})
        host.until_busy()
        recalled = host.send_call("sleep", {"seconds": 0, "name": "recalled"})
        last = host.send_call("names")
        recall(host, recalled)
        self.assertEqual(given_back(host), recalled)
        self.assertEqual(host.receive()["id"], running)
        self.assertEqual(host.receive(), {"type": "result", "id": last, "value": ["running"]})
        self.assertEqual(host.ping()["completed"], 2)

    def test_of_one_that_runs_or_is_over_nothing_is_said(self):
        host = self.start()
        self.assertEqual(host.call("sleep", {"seconds": 0, "name": 1}), 1)
        recall(host, 1)
        running = host.send_call("sleep", {"seconds": 0.1, "name": 2})
        host.until_busy()  # no other message is before the pong
        recall(host, running)
        self.assertEqual(host.ping()["type"], "pong")
        self.assertEqual(host.receive()["value"], 2)
        self.assertEqual(host.call("sleep", {"seconds": 0, "name": 3}), 3)

    def test_a_recall_may_arrive_before_its_call(self):
        host = self.start()
        recall(host, 1)
        self.assertEqual(given_back(host), 1)
        host.send_call("sleep", {"seconds": 0, "name": "recalled"})
        self.assertEqual(host.call("names"), [])

    def test_one_recalled_and_cancelled_is_dropped(self):
        host = self.start()
        for before in (True, False):
            running = host.send_call("sleep", {"seconds": 0.1, "name": "running"})
            host.until_busy()
            both = host.last_id + 1
            if before:
                host.cancel(both)
            recall(host, both)
            self.assertEqual(given_back(host), both)
            host.cancel(both)
            host.send_call("sleep", {"seconds": 0, "name": "both"})
            self.assertEqual(host.receive()["id"], running)
            self.assertNotIn("both", host.call("names"))

    def test_a_recall_without_an_id_breaks_the_protocol(self):
        host = self.start()
        host.tell({"type": "recall"})
        self.assertEqual(host.finish()[0], 76)

    def test_calls_of_all_kinds_may_be_recalled(self):
        host = self.start()
        running = host.send_call("sleep", {"seconds": 0.1})
        host.until_busy()
        recalled = [
            host.send_call("sleep", {"seconds": 0}, [b"data"]),
            host.send_call("names", stream={"chunks": 1, "bytes": 1000}),
            host.send_call("no such command"),
            host.send_call("names", deadline_ms=0),
        ]
        for each in reversed(recalled):
            recall(host, each)
            self.assertEqual(given_back(host), each)
        self.assertEqual(host.receive()["id"], running)
        self.assertEqual(host.call("names"), [None])

    def test_each_of_many_is_given_back_or_answered(self):
        host = self.start()
        dice = random.Random(1)
        open_ids, answered, returned = set(), set(), set()
        for _ in range(100):
            sent = [host.send_call("sleep", {"seconds": dice.choice((0, 0, 0.001))}) for _ in range(5)]
            recalled = sorted(dice.sample(sent, 3), reverse=True)
            for each in recalled:
                recall(host, each)
            last = host.send_call("names")
            ids = set(sent)
            while last not in answered:
                answered.add(host.receive()["id"])
            host.tell({"type": "ping", "seq": 1})
            message = host.receive(host.control)
            while message["type"] != "pong":
                returned.add(message["id"])
                message = host.receive(host.control)
            while not ids <= answered | returned:  # of several threads, others may end later
                answered.add(host.receive()["id"])
            open_ids |= ids
        self.assertFalse(answered & returned)
        self.assertTrue(returned)


class InThreads(OneCallAtATime):
    def start(self, source=SCRIPT, ready=True, **options):
        script = f"import skep\nworker = skep.Worker(thread_safe=True)\n{source}\nworker.run()\n"
        host = self.start_script(script, False, env={"SKEP_THREADS": "2"}, **options)
        if ready:
            host.receive()
            host.welcome(capacity=1)
            self.assertEqual(host.receive(), {"type": "ready"})
        return host


class OnAnEventLoop(OneCallAtATime):
    def start(self, source=ASYNC, ready=True, **options):
        script = f"import skep\nworker = skep.Worker(concurrency=1)\n{source}\nworker.run()\n"
        return self.start_script(script, ready, **options)


class WithoutTheLoopInC(OneCallAtATime):
    env = {"SKEP_PURE_PYTHON": "1"}


class OverStdio(HostCase):
    def test_the_hello_does_not_offer_it(self):
        host = self.start(SCRIPT, ready=False, stdio=True)
        self.assertIs(host.receive()["recall"], False)


class Steps(Recalls):
    """Recalls whose begin() and recall() pause after each step that the other thread can come between."""

    def beginning(self, call_id):
        self._last_begun = call_id
        yield
        is_recalled = call_id in self._ids
        yield
        return not is_recalled or not self._remove(call_id)

    def recalling(self, call_id):
        self._ids.add(call_id)
        yield
        has_begun = call_id <= self._last_begun
        yield
        return not has_begun or not self._remove(call_id)


class Race(unittest.TestCase):
    def test_whatever_comes_between_one_of_both_gets_the_call(self):
        for seed in range(20_000):
            dice, recalls, ran, returned = random.Random(seed), Steps(), [], []

            def main():
                for call_id in (1, 2, 3):
                    if (yield from recalls.beginning(call_id)):
                        ran.append(call_id)
                    yield

            def control():
                for call_id in (3, 2):
                    for _ in range(dice.randrange(4)):
                        yield
                    if (yield from recalls.recalling(call_id)):
                        returned.append(call_id)
                    yield

            threads = [main(), control()]
            while threads:
                each = dice.choice(threads)
                if next(each, "over") == "over":
                    threads.remove(each)
            self.assertEqual(sorted(ran + returned), [1, 2, 3], f"seed {seed}")
            self.assertFalse(recalls._ids)

    def test_the_steps_are_those_of_the_product(self):
        for ids in ((1, 2), (2, 1)):
            real, steps = Recalls(), Steps()

            def run(routine):
                try:
                    while True:
                        next(routine)
                except StopIteration as end:
                    return end.value

            for begun, recalled in ((1, ids[0]), (2, ids[1]), (3, 3)):
                self.assertEqual(real.recall(recalled), run(steps.recalling(recalled)))
                self.assertEqual(real.begin(begun), run(steps.beginning(begun)))
                self.assertEqual(real.recall(begun), run(steps.recalling(begun)))


if __name__ == "__main__":
    unittest.main()
