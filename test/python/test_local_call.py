"""Worker.call(): commands under unit tests, without a pool."""

import collections
import dataclasses
import unittest

import skep
from host import HostCase

Point = collections.namedtuple("Point", "x y")


@dataclasses.dataclass
class Label:
    name: str
    scores: tuple


class LocalCall(unittest.TestCase):
    def setUp(self):
        self.worker = skep.Worker()

        @self.worker.command
        def echo(value, other=None):
            return value

        @self.worker.command
        def fail(error):
            raise errors[error]

        errors = {"own": skep.Error("code", data=object()), "key": KeyError("k"), "cancelled": skep.Cancelled()}
        self.errors = errors

    def test_a_result_is_what_a_host_gets(self):
        @self.worker.command
        def predict(text, top=3):
            return {"labels": [Label(text, (1, 2))] * top, "at": Point(1, 2), 5: None}

        expected = {"labels": [{"name": "x", "scores": [1, 2]}], "at": {"x": 1, "y": 2}, "5": None}
        self.assertEqual(self.worker.call("predict", text="x", top=1), expected)

    def test_arguments_are_what_a_host_can_send(self):
        @self.worker.command
        def kind(command, attachments, self):
            return [type(command).__name__, type(attachments).__name__, type(self).__name__]

        kinds = self.worker.call("kind", command=(1, 2), attachments={1: 2}, self=None)
        self.assertEqual(kinds, ["list", "dict", "NoneType"])
        value = {"a": [1]}
        self.assertIsNot(self.worker.call("echo", value=value), value)
        for bad in (object(), {1}, b"raw"):
            with self.assertRaises(TypeError):
                self.worker.call("echo", value=bad)
        with self.assertRaises(ValueError):
            self.worker.call("echo", value=float("nan"))

    def test_attachments_both_ways(self):
        @self.worker.command
        def double():
            parts = skep.attachments()
            assert all(part.readonly for part in parts)
            return {"parts": [bytes(part) * 2 for part in parts], "none": {"$attachment": 7}}

        result = self.worker.call("double", [b"ab", bytearray(b"c"), memoryview(b"def")[::2]])
        self.assertEqual(result, {"parts": [b"abab", b"cc", b"dfdf"], "none": {"$attachment": 7}})
        with self.assertRaises(TypeError):
            self.worker.call("double", b"no list")

    def test_the_current_call(self):
        @self.worker.command
        def look(inner=True):
            call = skep.current()
            seen = [call.command, call.session, call.metadata, call.remaining, call.cancelled()]
            if inner:
                self.worker.call("look", inner=False)
            assert skep.current() is call
            return seen

        self.assertEqual(self.worker.call("look"), ["look", None, {}, None, False])
        for error in ("key", "own"):
            with self.assertRaises(Exception):
                self.worker.call("fail", error=error)
        with self.assertRaises(RuntimeError):
            skep.current()

    def test_exceptions_of_a_command_come_through_unchanged(self):
        for name, error in self.errors.items():
            with self.assertRaises(BaseException) as caught:
                self.worker.call("fail", error=name)
            self.assertIs(caught.exception, error)

    def test_calls_that_a_host_would_get_an_error_for(self):
        with self.assertRaisesRegex(skep.UnknownCommand, "did you mean 'echo'"):
            self.worker.call("ecko", value=1)
        with self.assertRaisesRegex(skep.InvalidArguments, "is missing argument 'value'"):
            self.worker.call("echo", other=1)

    def test_results_that_a_host_would_not_get(self):
        results = [object(), 2**64, {1: 0, "1": 0}]
        self.worker.command(name="bad")(lambda: results.pop())
        for said in ("two keys in result", "integer at result is not within", "'object' at result"):
            with self.assertRaisesRegex(skep.UnserializableResult, said):
                self.worker.call("bad")
        self.worker.command(name="big")(lambda: [bytes(2**25), bytes(2**25)])
        with self.assertRaisesRegex(skep.ResultTooLarge, "the limit is 67108864 bytes"):
            self.worker.call("big")

    def test_the_health_check(self):
        self.assertIsNone(self.worker.call("skep.health_check"))
        self.worker.health_check(lambda: False)
        with self.assertRaises(skep.Unhealthy):
            self.worker.call("skep.health_check")


class StartHooks(unittest.TestCase):
    def setUp(self):
        self.worker = skep.Worker()
        self.ran = []
        self.worker.command(name="what_ran")(lambda: self.ran)

    def test_they_run_once_before_the_first_call(self):
        self.worker.on_start(lambda: self.ran.append(1))
        self.worker.on_start(lambda: self.ran.append(2))
        self.worker.on_stop(lambda: self.ran.append("stopped"))
        self.assertEqual(self.ran, [])
        self.assertEqual(self.worker.call("what_ran"), [1, 2])
        self.assertEqual(self.worker.call("what_ran"), [1, 2])

    def test_one_that_fails_is_tried_again(self):
        outcomes = [KeyError("not yet"), None]

        @self.worker.on_start
        def load():
            error = outcomes.pop(0)
            if error:
                raise error

        with self.assertRaisesRegex(KeyError, "not yet"):
            self.worker.call("what_ran")
        self.assertEqual(self.worker.call("what_ran"), [])
        self.assertEqual(outcomes, [])

    def test_one_may_call_a_command_to_warm_it_up(self):
        self.worker.on_start(lambda: self.ran.append(self.worker.call("what_ran")))
        self.assertEqual(self.worker.call("what_ran"), [[]])


class Served(HostCase):
    def test_a_worker_that_a_pool_has_started_may_call_itself(self):
        host = self.start(
            "ran = []\n"
            "@worker.on_start\ndef first(): ran.append(worker.call('inner', number=1))\n"
            "@worker.on_start\ndef second(): ran.append(2)\n"
            "@worker.command\ndef inner(number): return [number, skep.current().args]\n"
            "@worker.command\ndef outer(): return ran, worker.call('inner', number=3), skep.current().command\n"
        )
        self.assertEqual(host.call("outer"), [[[1, {"number": 1}], 2], [3, {"number": 3}], "outer"])


if __name__ == "__main__":
    unittest.main()
