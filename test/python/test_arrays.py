"""Arrays as results, chunks and arguments: skep.array(), numpy arrays, and the form that travels."""

import array
import collections
import ctypes
import datetime
import importlib.util
import json
import unittest
from unittest import mock

import skep
from host import HostCase
from skep._wire import arrays
from skep._wire.conversion import ResultEncoder, with_arrays, with_attachments
from skep._wire.errors import UnserializableResult
from skep._wire.messages import Answers
from skep._wire.protocol import DEFAULT_LIMITS

HAS_NUMPY = importlib.util.find_spec("numpy") is not None
if HAS_NUMPY:
    import numpy

FLOATS = array.array("f", [0.0, 0.5, 1.0, 1.5, 2.0, 2.5])


class Interface:
    """Memory described by the array protocol of numpy."""

    def __init__(self, **interface):
        self.__array_interface__ = {"version": 3, **interface}


class Wrapping(unittest.TestCase):
    def wrapped(self, source):
        made = skep.array(source)
        return made.dtype, made.shape, bytes(made.data)

    def test_buffers(self):
        grid = memoryview(bytearray(range(12))).cast("B", (3, 4))
        for source, expected in (
            (FLOATS, ("<f4", (6,), FLOATS.tobytes())),
            (array.array("d", [1.5]), ("<f8", (1,), array.array("d", [1.5]).tobytes())),
            (array.array("q", [-1]), ("<i8", (1,), b"\xff" * 8)),
            (array.array("L", [1]), ("<u8", (1,), b"\1" + bytes(7))),
            (memoryview(b"\0\1").cast("?"), ("|b1", (2,), b"\0\1")),
            (b"ab", ("|u1", (2,), b"ab")),
            (array.array("b"), ("|i1", (0,), b"")),
            (grid, ("|u1", (3, 4), bytes(range(12)))),
            (grid[::2], ("|u1", (2, 4), bytes((0, 1, 2, 3, 8, 9, 10, 11)))),
            ((ctypes.c_int16 * 2)(1, 2), ("<i2", (2,), b"\1\0\2\0")),
        ):
            with self.subTest(source=source):
                self.assertEqual(self.wrapped(source), expected)
        self.assertIs(skep.array(FLOATS).data.obj, FLOATS, "nothing is copied")

    def test_the_array_protocol_without_numpy(self):
        memory = (ctypes.c_float * 6)(*FLOATS)
        pointer = (ctypes.addressof(memory), True)
        with mock.patch.object(arrays, "load_numpy", lambda: None):
            for data in (pointer, FLOATS.tobytes()):
                source = Interface(typestr="<f4", shape=(2, 3), data=data)
                self.assertEqual(self.wrapped(source), ("<f4", (2, 3), FLOATS.tobytes()))
            with self.assertRaisesRegex(TypeError, "not contiguous needs numpy"):
                skep.array(Interface(typestr="<f4", shape=(2, 3), data=pointer, strides=(4, 8)))
            with self.assertRaisesRegex(TypeError, "its dtype must be one of .*, not '>f4'"):
                skep.array(Interface(typestr=">f4", shape=(2, 3), data=pointer))

    def test_what_is_no_array(self):
        for source, reason in (
            ([1, 2], r"takes an array, not list; array.array\(\) makes one of a list"),
            (None, "takes an array, not NoneType"),
            (array.array("u", "ab"), "elements of format '.' cannot travel"),
        ):
            with self.subTest(source=source):
                with self.assertRaisesRegex(TypeError, reason) as caught:
                    skep.array(source)
                self.assertIs(type(caught.exception), TypeError, "an error of the worker, not of the SDK")

    def test_an_array_shows_itself(self):
        made = skep.array(FLOATS)
        self.assertEqual(repr(made), "skep.Array(dtype='<f4', shape=(6,))")
        self.assertIs(skep.array(made), made)
        self.assertEqual(made.data.cast("f").tolist(), FLOATS.tolist())


class Form(unittest.TestCase):
    def sent(self, value, **options):
        text, self.attachments = ResultEncoder(**options).encode(value, "f")
        return json.loads(text)

    def test_an_array_is_an_object_with_a_reference(self):
        value = {"a": skep.array(FLOATS), "b": [b"raw", skep.array(b"xy")]}
        self.assertEqual(
            self.sent(value),
            {
                "a": {"$array": {"$attachment": 0}, "dtype": "<f4", "shape": [6]},
                "b": [{"$attachment": 1}, {"$array": {"$attachment": 2}, "dtype": "|u1", "shape": [2]}],
            },
        )
        self.assertEqual(list(map(bytes, self.attachments)), [FLOATS.tobytes(), b"raw", b"xy"])

    def test_data_never_passes_for_an_array(self):
        form = {"$array": b"xy", "dtype": "|u1", "shape": [2]}
        for value, where in (
            (form, "result"),
            ([skep.array(b"xy"), {"deep": dict(reversed(list(form.items())))}], r"result\[1\].deep"),
            (collections.OrderedDict(form), "result"),
        ):
            with self.subTest(value=value):
                with self.assertRaisesRegex(UnserializableResult, f"{where} would pass for an array"):
                    self.sent(value)
        for data in (
            {**form, "more": 1},
            {"$array": b"xy"},
            {**form, "$array": 0, "raw": b""},
            {"text": json.dumps({"$array": {"$attachment": 0}}), "raw": b""},
            {'x"$array': b"", "dtype": 1, "shape": 2},
        ):
            with self.subTest(data=data):
                self.sent(data)

    def test_the_bytes_begin_at_a_multiple_of_16(self):
        for length in range(20):
            body, (data,) = Answers(DEFAULT_LIMITS).result(1, "f", ["x" * length, skep.array(b"xy")])
            self.assertEqual((8 + sum(map(len, body))) % 16, 0)
            self.assertEqual(json.loads(b"".join(body))["value"][0], "x" * length)
        body, _ = Answers(DEFAULT_LIMITS).result(1, "f", b"xy")
        self.assertFalse(b" " in b"".join(body), "bytes need no alignment")


class Reading(unittest.TestCase):
    def setUp(self):
        patch = mock.patch.object(arrays, "load_numpy", lambda: None)
        patch.start()
        self.addCleanup(patch.stop)

    def read(self, form, data):
        return with_attachments({"x": form}, [memoryview(data)])["x"]

    def test_without_numpy(self):
        form = {"$array": {"$attachment": 0}, "dtype": "<f4", "shape": [2, 3]}
        read = self.read(form, FLOATS.tobytes())
        self.assertEqual((read.dtype, read.shape), ("<f4", (2, 3)))
        self.assertEqual(read.data.cast("f").tolist(), FLOATS.tolist())

    def test_edges_of_the_shape(self):
        for shape, size in (([], 4), ([0], 0), ([3, 0, 2**59], 0), ([1] * 32, 4)):
            with self.subTest(shape=shape):
                read = self.read({"$array": {"$attachment": 0}, "dtype": "<f4", "shape": shape}, bytes(size))
                self.assertEqual(read.shape, tuple(shape))

    def test_malformed_arrays_are_named(self):
        for change, reason in (
            ({"dtype": ">f4"}, "its dtype must be one of .*, not '>f4'"),
            ({"dtype": ["<f4"]}, "its dtype must be one of"),
            ({"dtype": "|O8"}, "its dtype must be one of"),
            ({"shape": 6}, "its shape must be a list of at most 32 extents"),
            ({"shape": [1] * 33}, "its shape must be a list of at most 32 extents"),
            ({"shape": [-6]}, "each extent of its shape must be an integer, 0 or more"),
            ({"shape": [6.0]}, "each extent of its shape must be an integer, 0 or more"),
            ({"shape": [True]}, "each extent of its shape must be an integer, 0 or more"),
            ({"shape": [5]}, r"dtype <f4 and shape \[5\] take 20 bytes, but its data has 24"),
            ({"shape": [2**62, 4]}, ".* take more than 9223372036854775807 bytes, but its data has 24"),
            ({"shape": [2**40, 2**40, 0]}, ".* take more than 9223372036854775807 bytes"),
        ):
            with self.subTest(change=change):
                form = {"$array": {"$attachment": 0}, "dtype": "<f4", "shape": [6], **change}
                with self.assertRaisesRegex(arrays.ArrayError, r"^result.x is malformed: " + reason):
                    self.read(form, FLOATS.tobytes())

    def test_other_forms_are_data(self):
        for form in (
            {"$array": {"$attachment": 1}, "dtype": "<f4", "shape": [6]},
            {"$array": 0, "dtype": "<f4", "shape": [6]},
            {"$array": {"$attachment": 9}, "shape": [6]},
        ):
            self.assertEqual(self.read(form, FLOATS.tobytes()), form)

    def test_only_named_arguments_hold_arrays(self):
        form = {"$array": {"$attachment": 0}, "dtype": "|u1", "shape": [2]}
        args = {"x": [form], "data": form, "y": {"$attachment": 0}}
        read = with_arrays(args, ["x", "y", "none"], [memoryview(b"ab")])
        self.assertEqual(bytes(read["x"][0].data), b"ab")
        self.assertEqual((read["data"], read["y"]), (form, {"$attachment": 0}))
        with self.assertRaisesRegex(arrays.ArrayError, "`arrays` must be a list"):
            with_arrays(args, "x", [memoryview(b"ab")])


@unittest.skipUnless(HAS_NUMPY, "numpy is not installed")
class Numpy(unittest.TestCase):
    def there_and_back(self, value):
        text, parts = ResultEncoder().encode({"x": value}, "f")
        return with_attachments(json.loads(text), [part.toreadonly() for part in parts])["x"]

    def test_arrays_arrive_as_they_were(self):
        cube = numpy.arange(24).reshape(2, 3, 4)
        for dtype in ("?", "i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", "f2", "f4", "f8", "c8", "c16", ">i4", ">f8"):
            for value in (cube, cube.T, cube[::2, 1:], cube[:0], cube[0, 0, 1], numpy.asfortranarray(cube)):
                value = numpy.asarray(value).astype(dtype)
                with self.subTest(dtype=dtype, shape=value.shape):
                    read = self.there_and_back(value)
                    self.assertEqual(read.dtype, value.dtype.newbyteorder("<"))
                    self.assertEqual(read.shape, value.shape)
                    self.assertTrue(numpy.array_equal(read, value))
                    self.assertFalse(read.flags.writeable)

    def test_nothing_is_copied(self):
        value = numpy.arange(6, dtype="f4")
        _, (part,) = ResultEncoder().encode(value, "f")
        self.assertTrue(numpy.shares_memory(numpy.asarray(part), value))
        read = with_attachments({"$array": {"$attachment": 0}, "dtype": "<f4", "shape": [6]}, [part])
        self.assertTrue(numpy.shares_memory(read, value))

    def test_unaligned_bytes_become_an_aligned_array(self):
        data = memoryview(bytearray(9))
        form = {"$array": {"$attachment": 0}, "dtype": "<f4", "shape": [2]}
        for start in (0, 1):
            read = with_attachments(form, [data[start : start + 8].toreadonly()])
            self.assertTrue(read.flags.aligned)
            self.assertFalse(read.flags.writeable)

    def test_values_without_a_form_of_their_own(self):
        encode = ResultEncoder().encode
        masked = numpy.ma.masked_array([1, 2], [False, True])
        for value, expected in (
            (numpy.array(["a", "b"]), ["a", "b"]),
            (numpy.array(["2024-01-02"], "M8[D]"), ["2024-01-02"]),
            (numpy.float32(0.5), 0.5),
            (numpy.int64(7), 7),
            (masked, [1, None]),
            (numpy.array(datetime.date(2024, 1, 2), "M8[D]"), "2024-01-02"),
        ):
            with self.subTest(value=value):
                self.assertEqual(encode(value, "f"), (json.dumps(expected, separators=(",", ":")).encode(), []))

    def test_arrays_of_objects_are_refused(self):
        for value, dtype in ((numpy.array([object()]), "object"), (numpy.longdouble([1]), "float128")):
            with self.assertRaisesRegex(
                UnserializableResult, rf"value at result.a\[0\]: an array of dtype {dtype} cannot travel; convert it"
            ):
                ResultEncoder().encode({"a": [value]}, "f")
            with self.assertRaisesRegex(TypeError, f"an array of dtype {dtype} cannot travel"):
                skep.array(value)

    def test_numpy_takes_an_array(self):
        self.assertEqual(numpy.asarray(skep.array(FLOATS)).tolist(), FLOATS.tolist())

    def test_what_offers_an_array(self):
        tensor = type("Tensor", (), {"__array__": lambda self, *_, **__: numpy.eye(2)})()
        self.assertEqual(skep.array(tensor).shape, (2, 2))

    def test_a_call_without_a_pool(self):
        worker = skep.Worker()

        @worker.command
        def scale(x, factor, more=()):
            return {"x": x * factor, "more": [item.sum() for item in more], "kind": type(x).__name__}

        value = worker.call("scale", x=numpy.arange(3.0), factor=2, more=[numpy.ones(2), skep.array(FLOATS)])
        self.assertEqual(value["x"].tolist(), [0, 2, 4])
        self.assertEqual(value["more"], [2, 7.5])
        self.assertEqual(value["kind"], "ndarray")
        with self.assertRaisesRegex(TypeError, "an argument is JSON or an array, not set"):
            worker.call("scale", x={1}, factor=1)

    def test_data_of_errors_lists_arrays(self):
        (body,), _ = Answers(DEFAULT_LIMITS).error(1, skep.Error("odd", "", data={"x": numpy.arange(2)}))
        self.assertEqual(json.loads(body)["error"]["data"], {"x": [0, 1]})


WORKER = """
import array

@worker.command
def total(x, data=None):
    return {"sum": float(sum(memoryview(bytes(x.data)).cast("f"))), "shape": list(x.shape), "data": data}

@worker.command
def halves(values):
    for value in values:
        yield skep.array(array.array("f", [value / 2]))

@worker.command
def ask():
    try:
        x = skep.call_host("tool", grid=skep.array(array.array("f", [1, 2])))
        return [type(x).__name__, list(x.shape)]
    except skep.HostError as error:
        return [error.type, error.message]

@worker.command
def numbers(count, nested=False):
    return {"values": [[0] * 100 for _ in range(count // 100)] if nested else [0.5] * count}

@worker.command
def text(count):
    return ["1," * count, [None] * count, ["a"] * count]
"""


class BetweenHostAndWorker(HostCase):
    FORM = {"$array": {"$attachment": 0}, "dtype": "<f4", "shape": [2, 3]}

    def test_arguments(self):
        host = self.start(WORKER)
        value = host.call("total", {"x": self.FORM, "data": self.FORM}, [FLOATS.tobytes()], arrays=["x"])
        self.assertEqual(value, {"sum": 7.5, "shape": [2, 3], "data": self.FORM})

    def test_arguments_of_async_commands(self):
        host = self.start("@worker.command\nasync def extents(x): return [list(item.shape) for item in x]\n")
        value = host.call("extents", {"x": [self.FORM, self.FORM]}, [FLOATS.tobytes()], arrays=["x"])
        self.assertEqual(value, [[2, 3], [2, 3]])

    def test_a_malformed_argument_is_the_callers_fault(self):
        host = self.start(WORKER)
        host.send_call("total", {"x": {**self.FORM, "shape": [7]}}, [FLOATS.tobytes()], arrays=["x"])
        error = host.receive()["error"]
        self.assertEqual(error["type"], "skep.InvalidArguments")
        self.assertIn("x is malformed: dtype <f4 and shape [7] take 28 bytes, but its data has 24", error["message"])
        self.assertEqual(host.call("numbers", {"count": 0}), {"values": []})

    def test_chunks(self):
        host = self.start(WORKER)
        host.send_call("halves", {"values": [1, 3]}, stream={"chunks": 9, "bytes": 1000})
        for half in (0.5, 1.5):
            chunk = host.receive()
            self.assertEqual(chunk["value"], {"$array": {"$attachment": 0}, "dtype": "<f4", "shape": [1]})
            self.assertEqual(host.received_attachments, [array.array("f", [half]).tobytes()])
        self.assertEqual(host.receive()["type"], "result")
        value = host.call("halves", {"values": [1, 3]})
        self.assertEqual([item["$array"] for item in value], [{"$attachment": 0}, {"$attachment": 1}])

    def test_tools(self):
        host = self.start(WORKER)
        for form, expected in (
            (self.FORM, ["ndarray" if HAS_NUMPY else "Array", [2, 3]]),
            ({**self.FORM, "dtype": "text"}, "skep.InvalidArray"),
        ):
            host.send_call("ask")
            tool_call = host.receive_tool_call()
            self.assertEqual(tool_call["args"]["grid"]["shape"], [2])
            host.answer_tool(tool_call, form, [FLOATS.tobytes()])
            value = host.receive()["value"]
            self.assertEqual(value if expected != "skep.InvalidArray" else value[0], expected)

    def errors_after(self, *calls):
        """What a worker has written to stderr after these calls."""
        host = self.start(WORKER)
        for command, args in calls:
            host.call(command, args)
        host.tell({"type": "shutdown", "grace_ms": 1000})
        return host.finish()[2]

    def test_many_numbers_as_text_are_reported_once(self):
        few = ("numbers", {"count": 100_000}), ("text", {"count": 90_000})
        self.assertNotIn("skep:", self.errors_after(*few))
        for args in ({"count": 100_001}, {"count": 100_100, "nested": True}):
            stderr = self.errors_after(*[("numbers", args)] * 2)
            self.assertEqual(stderr.count("skep:"), 1, stderr)
            self.assertIn("command 'numbers' returns a list of more than 100,000 numbers", stderr)


if __name__ == "__main__":
    unittest.main()
