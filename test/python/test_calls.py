"""A worker answers calls: handshake, arguments, results, errors, attachments, output."""

import json
import os
import re
import signal
import tempfile
import time
import unittest
from pathlib import Path

from host import LOOP, ROOT, TIMEOUT, TOKEN, HostCase, frame

ECHO = """
@worker.command
def echo(value): return value
"""
CALL = {"type": "call", "id": 1, "command": "echo", "args": {"value": 1}}


class Handshake(HostCase):
    def test_hello_says_who_and_what(self):
        host = self.start(ECHO, ready=False)
        hello = host.handshake()
        self.assertEqual(
            hello,
            {
                "type": "hello",
                "protocol": 1,
                "token": TOKEN,
                "pid": host.process.pid,
                "sdk": "python/0.1.0",
                "capacity": 1,
                "control": True,
                "recall": True,
                "commands": ["echo"],
                "health_check": "skep.health_check",
                "own_health_check": False,
                "loop": LOOP,
                "stack_signal": signal.SIGUSR2,
            },
        )

    def test_hello_names_no_more_commands_than_it_has_room_for(self):
        script = (
            "for n in range(3000):\n"
            "    def command(): return 1\n"
            "    command.__name__ = f'{n:04}' + '\\x01' * 20\n"
            "    worker.command(command)\n"
        )
        host = self.start(script, ready=False)
        named = host.handshake()["commands"]
        self.assertEqual([name[:4] for name in named], [f"{n:04}" for n in range(len(named))])
        self.assertLess(len(json.dumps(named, separators=(",", ":"))), 128 * 1024)
        self.assertGreater(len(named), 900)
        self.assertEqual(host.call("2999" + "\x01" * 20), 1)

    def test_start_hooks_run_in_order_between_welcome_and_ready_while_pings_are_answered(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        gate = os.path.join(folder.name, "gate")
        os.mkfifo(gate)
        host = self.start(
            "@worker.on_start\ndef first(): print('first')\n"
            "import os\n"
            "@worker.on_start\ndef second(): print(open(os.environ['GATE']).readline())\n",
            ready=False,
            env={"GATE": gate},
        )
        self.assertEqual(host.receive()["type"], "hello")
        host.welcome()
        self.assertEqual(host.ping(7), {"type": "pong", "seq": 7, "in_flight": 0, "completed": 0})
        Path(gate).write_text("second\n")
        self.assertEqual(host.receive(), {"type": "ready"})
        host.tell({"type": "shutdown", "grace_ms": 1000})
        status, stdout, _ = host.finish()
        self.assertEqual((status, stdout.split()), (0, ["first", "second"]))

    def test_a_start_hook_knows_its_slot_and_how_the_worker_before_ended(self):
        script = "print(worker.slot, worker.previous_exit)\n@worker.on_start\ndef load(): print(worker.previous_exit)\n"
        for more, expected in (({"previous_exit": "segfault"}, "segfault"), ({}, "None")):
            host = self.start(script, ready=False)
            host.receive()
            host.welcome(**more)
            self.assertEqual(host.receive(), {"type": "ready"})
            host.tell({"type": "shutdown", "grace_ms": 1000})
            self.assertEqual(host.finish()[1].split(), ["default/0", "None", expected])

    def test_a_failing_start_hook_ends_the_worker(self):
        host = self.start("@worker.on_start\ndef load(): raise ValueError('no model')", ready=False)
        host.receive()
        host.welcome()
        self.assertIsNone(host.receive())
        status, _, stderr = host.finish()
        self.assertEqual(status, 1)
        self.assertRegex(stderr, r"in load\n(.*\n)+ValueError: no model\n$")
        self.assertNotIn("/skep/", stderr)

    def test_a_start_hook_may_exit(self):
        host = self.start("@worker.on_start\ndef load(): raise SystemExit(9)", ready=False)
        host.receive()
        host.welcome()
        self.assertEqual(host.finish()[0], 9)

    def test_a_script_started_by_hand_says_so(self):
        for env, said in (
            ({"SKEP_PROTOCOL": None}, "script.py is a skep worker: a skep pool starts it"),
            ({"SKEP_PROTOCOL": "2"}, "speaks protocol 2, but"),
            ({"SKEP_TOKEN": None}, "SKEP_TOKEN is missing"),
            ({"SKEP_DATA_FD": "99"}, "must pass its descriptors 3 and 4 on"),
            ({"SKEP_TRANSPORT": None}, "cannot use the channels"),
        ):
            with self.subTest(env=env):
                host = self.start_script(
                    f"import os, skep\nfor name, value in {env}.items():\n"
                    "    os.environ.pop(name, None)\n"
                    "    if value is not None: os.environ[name] = value\n"
                    "skep.Worker().run()\n",
                    ready=False,
                )
                status, _, stderr = host.finish()
                self.assertEqual(status, 64)
                self.assertIn(said, stderr)
                self.assertNotIn("Traceback", stderr)

    def test_the_token_is_gone_and_a_child_is_not_taken_for_the_worker(self):
        host = self.start(
            "import os, subprocess, sys\n"
            "@worker.command\n"
            "def env(): return sorted(k for k in os.environ if k.startswith('SKEP_'))\n"
            "@worker.command\n"
            "def again(): return subprocess.run([sys.executable, sys.argv[0]], capture_output=True).returncode\n"
        )
        self.assertNotIn("SKEP_TOKEN", host.call("env"))
        self.assertIn("SKEP_WORKER", host.call("env"))
        self.assertEqual(host.call("again"), 64)

    def test_run_serves_once(self):
        again = (
            "other = skep.Worker()\n"
            "@worker.command\ndef again(): worker.run()\n"
            "@worker.command\ndef another(): other.run()\n"
            "@worker.command\ndef echo(value): return value\n"
        )
        host = self.start(again)
        for command in ("again", "another"):
            error = host.call_error(command)
            self.assertEqual(error["type"], "RuntimeError")
            self.assertIn("worker.run() serves already", error["message"])
        self.assertEqual(host.call("echo", {"value": 1}), 1)
        host = self.start("@worker.on_start\ndef again(): worker.run()\n", ready=False)
        host.receive()
        host.welcome()
        status, stdout, stderr = host.finish()
        self.assertEqual((status, stdout), (1, ""))
        self.assertIn("RuntimeError: worker.run() serves already", stderr)

    def test_two_workers_in_a_script_share_the_connection(self):
        host = self.start("other = skep.Worker()" + ECHO)
        self.assertEqual(host.call("echo", {"value": 1}), 1)


class Calls(HostCase):
    def test_values_come_back(self):
        host = self.start(ECHO)
        for value in (None, 1, "grüße\0", {"a": [1, {"b": None}]}, "x" * 3_000_000):
            self.assertEqual(host.call("echo", {"value": value}), value)
        self.assertEqual(host.ping(), {"type": "pong", "seq": 1, "in_flight": 0, "completed": 5})

    def test_pipelined_calls_are_answered_in_order(self):
        host = self.start(ECHO)
        ids = [host.send_call("echo", {"value": n}) for n in range(100)]
        self.assertEqual([host.receive()["id"] for _ in ids], ids)

    def test_wrong_calls_are_refused_with_advice(self):
        host = self.start(ECHO)
        error = host.call_error("ecko")
        self.assertEqual(error["type"], "skep.UnknownCommand")
        self.assertIn("did you mean 'echo'?", error["message"])
        self.assertEqual(
            host.call_error("echo", {"text": 1}),
            {
                "type": "skep.InvalidArguments",
                "message": "echo() is missing argument 'value' and does not take argument 'text'; "
                "it takes (value)",
                "traceback": "",
            },
        )
        self.assertEqual(host.call_error("echo", {"value": 1}, deadline_ms=0)["type"], "skep.DeadlineExceeded")
        self.assertEqual(host.call("echo", {"value": 1}, deadline_ms=10_000), 1)

    def test_the_deadline_of_a_pipelined_call_counts_from_when_it_was_sent(self):
        host = self.start(
            "import time\n"
            "@worker.command\ndef sleep(seconds): time.sleep(seconds)\n"
            "@worker.command\ndef left(): return skep.current().remaining\n",
            ready=False,
        )
        host.receive()
        welcomed = time.monotonic()
        host.welcome()
        self.assertEqual(host.receive(), {"type": "ready"})

        def pipelined(deadline_ms, **more):
            host.send_call("sleep", {"seconds": 0.3})
            sent_ms = int((time.monotonic() - welcomed) * 1000)
            host.send_call("left", deadline_ms=deadline_ms, **({"sent_ms": sent_ms} if not more else more))
            host.receive()
            return host.receive()

        self.assertEqual(pipelined(200)["error"]["type"], "skep.DeadlineExceeded")
        left = pipelined(600_000)["value"]
        self.assertLess(left, 599.8)
        self.assertGreater(left, 600 - TIMEOUT)
        # Not pipelined, or sent by a host whose clock runs ahead of ours: the time starts when the call is read.
        self.assertGreater(pipelined(200, sent_ms=None)["value"], 0)
        self.assertGreater(pipelined(60_000, sent_ms=10**9)["value"], 59.9)

    def test_exceptions_travel(self):
        host = self.start(
            "import json\n"
            "class Mine(Exception):\n    pass\n"
            "class Mute(Exception):\n    def __str__(self): raise OSError\n"
            "kinds = dict(last=OSError(), key=KeyError('k'), mine=Mine('my own'), mute=Mute(),\n"
            "             interrupt=KeyboardInterrupt(),\n"
            "             json=json.JSONDecodeError('bad', '', 0),\n"
            "             surrogate=ValueError('\\ud800'), big=ValueError('x' * 10**6))\n"
            "def inner(kind): raise kinds[kind]\n"
            "@worker.command\n"
            "def fail(kind): inner(kind)\n" + ECHO
        )
        for kind, name, message in (
            ("key", "KeyError", "'k'"),
            ("mine", "Mine", "my own"),
            ("mute", "Mute", "(its message cannot be shown: str() of it failed)"),
            ("interrupt", "KeyboardInterrupt", ""),
            ("json", "json.decoder.JSONDecodeError", "bad: line 1 column 1 (char 0)"),
            ("surrogate", "ValueError", "?"),
            ("big", "ValueError", "x" * 65536),
        ):
            error = host.call_error("fail", {"kind": kind})
            self.assertEqual((error["type"], error["message"]), (name, message))
        traceback = host.call_error("fail", {"kind": "last"})["traceback"]
        self.assertEqual(re.findall(r"line \d+, in (\w+)", traceback), ["fail", "inner"])
        self.assertEqual(host.call("echo", {"value": 1}), 1)

    def test_results_that_cannot_be_sent(self):
        host = self.start(
            "@worker.command\ndef bad(): return {'items': [1j]}\n"
            "class Bad:\n    def to_dict(self): raise TypeError('mine')\n"
            "@worker.command\ndef worse(): return Bad()\n"
            "@worker.command\ndef big(size, raw=False): return b'x' * size if raw else 'x' * size\n",
            ready=False,
        )
        host.handshake(frame_bytes=2000)
        self.assertIn("'complex' at result.items[0]", host.call_error("bad")["message"])
        error = host.call_error("worse")
        self.assertEqual((error["type"], error["message"]), ("TypeError", "mine"))
        self.assertRegex(error["traceback"], r"^Traceback.*\n  File .*script.py.*, in to_dict\n")
        for raw in (False, True):
            error = host.call_error("big", {"size": 3000, "raw": raw})
            self.assertEqual(error["type"], "skep.ResultTooLarge")
            self.assertRegex(error["message"], "^result of 'big' takes a frame of 30.. bytes; the limit is 2000 bytes$")
        self.assertEqual(len(host.call("big", {"size": 1900})), 1900)

    def test_an_error_is_cut_to_the_frame_limit(self):
        host = self.start("@worker.command\ndef fail(): raise ValueError('\\x01' * 100000)", ready=False)
        host.handshake(frame_bytes=1000)
        self.assertEqual(host.call_error("fail")["message"], "\x01" * 77)

    def test_binary_data_both_ways(self):
        host = self.start("@worker.command\ndef double(): return [bytes(part) * 2 for part in skep.attachments()]")
        self.assertEqual(host.call("double", (), [b"ab", b"", b"c" * 100_000]), [{"$attachment": n} for n in range(3)])
        self.assertEqual(host.received_attachments, [b"abab", b"", b"c" * 200_000])
        self.assertEqual(host.call("double"), [])

    def test_the_current_call(self):
        host = self.start(
            "try:\n    skep.current()\nexcept RuntimeError as error:\n    outside = str(error)\n"
            "@worker.command\n"
            "def look():\n"
            "    call = skep.current()\n"
            "    return [outside, call.id, call.command, call.session, call.correlation_id, call.metadata,\n"
            "            call.remaining and 0 < call.remaining <= 60, call.cancelled(), len(call.attachments)]\n"
        )
        outside = "no call is running: skep.current() and skep.attachments() work inside a command"
        self.assertEqual(host.call("look"), [outside, 1, "look", None, "1", {}, None, False, 0])
        more = {"session": "s", "correlation_id": "c", "metadata": {"k": 1}, "deadline_ms": 60_000}
        seen = host.call("look", (), [b"x"], **more)
        self.assertEqual(seen, [outside, 2, "look", "s", "c", {"k": 1}, True, False, 1])

    def test_print_is_output_and_arrives_line_by_line(self):
        host = self.start("@worker.command\ndef say(text): print(text); import sys; print(text, file=sys.stderr)")
        host.call("say", {"text": "hello"})
        self.assertEqual(host.process.stdout.readline(), b"hello\n")
        self.assertEqual(host.process.stderr.readline(), b"hello\n")



class Stdio(HostCase):
    source = (
        "print('before run')\n"
        "import os, sys\n"
        "@worker.on_stop\ndef unload(): print('unloaded')\n"
        "@worker.command\ndef noisy(value): print('noise'); os.system('echo child'); return [value, sys.stdin.read()]\n"
    )

    def test_frames_travel_over_stdin_and_stdout_and_nothing_else_does(self):
        host = self.start(self.source, ready=False, stdio=True)
        self.assertFalse(host.handshake()["control"])
        self.assertEqual(host.call("noisy", {"value": 1}), [1, ""])
        self.assertEqual(host.ping(5)["seq"], 5)
        cancelled = host.last_id + 1
        host.tell({"type": "cancel", "id": cancelled})
        self.assertEqual(host.call_error("noisy", {"value": 1})["type"], "skep.Cancelled")
        host.tell({"type": "shutdown", "grace_ms": 1000})
        self.assertIsNone(host.receive())
        status, _, stderr = host.finish()
        self.assertEqual((status, stderr), (0, "before run\nnoise\nchild\nunloaded\n"))

    def test_the_worker_goes_with_its_host(self):
        host = self.start(self.source, stdio=True)
        host.data.close()
        self.assertEqual(host.finish()[0], -9)

    def test_also_while_it_is_at_a_call(self):
        host = self.start("import time\n@worker.command\ndef sleep(): print('asleep'); time.sleep(1000)\n", stdio=True)
        host.send_call("sleep")
        self.assertEqual(host.process.stderr.readline(), b"asleep\n")
        host.data.close()
        self.assertEqual(host.process.wait(60), -9)

    def test_a_child_is_not_taken_for_the_worker(self):
        host = self.start(
            "import subprocess, sys\n"
            "@worker.command\n"
            "def again(): return subprocess.run([sys.executable, sys.argv[0]], capture_output=True).returncode\n",
            stdio=True,
        )
        self.assertEqual(host.call("again"), 64)


class ProtocolErrors(HostCase):
    def test_a_host_that_breaks_the_protocol_is_left(self):
        for stream, message, said in (
            ("data", b"\xff\xff\xff\xff\0\0\0\0", "longer than the limit"),
            ("data", b"\0\0\0\6\0\0\0\2{]", "does not hold JSON"),
            ("data", frame({"type": "ping", "seq": 1}), "a message of type 'ping' on the data channel"),
            ("data", frame({"type": "call"}), "a call message is malformed: KeyError('id')"),
            ("data", frame({**CALL, "deadline_ms": 1, "sent_ms": "2"}), "a call message is malformed: TypeError"),
            ("data", frame({**CALL, "deadline_ms": 10**400}), "a call message is malformed: OverflowError"),
            ("control", b"\0\0\0\6\0\0\0\2{]", "does not hold JSON"),
            ("control", frame({"type": "ping"}), "a ping message is malformed: KeyError('seq')"),
            ("control", b'\0\0\0\x1f\0\0\0\x1b{"type":"ping","seq":1e400}', "a ping message is malformed: Overflow"),
            ("control", frame({"type": "strange"}), "a message of unknown type 'strange'"),
        ):
            with self.subTest(message=message):
                host = self.start(ECHO)
                getattr(host, stream).sendall(message)
                status, _, stderr = host.finish()
                self.assertEqual(status, 76)
                self.assertIn("skep: the host broke the protocol: ", stderr)
                self.assertIn(said, stderr)
                self.assertNotIn("Traceback", stderr)

    def test_anything_but_a_welcome_is_no_welcome(self):
        for message in ({"type": "ready"}, {"type": "welcome"}, {}):
            with self.subTest(message=message):
                host = self.start(ECHO, ready=False)
                host.receive()
                host.tell(message)
                self.assertEqual(host.finish()[0], 76)


class Typing(unittest.TestCase):
    def test_the_package_says_that_it_is_typed(self):
        self.assertTrue((ROOT / "lib/python/skep/py.typed").exists())


if __name__ == "__main__":
    unittest.main()
