"""`python3 -m skep`: calls a command of a script by hand, or serves a script over stdin and stdout."""

import json
import os
import pty
import subprocess
import sys
import tempfile
import unittest
import zipfile
from pathlib import Path

import skep
from host import ROOT, TIMEOUT, HostCase

WORKER = """
import os, sys, skep
print("loading")
worker = skep.Worker()
@worker.command
def echo(value, more=None): print("in echo"); return [value, more]
@worker.command
def sizes(): return [len(part) for part in skep.attachments()]
@worker.command
def raw(): return {"raw": [b"one", b"two"], "text": "grüße"}
@worker.command
def fail(): raise ValueError("mine")
@worker.command
def blame(): raise skep.Error("bad_image", "not an image", {"size": 3})
@worker.command
def leave(): sys.exit(7)
@worker.command
def look(): return [worker.slot, __name__, sorted(name for name in os.environ if name == "SKEP_TOKEN")]
@worker.on_start
def start(): os.system("echo starting")
@worker.on_stop
def stop(): print("stopping")
"""
FORGOTTEN = "skep: worker.py ended without calling worker.run(): put it in the last line\n"


class CommandLine(HostCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name).resolve()
        self.environment = {"PYTHONPATH": str(ROOT / "lib" / "python"), "PYTHONIOENCODING": "utf-8"}

    def write(self, source, name="worker.py"):
        (self.folder / name).write_text(source, encoding="utf-8")

    def run_python(self, *arguments, **options):
        """Status, stdout and stderr."""
        process = subprocess.run(
            [sys.executable, *arguments],
            cwd=self.folder,
            env=self.environment,
            timeout=TIMEOUT,
            **{"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **options},
        )
        return process.returncode, (process.stdout or b"").decode(), process.stderr.decode()

    def skep(self, *arguments, **options):
        return self.run_python("-m", "skep", *arguments, **options)

    def assert_wrong_usage(self, arguments, said):
        with self.subTest(arguments):
            status, stdout, stderr = self.skep(*arguments)
            self.assertEqual((status, stdout), (2, ""))
            self.assertTrue(stderr.startswith("usage: python3 -m skep"))
            self.assertIn(said, stderr)


class Usage(CommandLine):
    def test_help(self):
        for arguments in (["--help"], ["call", "--help"], ["serve", "--help"]):
            status, stdout, stderr = self.skep(*arguments)
            self.assertEqual((status, stderr), (0, ""))
            self.assertIn("usage: python3 -m skep", stdout)
        self.assertEqual(self.skep("--version"), (0, f"skep {skep.__version__}\n", ""))

    def test_what_makes_no_sense(self):
        self.write(WORKER)
        with zipfile.ZipFile(self.folder / "worker.pyz", "w") as archive:
            archive.writestr("__main__.py", WORKER)
        for arguments, said in (
            ([], "required: ACTION"),
            (["run"], "invalid choice: 'run'"),
            (["call", "worker.py"], "required: COMMAND"),
            (["call", "none.py", "echo"], "cannot read none.py: No such file or directory"),
            (["call", ".", "echo"], "cannot read .: Is a directory"),
            (["call", "worker.pyz", "echo"], "worker.pyz is not Python source"),
            (["serve", "worker.pyz"], "worker.pyz is not Python source"),
            (["call", "worker.py", "echo", "--attach", "none"], "cannot read none: No such file or directory"),
            (["call", "worker.py", "echo", "value"], "'value' is not of the form NAME=VALUE"),
            (["call", "worker.py", "echo", "=1"], "'=1' is not of the form NAME=VALUE"),
            (["call", "worker.py", "echo", "--value=1"], "'--value=1' is not of the form NAME=VALUE"),
            (["call", "worker.py", "echo", "value=1", "value=2"], "there are two values for 'value'"),
            (["serve"], "required: SCRIPT"),
            (["serve", "none.py"], "cannot read none.py: No such file or directory"),
            (["serve", "--fast", "worker.py"], "unrecognized arguments: --fast"),
        ):
            self.assert_wrong_usage(arguments, said)

    def test_a_terminal_is_no_host(self):
        self.write(WORKER)
        controller, terminal = pty.openpty()
        try:
            status, _, stderr = self.skep("serve", "worker.py", stdin=terminal)
        finally:
            os.close(controller)
            os.close(terminal)
        self.assertEqual(status, 2)
        self.assertIn("stdin is a terminal", stderr)


class Call(CommandLine):
    def call(self, *arguments):
        self.write(WORKER + "worker.run()\n")
        return self.skep("call", str(self.folder / "worker.py"), *arguments)

    def test_the_result_alone_is_on_stdout(self):
        status, stdout, stderr = self.call("echo", "value=hello")
        self.assertEqual((status, stdout), (0, '[\n  "hello",\n  null\n]\n'))
        self.assertEqual(stderr, "loading\nstarting\nin echo\nstopping\n")

    def test_values(self):
        for text, value in (
            ("3", 3),
            ('"3"', "3"),
            ('{"a": [null]}', {"a": [None]}),
            ("", ""),
            ("a=b", "a=b"),
            ("NaN", "NaN"),
            ("grüße", "grüße"),
            ("[" * 100_000, "[" * 100_000),
        ):
            with self.subTest(text[:20]):
                self.assertEqual(json.loads(self.call("echo", f"value={text}")[1]), [value, None])

    def test_it_is_the_script_and_no_worker_of_a_pool(self):
        self.environment.update(SKEP_PROTOCOL="7", SKEP_WORKER="default/0#1", SKEP_TOKEN="other")
        self.assertEqual(json.loads(self.call("look")[1]), [None, "__main__", []])

    def test_attachments(self):
        self.write("four", "a file")
        _, stdout, _ = self.call("sizes", "--attach", "a file", "--attach=worker.py")
        self.assertEqual(json.loads(stdout), [4, (self.folder / "worker.py").stat().st_size])
        _, stdout, stderr = self.call("raw")
        self.assertEqual(json.loads(stdout), {"raw": [{"$attachment": 0}, {"$attachment": 1}], "text": "grüße"})
        self.assertTrue(stderr.endswith("skep: attachment 0 has 3 bytes\nskep: attachment 1 has 3 bytes\n"))
        status, _, stderr = self.call("raw", "--save", "out")
        self.assertIn("attachment 1 has 3 bytes and is written to out1\n", stderr)
        self.assertEqual([(self.folder / f"out{n}").read_bytes() for n in (0, 1)], [b"one", b"two"])
        status, _, stderr = self.call("raw", "--save", "none/out")
        self.assertEqual(status, 1)
        self.assertIn("skep: cannot write the result: [Errno 2] No such file or directory: 'none/out0'", stderr)

    def test_options_may_be_anywhere(self):
        for arguments in (
            ["--save", "x", "worker.py", "echo", "value=1", "more=2"],
            ["worker.py", "--save", "x", "echo", "value=1", "more=2"],
            ["worker.py", "echo", "--save", "x", "value=1", "more=2"],
            ["worker.py", "echo", "value=1", "--save", "x", "more=2"],
        ):
            self.write(WORKER + "worker.run()\n")
            self.assertEqual(json.loads(self.skep("call", *arguments)[1]), [1, 2])

    def test_errors(self):
        for arguments, said in (
            (["fail"], f'Traceback (most recent call last):\n  File "{self.folder}/worker.py", line 12, in fail'),
            (["fail"], "ValueError: mine\n"),
            (["blame"], 'skep.Error: not an image\n  code: "bad_image"\n  data: {"size": 3}\n'),
            (["ecko"], "skep.UnknownCommand: unknown command 'ecko'; did you mean 'echo'?"),
            (["echo"], "skep.InvalidArguments: echo() is missing argument 'value'"),
        ):
            status, stdout, stderr = self.call(*arguments)
            self.assertEqual((status, stdout), (1, ""))
            self.assertIn("stopping\n" + said if said.startswith(("T", "s")) else said, stderr)

    def test_a_script_that_ends_without_run(self):
        for source, said in ((WORKER, "loading\n"), ("print('no worker')", "no worker\n")):
            self.write(source)
            self.assertEqual(self.skep("call", "worker.py", "echo"), (1, "", said + FORGOTTEN))

    def test_other_ends(self):
        for source, status, printed, said in (
            (WORKER + "sys.exit(3)", 3, "", "loading\n"),
            (WORKER + "worker.on_start(lambda: 1 / 0)\nworker.run()", 1, "", "Error: division by zero\n"),
            (WORKER + "worker.on_stop(lambda: 1 / 0)\nworker.run()", 1, "[]\n", "stopping\n"),
            (WORKER + "try: worker.run()\nexcept SystemExit: pass", 0, "[]\n", "stopping\n"),
        ):
            self.write(source)
            ended, stdout, stderr = self.skep("call", "worker.py", "sizes")
            self.assertEqual((ended, stdout), (status, printed))
            self.assertTrue(stderr.endswith(said), stderr)
        status, stdout, stderr = self.call("leave")
        self.assertEqual((status, stdout), (1, ""))
        self.assertIn("in leave\n", stderr)
        self.assertTrue(stderr.endswith("SystemExit: 7\n"), stderr)

    def test_a_script_that_fails_to_load(self):
        for source, said in (
            ("def f(): raise ValueError('mine')\nf()\n", "ValueError: mine\n"),
            ("def f(:\n", "SyntaxError: invalid syntax\n"),
        ):
            self.write(source)
            script = str(self.folder / "worker.py")
            status, stdout, stderr = self.skep("call", script, "echo")
            self.assertEqual((status, stdout), (1, ""))
            self.assertEqual(stderr, self.run_python(script)[2])
            self.assertTrue(stderr.endswith(said))

    def test_an_excepthook_of_the_script_is_called(self):
        self.write("import sys\nsys.excepthook = lambda *error: print('hook', error[0].__name__)\n1 / 0\n")
        self.assertEqual(self.skep("call", "worker.py", "echo"), (1, "", "hook ZeroDivisionError\n"))


class Serve(CommandLine):
    def serve(self, source, *arguments, ready=True, env=()):
        self.write(source)
        script = str(self.folder / "worker.py")
        return self.start_command(
            [sys.executable, "-m", "skep", "serve", script, *arguments], ready, stdio=True, env=dict(env)
        )

    def test_frames_travel_over_stdin_and_stdout(self):
        host = self.serve(WORKER + "worker.run()\n", ready=False)
        hello = host.handshake()
        self.assertEqual((hello["token"], hello["control"], hello["pid"]), ("", False, host.process.pid))
        self.assertEqual(host.call("echo", {"value": 1}), [1, None])
        host.tell({"type": "shutdown", "grace_ms": 1000})
        self.assertIsNone(host.receive())
        self.assertEqual(host.finish(), (0, "", "loading\nstarting\nin echo\nstopping\n"))

    def test_a_host_that_sets_nothing(self):
        self.write(WORKER + "worker.run()\n")
        unset = ["-u", "SKEP_TOKEN", "-u", "SKEP_PROTOCOL", "-u", "SKEP_TRANSPORT"]
        command = ["env", *unset, sys.executable, "-m", "skep", "serve", str(self.folder / "worker.py")]
        host = self.start_command(command, ready=False, stdio=True)
        self.assertEqual(host.handshake()["token"], "")
        self.assertEqual(host.call("sizes", (), [b"abc"]), [3])

    def test_a_host_that_speaks_otherwise(self):
        host = self.serve(WORKER + "worker.run()\n", ready=False, env={"SKEP_PROTOCOL": "2"})
        status, _, stderr = host.finish()
        self.assertEqual(status, 64)
        self.assertRegex(stderr, "^skep: worker.py was started by a pool that speaks protocol 2, but .*\n$")

    def test_the_script_sees_what_it_would_see(self):
        look = (
            "import json, os, sys\n"
            "main = sys.modules['__main__']\n"
            "names = [__file__, __name__, __package__, __spec__, __doc__]\n"
            "seen = [sys.argv, sys.path, names, vars(main) is globals()]\n"
            "print(json.dumps(seen), file=sys.stderr)\n"
            "sys.exit(5)\n"
        )
        (self.folder / "real").mkdir()
        self.write(look, "real/worker.py")
        (self.folder / "link.py").symlink_to("real/worker.py")
        arguments = ["-x", "--help", "--", "a b"]
        for script in ("real/worker.py", "link.py", str(self.folder / "link.py")):
            for safe_path in ("", "1"):
                self.environment["PYTHONSAFEPATH"] = safe_path
                with self.subTest(script=script, safe_path=safe_path):
                    expected = self.run_python(script, *arguments)
                    self.assertEqual(expected[0], 5)
                    self.assertEqual(self.skep("serve", script, *arguments), expected)

    def test_processes_that_multiprocessing_spawns_find_the_script(self):
        host = self.serve(
            "import multiprocessing, skep\n"
            "worker = skep.Worker()\n"
            "def double(x): return 2 * x\n"
            "@worker.command\n"
            "def spawn():\n"
            "    with multiprocessing.get_context('spawn').Pool(1) as pool: return pool.map(double, [1, 2])\n"
            "if __name__ == '__main__': worker.run()\n"
        )
        self.assertEqual(host.call("spawn"), [2, 4])

    def test_a_script_that_ends_without_run(self):
        for source in (WORKER, "print('loading')"):
            host = self.serve(source, ready=False)
            self.assertEqual(host.finish(), (1, "", "loading\n" + FORGOTTEN))


if __name__ == "__main__":
    unittest.main()
