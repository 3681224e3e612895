"""JSON text, with and without orjson."""

import importlib.util
import json
import math
import random
import sys
import types
import unittest
from unittest import mock

from skep._wire import json_text


def refuse(value):
    raise TypeError(f"cannot convert {value!r}")


def with_orjson():
    """A copy of the module that finds an orjson: a stand-in of the same interface and habits."""

    def dumps(value, default=None, option=0):
        assert option == 7
        if isinstance(value, set) or type(value) is int and abs(value) >= 2**64:
            raise TypeError("not a type of orjson's")
        if isinstance(value, float) and not math.isfinite(value):
            return b"null"
        return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()

    orjson = types.ModuleType("orjson")
    orjson.dumps = mock.Mock(side_effect=dumps)
    orjson.loads = mock.Mock(side_effect=lambda data: json.loads(bytes(data)))
    orjson.OPT_PASSTHROUGH_DATACLASS, orjson.OPT_PASSTHROUGH_DATETIME, orjson.OPT_PASSTHROUGH_SUBCLASS = 1, 2, 4
    spec = importlib.util.spec_from_file_location("skep._wire.json_text_with_orjson", json_text.__file__)
    module = importlib.util.module_from_spec(spec)
    module.__package__ = "skep._wire"
    with mock.patch.dict(sys.modules, orjson=orjson):
        spec.loader.exec_module(module)
    return module, orjson


def without_orjson():
    with mock.patch.dict(sys.modules, orjson=None):
        spec = importlib.util.spec_from_file_location("skep._wire.json_text_without", json_text.__file__)
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
    return module


class Decoding(unittest.TestCase):
    def setUp(self):
        self.decode = without_orjson().decode

    def test_what_is_json(self):
        for text in ("{}", ' {"a": [1, 2.5, null]}\n', "[]", '"x"', '{"a":"\\u00e9\\ud83d\\udc1d"}'):
            self.assertEqual(self.decode(text.encode()), json.loads(text))
            self.assertEqual(self.decode(memoryview(text.encode())), json.loads(text))

    def test_nan_is_named(self):
        with self.assertRaisesRegex(ValueError, "NaN is not JSON"):
            self.decode(b'{"a":NaN}')

    def test_what_is_not(self):
        for data in (b"", b"  ", b"{oops", b"{}{}", b'{"a":NaN}', b"[-Infinity]", b"Infinity", b'"\xff"'):
            with self.subTest(data), self.assertRaises(ValueError):
                self.decode(data)


class Encoding(unittest.TestCase):
    def setUp(self):
        self.encode = without_orjson().Encoder(refuse).encode

    def test_long_texts_are_what_the_encoder_makes_of_them(self):
        generator = random.Random(5)
        pieces = ["plain ", "\\", '"', "\n", "\r", "\t", "é", "🐝", "x" * 50, "\\n"]
        for extra in ([], ["\0"], ["\x1f", "\b"]):
            for _ in range(300):
                text = "".join(generator.choices(pieces + extra, k=generator.randrange(200)))
                for value in (text, {"text": text, 'k"\n': [text]}, {"a": {"b": text * 3}}):
                    self.assertEqual(json.loads(self.encode(value)), value)

    def test_every_character_in_a_long_text(self):
        for code in range(0x100):
            text = "x" * 400 + chr(code) + "y"
            self.assertEqual(json.loads(self.encode(text)), text)
            self.assertEqual(json.loads(self.encode({"k": text})), {"k": text})

    def test_what_cannot_be_sent(self):
        for value in ("\ud800", "x" * 400 + "\ud800", {"a": "x" * 400, "b": math.nan}, [math.inf]):
            with self.assertRaises(ValueError):
                self.encode(value)
        for value in ({"a": "x" * 400, "b": {1}}, {1}):
            with self.assertRaises(TypeError):
                self.encode(value)

    def test_keys_beside_a_long_text(self):
        self.assertEqual(json.loads(self.encode({1: "x" * 400})), {"1": "x" * 400})


class WithOrjson(unittest.TestCase):
    def setUp(self):
        module, self.orjson = with_orjson()
        self.decode = module.decode
        encoder = module.Encoder(list)
        self.encode, self.encode_any = encoder.encode, encoder.encode_any

    def test_it_is_used(self):
        self.assertEqual(self.decode(b'{"a":1}'), {"a": 1})
        self.orjson.loads.assert_called_once()
        self.assertEqual(self.encode({"a": [1, 2]}), b'{"a":[1,2]}')
        self.orjson.dumps.assert_called_once()

    def test_its_null_is_looked_at(self):
        self.assertEqual(self.encode({"a": None}), b'{"a":null}')
        self.assertEqual(self.encode("null"), b'"null"')
        with self.assertRaises(ValueError):
            self.encode(math.nan)

    def test_what_it_does_not_know(self):
        self.assertEqual(self.encode({7}), b"[7]")
        self.assertEqual(self.encode_any({7}), b"[7]")
        self.orjson.dumps.reset_mock()
        self.encode_any([1])
        self.orjson.dumps.assert_not_called()
        self.assertEqual(self.encode(2**70), b"%d" % 2**70)


if __name__ == "__main__":
    unittest.main()
