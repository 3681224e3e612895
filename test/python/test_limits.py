"""No result costs a worker its life: what breaks a rule of the host is an error of that one call."""

import json
import math
import random
import sys
import unittest
from unittest import mock

from host import HostCase
from skep._wire.conversion import ResultEncoder
from skep._wire.errors import UnserializableResult
from skep._wire.json_rules import Rules, has_big_integer, is_deeper, memory
from skep._wire.protocol import Limits
from test_json_text import with_orjson

FRAME = 64 * 1024 * 1024
NOT_64_BITS = "is not within -2**63 ... 2**64-1; return a string instead"
SAID = "result of 'f' cannot be sent: "


def memory_of(value):
    """What the protocol says about the host's memory."""
    if isinstance(value, str):
        return 24 + len(value.encode())
    if isinstance(value, list):
        return 56 + sum(map(memory_of, value))
    if isinstance(value, dict):
        return 56 + sum(40 + len(key.encode()) + memory_of(item) for key, item in value.items())
    return 24


def depth_of(value):
    if isinstance(value, dict):
        value = list(value.values())
    return 1 + max(map(depth_of, value), default=0) if isinstance(value, list) else 0


def to_text(value):
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()


def offering(value):
    return type("Offering", (), {"to_dict": lambda self: value})()


class LimitsCase(unittest.TestCase):
    def encode(self, value, **limits):
        encoder = ResultEncoder(Rules(Limits(**{"frame_bytes": FRAME, **limits})))
        return encoder.encode(value, "f")

    def assert_sent(self, value, **limits):
        self.encode(value, **limits)

    def assert_refused(self, value, reason, **limits):
        with self.assertRaises(UnserializableResult) as caught:
            self.encode(value, **limits)
        self.assertEqual(str(caught.exception), SAID + reason)


class Integers(LimitsCase):
    def test_the_range(self):
        for value in (2**64 - 1, -(2**63), 10**19, 1e300, 2.0**64, -(2.0**70), 0.00012345678901234567, "9" * 30):
            for result in (value, [value, 1], {"a": {"b": value, "c": 1}}, {"9" * 30: 7}, offering([value, 1])):
                self.assert_sent(result)
        for value in (2**64, -(2**63) - 1, 2**64 + 1, 10**30, -(10**19), math.factorial(200)):
            for result, where in (
                (value, ""),
                ([1, {"items": [0.5, value]}], "[1].items[1]"),
                ({"text": 'a"\\' * 3000, "a b": value}, "['a b']"),
                (offering((1, value)), "[1]"),
                ({7: value}, "['7']"),
                ([0] * 5000 + [value], "[5000]"),
            ):
                with self.subTest(value=value, where=where):
                    self.assert_refused(result, f"integer at result{where} {NOT_64_BITS}")

    def test_at_any_place_in_a_text(self):
        for offset in range(40):
            for integer in (2**64, -(2**63) - 1):
                text = to_text(["x" * offset, integer, "y" * 5000])
                self.assertTrue(has_big_integer(text), text)
                self.assertFalse(has_big_integer(to_text(["x" * offset, f",{integer}", "y" * 5000])))


class Depth(LimitsCase):
    def test_the_message_is_a_level_too(self):
        for value in (1, [], {}, [[]], {"a": [1, {"b": {}}]}, [0, [1], [[2]]]):
            depth = depth_of(value)
            for result in (value, offering(value)):
                self.assert_sent(result, json_depth=depth + 1)
                if depth:
                    with self.assertRaisesRegex(UnserializableResult, "nested too deeply"):
                        self.encode(result, json_depth=depth)

    def test_the_place_is_named(self):
        reason = "result.a[1] is nested too deeply; the limit is 2 levels"
        self.assert_refused({"a": [1, [], []]}, reason, json_depth=3)
        self.assert_refused(offering({"a": [1, [], []]}), reason, json_depth=3)
        self.assert_refused([], "result is nested too deeply; the limit is 0 levels", json_depth=1)

    def test_brackets_in_strings_are_none(self):
        for text in ("[[[[[[", "]]]]", '"[["', '\\"[[', "\\", '\\\\"', "{}[]" * 9):
            self.assert_sent(offering([text, {text: [text]}, text]), json_depth=4)
            with self.assertRaisesRegex(UnserializableResult, r"result\[1\].* is nested too deeply"):
                self.encode(offering([text, {text: [text]}, text]), json_depth=3)

    def test_many_values_side_by_side(self):
        self.assert_sent([[n, {"a": {1}}] for n in range(1000)], json_depth=5)
        reason = "result[1][0] is nested too deeply; the limit is 2 levels"
        self.assert_refused([1, [[n] for n in range(1000)]], reason, json_depth=3)

    def test_far_down(self):
        deep = []
        for _ in range(700):
            deep = [deep]
        self.assert_sent(deep)
        self.assert_sent(deep, json_depth=702)
        said = r"result(\[0\])+\.\.\.(\[0\])+ is nested too deeply; the limit is 700 levels"
        with self.assertRaisesRegex(UnserializableResult, said):
            self.encode(deep, json_depth=701)

    def test_what_occurs_often_is_looked_at_once(self):
        shared = "x"
        for _ in range(12):
            shared = [shared, shared]
        self.assert_sent(shared, json_depth=13)


class Memory(LimitsCase):
    def test_the_formula(self):
        texts = ["grüße \0 🐝", 'quotes " \\ \\" \\\\ \n \x01 [{:,', ['"', "\\", "\\u0001", "\x1f\n"], "[],{}"]
        nested = [[], {}, [[]], [[], {}, [[[]]]], {"": 0}, {"a": [1, "b", {"c": None}], "d": {}}]
        for value in [None, True, 1.5, "", [0] * 1000, *texts, *nested]:
            with self.subTest(str(value)[:40]):
                size = memory_of(value) + 1024
                self.assertEqual(memory(to_text(value), 0), size - 1024)
                self.assert_sent(value, tree_bytes=size)
                self.assert_sent(offering(value), tree_bytes=size)
                reason = f"result takes {size} bytes of the host's memory; the limit is {size - 1} bytes"
                self.assert_refused(value, reason, tree_bytes=size - 1)
                self.assert_refused(offering(value), reason, tree_bytes=size - 1)

    def test_attachments_count(self):
        size = memory_of({"$attachment": 0}) + 24 + 1024
        reason = "result takes {} bytes of the host's memory; the limit is {} bytes"
        for places, size in ((0, size), (1, size + 240)):
            with self.subTest(places=places):
                self.assert_sent(b"x" * 5000, tree_bytes=size, places=places)
                self.assert_refused(b"x" * 5000, reason.format(size, size - 1), tree_bytes=size - 1, places=places)

    def test_what_is_short_but_not_light(self):
        reason = "result takes 2401080 bytes of the host's memory; the limit is 2400000 bytes"
        self.assert_refused([0] * 100_000, reason, tree_bytes=2_400_000)
        self.assert_sent("[,{:" * 100_000, tree_bytes=500_000)


class Keys(LimitsCase):
    def test_keys_that_become_the_same_text(self):
        class Odd(str):
            __hash__ = object.__hash__

            def __eq__(self, other):
                return self is other

        class Several(dict):
            def items(self):
                return [("k", 1), ("k", 2)]

        for value, key in (
            ({1: "a", "1": "b"}, "1"),
            ({True: 0, "true": 0}, "true"),
            ({None: 0, "null": 0}, "null"),
            ({0.5: 0, "0.5": 0}, "0.5"),
            ({"a": 1, Odd("a"): 2}, "a"),
            (Several(k=0), "k"),
        ):
            places = (value, ""), ({"x y": [0, value]}, "['x y'][1]"), ([offering({"p": value})], "[0].p")
            for result, where in places:
                with self.subTest(key=key, where=where):
                    reason = f"two keys in result{where} become {key!r}; JSON keys are strings"
                    self.assert_refused(result, reason)

    def test_keys_that_do_not(self):
        self.assert_sent({1: {"1": 0}, "2": {1: 0}, None: [{"1": 0}, {1: 0}]})


class AtRandom(LimitsCase):
    def test_facts_are_what_decoding_would_tell(self):
        generator = random.Random(7)
        texts = ["", "[", "}{", '"', "\\", '\\"', "\n", "\x01", "ü🐝", ",:", "1234567890" * 3, "-" * 25]
        leaves = [None, True, -1, 2**63, -(2**63), 0.1 + 0.2, 1e-4 / 3, *texts]

        def make(levels):
            if levels == 0 or generator.random() < 0.2:
                return generator.choice(leaves)
            items = [make(levels - 1) for _ in range(generator.randrange(4))]
            keys = (f"{generator.choice(texts)}{n}" for n in range(4))
            return items if generator.random() < 0.5 else dict(zip(keys, items))

        for _ in range(500):
            value = make(generator.randrange(6))
            text, depth, size = to_text(value), depth_of(value), memory_of(value)
            self.assertEqual(memory(text, 0), size)
            self.assertGreaterEqual(memory(text, sys.maxsize), size)
            self.assertLessEqual(size, 28 * len(text))
            self.assertFalse(is_deeper(text, depth))
            self.assertTrue(depth == 0 or is_deeper(text, depth - 1))
            self.assertFalse(has_big_integer(text))
            self.assert_sent(value, json_depth=depth + 1, tree_bytes=size + 1024)


class WithOrjson(Integers, Depth, Memory, Keys, AtRandom):
    """The same once more."""

    def setUp(self):
        module, _ = with_orjson()
        patch = mock.patch("skep._wire.conversion.Encoder", module.Encoder)
        patch.start()
        self.addCleanup(patch.stop)


class FromTheHost(HostCase):
    SOURCE = (
        "import math\n"
        "class Offering:\n"
        "    def __init__(self, value): self.value = value\n"
        "    def to_dict(self): return self.value\n"
        "@worker.command\n"
        "def f(text): return eval(text)\n"
        "@worker.health_check\n"
        "def check(): return checks.pop(0)\n"
        "checks = [[2**64], [[[[1]]]], {1: 2, '1': 3}, 'x' * 3000, [b'', b'', b''], [0] * 900, 'well']\n"
    )
    LIMITS = {"json_bytes": 2000, "json_depth": 4, "tree_bytes": 20_000, "attachments": 2}

    def start_limited(self, **limits):
        host = self.start(self.SOURCE, ready=False)
        host.handshake(**limits)
        return host

    def assert_refused(self, host, text, reason):
        error = host.call_error("f", {"text": text})
        self.assertEqual((error["type"], error["message"]), ("skep.UnserializableResult", SAID + reason))

    def test_each_rule_and_the_worker_serves_on(self):
        host = self.start_limited(**self.LIMITS)
        for text, reason in (
            ("2**64 + 1", f"integer at result {NOT_64_BITS}"),
            ("{'items': [0, {'n': math.factorial(200)}]}", f"integer at result.items[1].n {NOT_64_BITS}"),
            ("{'a': [[[]]]}", "result.a[0][0] is nested too deeply; the limit is 3 levels"),
            ("Offering({'a': [[[]]]})", "result.a[0][0] is nested too deeply; the limit is 3 levels"),
            ("[0] * 900", "result takes 22680 bytes of the host's memory; the limit is 20000 bytes"),
            ("[b'1', b'2', b'3']", "result holds 3 attachments; the limit is 2"),
            ("[{1: 'a', '1': 'b'}]", "two keys in result[0] become '1'; JSON keys are strings"),
        ):
            with self.subTest(text=text):
                self.assert_refused(host, text, reason)
        self.assertEqual(host.call("f", {"text": "[[[2**64 - 1]]]"}), [[[2**64 - 1]]])
        self.assertEqual(host.call("f", {"text": "[b'1', b'2']"}), [{"$attachment": 0}, {"$attachment": 1}])

    def test_the_json_of_the_whole_message_counts(self):
        host = self.start_limited(json_bytes=2000)
        around = len('{"type":"result","id":1,"value":""}')
        self.assertEqual(len(host.call("f", {"text": f"'x' * (2000 - {around})"})), 2000 - around)
        too_long = "result takes 2001 bytes of JSON; the limit is 2000 bytes"
        self.assert_refused(host, f"'x' * (2001 - {around})", too_long)
        around = len('{"type":"result","id":3,"attachments":[5000],"value":["",{"$attachment":0}]}')
        host.call("f", {"text": f"['x' * (2000 - {around}), b'x' * 5000]"})
        self.assertEqual(len(host.received_attachments[0]), 5000)
        self.assert_refused(host, f"['x' * (2001 - {around}), b'x' * 5000]", too_long)

    def test_a_host_that_names_one_limit(self):
        host = self.start_limited(frame_bytes=2000)
        self.assertEqual(host.call("f", {"text": "[[[[b'']]]]"}), [[[[{"$attachment": 0}]]]])
        self.assert_refused(host, "[-2**63 - 1]", f"integer at result[0] {NOT_64_BITS}")
        self.assertEqual(host.call_error("f", {"text": "[2**64] * 1000"})["type"], "skep.ResultTooLarge")

    def test_what_the_health_check_has_to_say_is_not_worth_a_failure(self):
        host = self.start_limited(**self.LIMITS)
        for _ in range(6):
            self.assertIsNone(host.call("skep.health_check"))
            self.assertEqual(host.received_attachments, [])
        self.assertEqual(host.call("skep.health_check"), "well")

    def test_limits_that_are_none(self):
        for limits in ({"json_depth": "5"}, {"attachments": 1.5}, {"tree_bytes": None}):
            host = self.start(self.SOURCE, ready=False)
            host.receive()
            host.welcome(limits={"frame_bytes": FRAME, **limits})
            status, _, stderr = host.finish()
            self.assertEqual(status, 76)
            self.assertIn("the welcome is malformed", stderr)


class Errors(HostCase):
    SOURCE = "@worker.command\ndef fail(kind, text): raise type(eval(kind), (Exception,), {})(eval(text))\n"

    def test_bounds_in_bytes(self):
        host = self.start(self.SOURCE)
        error = host.call_error("fail", {"kind": "'\\u20ac' * 100", "text": "'\\u20ac' * 200_000"})
        self.assertEqual(error["type"], "€" * 85)
        self.assertEqual(error["message"], "€" * (65536 // 3))
        self.assertLessEqual(len(error["traceback"].encode()), 262144)
        self.assertGreater(len(error["traceback"].encode()), 262144 - 4)
        self.assertTrue(error["traceback"].endswith("€\n"))

    def test_the_sdks_own_messages_are_bounded_too(self):
        host = self.start(self.SOURCE)
        self.assertEqual(len(host.call_error("x" * 100_000)["message"]), 65536)

    def test_an_error_keeps_to_the_limits(self):
        for limits in ({"json_bytes": 1024}, {"frame_bytes": 1024}):
            host = self.start(self.SOURCE, ready=False)
            host.handshake(**limits)
            cases = ("'\\1' * 300", "'\\1' * 9000"), ("'K'", "'\\U0001f41d' * 9000"), ("'K' * 300", "''")
            for kind, text in cases:
                error = host.call_error("fail", {"kind": kind, "text": text})
                self.assertLessEqual(len(to_text({"type": "error", "id": host.last_id, "error": error})), 1020)
                self.assertTrue(error["type"].startswith(eval(kind)[:60]))


if __name__ == "__main__":
    unittest.main()
