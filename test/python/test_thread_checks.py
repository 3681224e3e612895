"""thread_safety_checks: what a worker says of its threads, without a change of the script."""

import signal
import unittest

from host import HostCase

SCRIPT = """
import skep, sys, threading, types, collections
worker = skep.Worker(thread_safe=True)
barrier = threading.Barrier(2)
released = threading.Event()

class Model:
    def add(self): return self.meet()
    def drop(self): return self.meet()
    def meet(self):
        barrier.wait(60)
        barrier.wait(60)
        return isinstance(self, Model)
    def pair(self):
        is_released = released.wait(60)
        released.clear()
        return is_released
    def items(self):
        yield 1

class Locked(Model):
    def __init__(self): self.lock = threading.Lock()

class Slotted(Model):
    __slots__ = ("lock",)
    def __init__(self): self.lock = threading.RLock()

class Fault(Exception):
    def meet(self): pass

shared = Model()
locked, slotted = Locked(), Slotted()

@worker.command
def use(name, method="add"): return getattr(globals()[name], method)()

@worker.command
def let_go():
    released.set()

@worker.command
def use_own(): return Model().add()

@worker.command
def again(): return [shared.items is not None, list(shared.items())]

@worker.command
def load(name):
    sys.modules[name] = types.ModuleType(name)

{more}
worker.run()
"""


class ThreadChecks(HostCase):
    def start_checked(self, more="", threads=2, checks="report"):
        env = {"SKEP_THREADS": str(threads), "SKEP_THREAD_CHECKS": checks}
        self.host = self.start_script(SCRIPT.replace("{more}", more), env=env)
        return self.host

    def use_together(self, *calls):
        ids = [self.host.send_call(command, args) for command, args in calls]
        answers = {answer["id"]: answer for answer in [self.host.receive() for _ in ids]}
        self.assertEqual([answers[id].get("value") for id in ids], [True] * len(ids))

    def what_it_says(self):
        self.host.signal(signal.SIGTERM)
        return self.host.finish()[2]

    def test_two_threads_in_one_object_are_reported_once_with_both_stacks(self):
        self.start_checked()
        for _ in range(3):
            self.use_together(("use", {"name": "shared"}), ("use", {"name": "shared", "method": "drop"}))
        said = self.what_it_says()
        self.assertRegex(said, r"thread_safety_checks: skep-call-\d uses '(add|drop)' of a Model\n")
        self.assertRegex(said, r"\nwhile skep-call-\d is at it\n")
        self.assertIn("return self.meet()", said)
        self.assertNotIn("thread_checks.py", said)
        self.assertLessEqual(said.count("while skep-call-"), 4)  # each pair of methods once

    def test_objects_of_their_own_and_objects_with_a_lock_are_left_alone(self):
        self.start_checked()
        self.use_together(("use_own", {}), ("use_own", {}))
        for name in ("locked", "slotted"):
            self.use_together(("use", {"name": name}), ("use", {"name": name}))
        self.assertNotIn("thread_safety_checks", self.what_it_says())

    def test_a_generator_is_no_use_of_its_object(self):
        self.start_checked()
        self.assertEqual(self.host.call("again"), [True, [1]])

    def test_unsafe_libraries_are_named_once_whenever_they_come(self):
        self.start_checked("import sqlite3")
        for name in ("pandas", "pandas", "numpy"):
            self.host.call("load", {"name": name})
        said = self.what_it_says()
        self.assertEqual(said.count("sqlite3 is not safe in several threads"), 1)
        self.assertEqual(said.count("pandas is not safe in several threads"), 1)
        self.assertEqual(said.count("thread_safety_checks"), 2)

    def test_without_the_key_or_without_threads_nothing_is_watched(self):
        for threads, checks in ((2, "off"), (2, ""), (1, "report"), (1, "strict")):
            self.start_checked("import sqlite3", threads, checks)
            self.assertEqual(self.host.call("again"), [True, [1]])
            self.assertNotIn("thread_safety_checks", self.what_it_says())

    def test_a_strict_check_raises_in_the_second_call_each_time(self):
        self.start_checked(checks="strict")
        for _ in range(3):
            ids = [self.host.send_call("use", {"name": "shared", "method": "pair"}) for _ in range(2)]
            failed = self.host.receive()  # the first one is inside until the second one has come
            self.assertEqual(failed["error"]["type"], "RuntimeError")
            self.assertRegex(failed["error"]["message"], r"^skep-call-\d uses 'pair' of a Model\n")
            self.assertRegex(failed["error"]["message"], r"\nwhile skep-call-\d is at it\n")
            self.assertIn(failed["id"], ids)
            ids.remove(failed["id"])
            ids.append(self.host.send_call("let_go"))
            answers = {answer["id"]: answer["value"] for answer in [self.host.receive() for _ in ids]}
            self.assertEqual([answers[id] for id in ids], [True, None])
        said = self.what_it_says()
        self.assertEqual(said.count("thread_safety_checks: "), 1)

    def test_a_strict_check_leaves_objects_of_their_own_and_objects_with_a_lock_alone(self):
        self.start_checked("import sqlite3", checks="strict")
        self.use_together(("use_own", {}), ("use_own", {}))
        for name in ("locked", "slotted"):
            self.use_together(("use", {"name": name}), ("use", {"name": name}))
        self.assertEqual(self.host.call("again"), [True, [1]])
        said = self.what_it_says()
        self.assertEqual(said.count("thread_safety_checks"), 1)
        self.assertIn("sqlite3 is not safe in several threads", said)

    def test_a_call_that_was_interrupted_inside_leaves_no_trace(self):
        more = """
@worker.command
def spin(): return shared.spin()

def spin_in(self):
    rounds = 0
    while True: rounds += 1

Model.spin = spin_in
"""
        self.start_checked(more)
        for _ in range(20):
            call = self.host.send_call("spin")
            while self.host.ping()["in_flight"] < 1:
                pass
            self.host.cancel(call)
            self.assertEqual(self.host.receive()["error"]["type"], "skep.Cancelled")
        self.host.call("again")
        self.assertNotIn("uses", self.what_it_says())


if __name__ == "__main__":
    unittest.main()
