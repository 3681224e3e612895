"""What the caller gets of an exception, and above all of a skep.Error."""

import enum
import pickle
import signal
import unittest

import skep
from host import HostCase, frame

RAISING = """
import dataclasses, os, time
@dataclasses.dataclass
class Size:
    width: int
    height: int
class Array:
    def tolist(self): return [1.5, 2.5]
class Offering:
    def __init__(self, run): self.run = run
    def to_dict(self): return self.run()
class NotFound(skep.Error):
    def __init__(self, name): super().__init__("not_found", f"no {name}", {"name": name})
class Hollow(skep.Error):
    def __init__(self): pass
class Spoilt(skep.Error):
    def __init__(self):
        super().__init__("code")
        self.code = "x" * 1000
class Broken(skep.Error):
    @property
    def code(self): raise KeyError
    @code.setter
    def code(self, value): pass
class Hiding(skep.Error):
    @property
    def data(self): raise KeyError
    @data.setter
    def data(self, value): pass
class UnknownCommand(Exception): pass
class Payload(Exception):
    def __getattr__(self, name): return {}[name]
class Nameless(type):
    @property
    def __module__(self): raise OSError
class Foreign(Exception, metaclass=Nameless): pass
class Closed(type):
    def __getattribute__(self, name): raise OSError
class Remote(Exception, metaclass=Closed): pass
class Masked(Exception):
    @property
    def __class__(self): raise KeyError
class Oddly(Exception):
    __module__ = 5
class Leaving(Exception):
    def __str__(self): raise SystemExit(5)
class Stopping(Exception):
    def __str__(self): raise KeyboardInterrupt
def fail(kind=Exception): raise kind
@worker.command
def blame(code, message="", data="None"): raise skep.Error(code, message, eval(data))
@worker.command
def throw(error): raise eval(error)
@worker.command
def echo(value): return value
"""


class Construction(unittest.TestCase):
    def test_what_it_holds_and_shows(self):
        error = skep.Error("bad_image", "not an image", data={"size": 3})
        self.assertEqual((error.code, error.message, error.data), ("bad_image", "not an image", {"size": 3}))
        self.assertEqual(str(error), "not an image")
        bare = skep.Error("bad_image")
        self.assertEqual((bare.message, bare.data, str(bare)), ("", None, "bad_image"))

    def test_codes(self):
        class Code(str, enum.Enum):
            BAD = "bad"

        for code in ("x", "x" * 128, "ü" * 64, "\1\"\\"):
            self.assertEqual(skep.Error(code).code, code)
        self.assertEqual((skep.Error(Code.BAD).code, str(skep.Error(Code.BAD))), ("bad", "bad"))
        for code in ("", "x" * 129, "ü" * 65, "\ud800"):
            with self.subTest(code), self.assertRaises(ValueError):
                skep.Error(code)
        for code in (None, 404, b"bad"):
            with self.subTest(code), self.assertRaisesRegex(TypeError, "the code of an error is text, not"):
                skep.Error(code)

    def test_it_survives_a_process_pool(self):
        copy = pickle.loads(pickle.dumps(skep.Error("bad", "very", data=[1])))
        self.assertEqual((copy.code, copy.message, copy.data), ("bad", "very", [1]))
        for error in (skep.UnknownCommand("x"), skep.UnserializableResult("f", "because"), skep.Cancelled()):
            copy = pickle.loads(pickle.dumps(error))
            self.assertEqual((type(copy), str(copy)), (type(error), str(error)))


class Names(HostCase):
    def test_only_the_sdks_own_begin_with_skep(self):
        host = self.start(RAISING)
        for error, name in (
            ("KeyError(1)", "KeyError"),
            ("UnknownCommand()", "UnknownCommand"),
            ("NotFound('x')", "NotFound"),
            ("skep.Error('x')", "skep.Error"),
            ("skep.Cancelled()", "skep.Cancelled"),
            ("skep.DeadlineExceeded('too late')", "skep.DeadlineExceeded"),
            ("__import__('decimal').Overflow()", "decimal.Overflow"),
            ("type('', (Exception,), {})()", "?"),
        ):
            with self.subTest(error):
                self.assertEqual(host.call_error("throw", {"error": error})["type"], name)

    def test_one_that_python_itself_cannot_print(self):
        host = self.start(RAISING)
        for error, said in (
            ("Payload('empty')", "Payload: empty"),
            ("SyntaxError('bad', ('file', 1, 'column', 'text'))", "SyntaxError: bad"),
        ):
            with self.subTest(error):
                traceback = host.call_error("throw", {"error": error})["traceback"]
                self.assertTrue(traceback.startswith("Traceback (most recent call last):\n  File"), traceback)
                self.assertIn(", in throw\n", traceback)
                self.assertIn(said, traceback)
        self.assertEqual(host.call("echo", {"value": 1}), 1)

    def test_one_whose_class_or_text_raises_errors(self):
        host = self.start(RAISING)
        for error, name in (
            ("Foreign()", "Foreign"),
            ("Remote()", "Remote"),
            ("Masked()", "Masked"),
            ("Oddly()", "Oddly"),
            ("Leaving()", "Leaving"),
            ("Stopping()", "Stopping"),
        ):
            with self.subTest(error):
                told = host.call_error("throw", {"error": error})
                self.assertEqual(told["type"], name)
                self.assertIn(", in throw\n", told["traceback"])
        self.assertEqual(host.call("echo", {"value": 1}), 1)

    def test_what_the_sdk_says_itself_has_no_traceback(self):
        host = self.start(RAISING)
        error = host.call_error("throw", {"error": "skep.InvalidArguments('not that')"})
        self.assertEqual(error, {"type": "skep.InvalidArguments", "message": "not that", "traceback": ""})


class Wire(HostCase):
    def blame(self, host, data, message="message"):
        """The error that is answered for that data, but for what is always the same."""
        error = host.call_error("blame", {"code": "code", "message": message, "data": data})
        fixed = error.pop("type"), error.pop("traceback"), error.pop("code")
        self.assertEqual(fixed, ("skep.Error", "", "code"))
        return error

    def assert_left_out(self, host, data, obstacle):
        with self.subTest(data):
            said = f"message (its data is left out: {obstacle})"
            self.assertEqual(self.blame(host, data), {"message": said})

    def test_an_error_as_it_travels(self):
        host = self.start(RAISING)
        call_id = host.send_call("blame", {"code": "bad_image", "message": "not an image", "data": "{'size': 3}"})
        self.assertEqual(
            host.data.recv(1000)[8:],
            b'{"type":"error","id":%d,"error":{"type":"skep.Error","message":"not an image","traceback":"",'
            b'"code":"bad_image","data":{"size":3}}}' % call_id,
        )
        self.assertEqual(
            host.call_error("blame", {"code": "bad_image"}),
            {"type": "skep.Error", "message": "bad_image", "traceback": "", "code": "bad_image"},
        )
        self.assertEqual(
            host.call_error("throw", {"error": "NotFound('it')"}),
            {"type": "NotFound", "message": "no it", "traceback": "", "code": "not_found", "data": {"name": "it"}},
        )

    def test_data_is_converted_like_a_result(self):
        host = self.start(RAISING)
        for data, expected in (
            ("0", 0),
            ("'text'", "text"),
            ("[Size(1, 2), Array(), {7}]", [{"width": 1, "height": 2}, [1.5, 2.5], [7]]),
            ("Offering(lambda: None)", None),
        ):
            self.assertEqual(self.blame(host, data), {"message": "message", "data": expected})

    def test_data_that_cannot_be_sent_is_left_out(self):
        host = self.start(RAISING, ready=False)
        limits = {"json_bytes": 3000, "json_depth": 5, "tree_bytes": 20_000, "attachments": 2}
        host.handshake(**limits)
        for data, obstacle in (
            ("{'a': 1j}", "value of type 'complex' at data.a; return JSON types or give the type a to_dict()"),
            ("float('nan')", "nan at data; JSON has no NaN or Infinity, return None or a string instead"),
            ("[2**64]", "integer at data[0] is not within -2**63 ... 2**64-1; return a string instead"),
            ("[{1: 0, '1': 0}]", "two keys in data[0] become '1'; JSON keys are strings"),
            ("b'x'", "it holds bytes, which only results can"),
            ("[b'x'] * 3", "data holds 3 attachments; the limit is 2"),
            ("[[[[]]]]", "data[0][0][0] is nested too deeply; the limit is 3 levels"),
            ("Offering(fail)", "converting it raised Exception"),
            ("Offering(lambda: fail(NotFound('x')))", "converting it raised NotFound"),
        ):
            self.assert_left_out(host, data, obstacle)
        self.assertEqual(self.blame(host, "[[[]]]")["data"], [[[]]])
        self.assertRegex(self.blame(host, "[0] * 900")["message"], r"data takes 22680 bytes of the host's memory")
        self.assertEqual(host.call_error("throw", {"error": "Hiding('code')"})["code"], "code")
        self.assertEqual(host.call("echo", {"value": 1}), 1)

    def test_the_whole_message_counts(self):
        error = '{"type":"skep.Error","message":"message","traceback":"","code":"code"'
        around = len('{"type":"error","id":1,"error":' + error)
        for limits, longest in (({"json_bytes": 2000}, 2000), ({"frame_bytes": 2000}, 1996)):
            host = self.start(RAISING, ready=False)
            host.handshake(**limits)
            fits = longest - around - len(',"data":""}}')
            self.assertEqual(len(self.blame(host, f"'x' * {fits}")["data"]), fits)
            obstacle = f"with it the answer takes {longest + 1} bytes; the limit is {longest} bytes"
            self.assert_left_out(host, f"'x' * {fits + 1}", obstacle)

    def test_the_message_takes_the_hosts_memory_too(self):
        host = self.start(RAISING, ready=False)
        host.handshake(tree_bytes=70_000)
        self.assertEqual(self.blame(host, "[0] * 500", message="x" * 50_000)["data"], [0] * 500)
        message = self.blame(host, "[0] * 500", message="x" * 60_000)["message"]
        self.assertIn("data takes 13080 bytes of the host's memory; the limit is ", message)

    def test_a_long_message_does_not_hide_what_is_said_about_the_data(self):
        host = self.start(RAISING)
        message = self.blame(host, "b''", message="x" * 100_000)["message"]
        self.assertEqual(len(message), 65536)
        self.assertTrue(message.endswith("x (its data is left out: it holds bytes, which only results can)"))

    def test_the_longest_code_fits_the_smallest_limits(self):
        host = self.start(RAISING, ready=False)
        host.handshake(json_bytes=1024, frame_bytes=1024)
        error = host.call_error("throw", {"error": r"skep.Error('\1' * 128, '\2' * 100_000, [1j])"})
        self.assertEqual(error["code"], "\1" * 128)
        self.assertTrue(error["type"] and error["message"])
        self.assertLessEqual(len(frame({"type": "error", "id": host.last_id, "error": error})), 1024 + 4)

    def test_a_subclass_that_has_lost_its_code_is_an_error_like_any_other(self):
        host = self.start(RAISING)
        for thrown in ("Hollow()", "Spoilt()", "Broken('code')"):
            error = host.call_error("throw", {"error": thrown})
            self.assertEqual(error.keys(), {"type", "message", "traceback"})
            self.assertIn("in throw", error["traceback"])

    def test_a_health_check_may_raise_one(self):
        host = self.start("@worker.health_check\ndef check(): raise skep.Error('no_disk', data=1)")
        error = host.call_error("skep.health_check")
        self.assertEqual((error["code"], error["data"]), ("no_disk", 1))


class Interrupted(HostCase):
    """Converting data runs user code, and is interrupted and left like any other."""

    SLOW = {"code": "code", "data": "Offering(lambda: (print('converting'), time.sleep(1000)))"}

    def start_converting(self):
        host = self.start(RAISING)
        call_id = host.send_call("blame", self.SLOW)
        self.assertEqual(host.process.stdout.readline(), b"converting\n")
        return host, call_id

    def test_by_a_cancel(self):
        host, call_id = self.start_converting()
        host.tell({"type": "cancel", "id": call_id})
        self.assertEqual(host.receive()["error"]["type"], "skep.Cancelled")
        self.assertEqual(host.call("echo", {"value": 1}), 1)

    def test_by_sigterm(self):
        host, _ = self.start_converting()
        host.signal(signal.SIGTERM)
        self.assertIsNone(host.receive())
        self.assertEqual(host.finish(), (0, "", ""))

    def test_in_a_forked_child(self):
        host = self.start(
            RAISING + "@worker.command\ndef fork():\n"
            "    if not os.fork(): raise skep.Error('mine', data=Offering(fail))\n"
            "    return os.wait()[1] >> 8\n"
        )
        self.assertEqual(host.call("fork"), 1)
        host.tell({"type": "shutdown", "grace_ms": 1000})
        status, _, stderr = host.finish()
        self.assertEqual(status, 0)
        self.assertTrue(stderr.endswith("skep.Error: mine\n"))


if __name__ == "__main__":
    unittest.main()
