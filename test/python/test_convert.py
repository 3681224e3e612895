"""Results as JSON."""

import collections
import dataclasses
import datetime
import decimal
import enum
import json
import pathlib
import socket
import sys
import unittest
import uuid

from skep._wire.conversion import ResultEncoder, with_attachments
from skep._wire.errors import UnserializableResult

Point = collections.namedtuple("Point", "x y")


@dataclasses.dataclass
class Box:
    corner: Point
    label: str = "box"

    def to_dict(self):
        raise AssertionError("fields come before to_dict()")


class OddGet(dict):
    def get(self):
        raise AssertionError("not of interest")


class Color(enum.Enum):
    RED = "red"


class Level(enum.IntEnum):
    HIGH = 3


class Shade(enum.Enum):
    DARK = 1

    def to_dict(self):
        return {"name": self.name}


def offering(method, value):
    """An object whose type has that method."""
    return type("Offering", (), {method: lambda self: value})()


class Conversion(unittest.TestCase):
    def sent(self, value):
        body, self.attachments = ResultEncoder().encode(value, "f")
        return json.loads(body)

    def test_json_types_stay_as_they_are(self):
        for value in (None, True, 0, -(10**30), 1.5, "grüße \0 🐝", [], {}, [1, [2, {"a": [None]}]]):
            self.assertEqual(self.sent(value), value)
        self.assertEqual(self.sent((1, (2,))), [1, [2]])
        keys = {7: "a", 2.5: "b", True: "c", None: "d"}
        self.assertEqual(self.sent(keys), {"7": "a", "2.5": "b", "true": "c", "null": "d"})

    def test_types_that_offer_a_way(self):
        moment = datetime.datetime(2024, 2, 29, 12, 30)
        identity = uuid.UUID(int=7)
        for value, expected in (
            (Box(Point(1, 2)), {"corner": {"x": 1, "y": 2}, "label": "box"}),
            (Shade.DARK, {"name": "DARK"}),
            ({"x": [Shade.DARK]}, {"x": [{"name": "DARK"}]}),
            (Point(1, [Point(2, 3)]), {"x": 1, "y": [{"x": 2, "y": 3}]}),
            (offering("_asdict", {"a": 1}), {"a": 1}),
            (offering("model_dump", {"a": {1}}), {"a": [1]}),
            (offering("to_dict", {"p": Point(1, 2)}), {"p": {"x": 1, "y": 2}}),
            (offering("tolist", [1.5]), [1.5]),
            (moment, "2024-02-29T12:30:00"),
            (moment.date(), "2024-02-29"),
            (moment.time(), "12:30:00"),
            (frozenset([1]), [1]),
            (Color.RED, "red"),
            (Level.HIGH, 3),
            (pathlib.PurePosixPath("/a/b"), "/a/b"),
            (identity, str(identity)),
            (decimal.Decimal("1.10"), "1.10"),
        ):
            with self.subTest(value=value):
                self.assertEqual(self.sent(value), expected)
                self.assertEqual(self.sent({"deep": [value]}), {"deep": [expected]})

    def test_named_tuples_are_found_anywhere_and_nothing_is_changed(self):
        value = {"a": [1, (2, {"b": Point(1, 2)})], "c": collections.OrderedDict(d=[Point(3, 4)])}
        before = repr(value)
        self.assertEqual(self.sent(value), {"a": [1, [2, {"b": {"x": 1, "y": 2}}]], "c": {"d": [{"x": 3, "y": 4}]}})
        self.assertEqual(repr(value), before)

    def test_binary_data_becomes_attachments(self):
        grid = memoryview(bytearray(range(12))).cast("B", (3, 4))
        value = {"a": b"one", "b": [bytearray(b"two"), memoryview(b"three")[::2], b"", grid]}
        self.assertEqual(
            self.sent(value),
            {"a": {"$attachment": 0}, "b": [{"$attachment": index} for index in (1, 2, 3, 4)]},
        )
        self.assertEqual(list(map(bytes, self.attachments)), [b"one", b"two", b"tre", b"", bytes(range(12))])

    def test_attachments_of_one_result_do_not_reach_the_next(self):
        encoder = ResultEncoder()
        encoder.encode(b"one", "f")
        self.assertEqual(encoder.encode(1, "f"), (b"1", []))

    def test_data_like_a_reference_is_data_unless_an_attachment_has_its_number(self):
        for value in ({"$attachment": 0}, [{"$attachment": 1}, b"zero"], {"text": '{"$attachment":0}', "raw": b""},
                      [{"$attachment": -1}, {"$attachment": True}, {"$attachment": 0, "x": 1}, b"zero"]):
            with self.subTest(value=value):
                ResultEncoder().encode(value, "f")


    def test_many_attachments_among_many_dicts_take_linear_time(self):
        count = 50_000  # quadratic time would be minutes
        sent = self.sent([{"id": index, "data": b""} for index in range(count)])
        self.assertEqual(with_attachments(sent, range(count)), [{"id": index, "data": index} for index in range(count)])


class Refusal(unittest.TestCase):
    def refusal(self, value):
        with self.assertRaises(UnserializableResult) as caught:
            ResultEncoder().encode(value, "predict")
        return str(caught.exception)

    def test_data_that_would_refer_to_an_attachment(self):
        for value, found in (
            ([b"zero", {"deep": {"$attachment": 0}}], "{'$attachment': 0} at result[1].deep would refer to"),
            ([{"$attachment": 1}, b"zero", b"one"], "{'$attachment': 1} at result[0] would refer to"),
            ([{1: b"zero"}, {"$attachment": 0}], "{'$attachment': 0} at result[1] would refer to"),
            ([b"zero", OddGet({"$attachment": 0})], "{'$attachment': 0} at result[1] would refer to"),
        ):
            with self.subTest(value=value):
                self.assertIn(f"result of 'predict' cannot be sent: {found}", self.refusal(value))

    def test_the_type_and_the_place_are_named(self):
        with socket.socket() as connection:
            self.assertEqual(
                self.refusal({"items": [1, 2, 3, {"conn": connection}]}),
                "result of 'predict' cannot be sent: value of type 'socket.socket' at result.items[3].conn; "
                "return JSON types or give the type a to_dict()",
            )
        for value, said in (
            (1j, "value of type 'complex' at result;"),
            ([object], "value of type 'type' at result[0];"),
            ((n for n in []), "value of type 'generator' at result;"),
            ({"a b": {7: {1j}}}, "value of type 'complex' at result['a b'][7][0];"),
            (Box(Point(1, 1j)), "value of type 'complex' at result.corner.y;"),
            ([offering("to_dict", {"x": [1j]})], "value of type 'complex' at result[0].x[0];"),
            ({"s": [0.5, float("nan")]}, "nan at result.s[1]; JSON has no NaN"),
            (float("-inf"), "-inf at result; JSON has no NaN"),
            ({"a": {(1, 2): 3}}, "key of type 'tuple' in result.a; JSON keys are strings"),
            ({"a": {float("nan"): 3}}, "key: nan at result.a; JSON has no NaN"),
            (["ok", "\ud800"], "string at result[1] is not Unicode text"),
            ({"\udfff": 1}, "key: string at result is not Unicode text"),
        ):
            with self.subTest(said=said):
                self.assertIn("result of 'predict' cannot be sent: " + said, self.refusal(value))

    @unittest.skipUnless(hasattr(sys, "get_int_max_str_digits"), "this Python prints integers of any length")
    def test_an_integer_too_long_to_print(self):
        self.assertIn("number at result[1]: Exceeds the limit", self.refusal([1, 10**5000]))

    def test_structures_that_contain_themselves(self):
        ring = {"name": "ring"}
        ring["next"] = [ring]
        self.assertIn("result.next[0] contains itself", self.refusal(ring))
        both = []
        both += [both, both]
        self.assertIn("result[0] contains itself", self.refusal(both))
        mirror = offering("to_dict", None)
        type(mirror).to_dict = lambda self: self
        self.assertIn("result contains itself", self.refusal(mirror))
        endless = type("Endless", (), {"to_dict": lambda self: [type(self)()]})
        self.assertIn("nested too deeply", self.refusal(endless()))

    def test_the_same_value_twice_is_no_circle(self):
        shared = [1]
        self.assertEqual(ResultEncoder().encode([shared, shared], "f")[0], b"[[1],[1]]")
        self.assertIn("value of type 'complex' at result[2]", self.refusal([shared, shared, 1j]))

    def test_depth(self):
        deep = []
        for _ in range(100_000):
            deep = [deep]
        self.assertIn("nested too deeply", self.refusal(deep))
        while deep:  # freeing it in one go would recurse
            deep = deep.pop()

    def test_an_error_in_a_conversion_is_the_users_own(self):
        for kind in (TypeError, KeyError):
            failing = offering("to_dict", None)
            type(failing).to_dict = lambda self: (_ for _ in ()).throw(kind("mine"))
            with self.assertRaisesRegex(kind, "mine"):
                ResultEncoder().encode([failing], "f")


if __name__ == "__main__":
    unittest.main()
