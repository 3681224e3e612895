"""The conformance program: what keeps the protocol passes, and what breaks a rule is told so."""

import os
import shutil
import subprocess
import sys
import unittest
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

KIT = Path(__file__).resolve().parent
SDK = os.environ.get("SKEP_SDK", str(KIT.parents[1] / "lib" / "python"))
PYTHON_WORKER = (sys.executable, KIT / "python_worker.py")
WITH_THREADS = ("env", "SKEP_THREADS=4", *PYTHON_WORKER)
ASYNC_WORKER = (sys.executable, KIT / "async_worker.py")
NODE = shutil.which("node")
CPP_WORKER = os.environ.get("SKEP_CPP_WORKER", "")

TIMEOUT = 500  # the slowest takes ten


def run(*arguments):
    """Exit status and output of the conformance program."""
    finished = subprocess.run(
        [sys.executable, KIT / "run", *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=TIMEOUT,
        env={**os.environ, "PYTHONPATH": str(SDK)},
    )
    return finished.returncode, finished.stdout


class PassCase(unittest.TestCase):
    def passes(self, transport, *worker, at_least):
        # Patience is for machines that have more to do than this.
        status, output = run("--transport", transport, "--patience", "60", *worker)
        self.assertEqual(status, 0, output)
        kept = sum(line.startswith("kept") for line in output.splitlines())
        self.assertGreaterEqual(kept, at_least, output)


class PassTest(PassCase):
    def test_python_sdk_over_sockets(self):
        self.passes("socket", *PYTHON_WORKER, at_least=85)

    def test_python_sdk_over_stdio(self):
        self.passes("stdio", *PYTHON_WORKER, at_least=68)

    def test_python_sdk_with_threads(self):
        self.passes("socket", *WITH_THREADS, at_least=90)
        self.passes("stdio", *WITH_THREADS, at_least=72)

    def test_python_sdk_with_async_commands(self):
        self.passes("socket", *ASYNC_WORKER, at_least=90)
        self.passes("stdio", *ASYNC_WORKER, at_least=72)

    def test_workers_that_the_broken_ones_derive_from(self):
        self.passes("socket", sys.executable, KIT / "broken" / "honest.py", at_least=74)
        self.passes("socket", sys.executable, KIT / "broken" / "sharing.py", at_least=84)


@unittest.skipUnless(CPP_WORKER, "SKEP_CPP_WORKER names no program")
class CppTest(PassCase):
    def test_cpp_over_sockets(self):
        self.passes("socket", CPP_WORKER, at_least=91)

    def test_cpp_over_stdio(self):
        self.passes("stdio", CPP_WORKER, at_least=69)


@unittest.skipUnless(NODE, "node is not installed; test/install-dependencies --ci installs it")
class NodeTest(PassCase):
    def test_node_over_sockets(self):
        self.passes("socket", NODE, KIT / "node_worker.js", at_least=75)

    def test_node_over_stdio(self):
        self.passes("stdio", NODE, KIT / "node_worker.js", at_least=68)


class BrokenTest(unittest.TestCase):
    """Each script in the folder has the name of the rule that it breaks."""

    def test_each_is_found_out(self):
        scripts = sorted(path for path in (KIT / "broken").glob("*.py") if path.stem not in ("honest", "sharing"))
        self.assertGreaterEqual(len(scripts), 30)
        with ThreadPoolExecutor(4) as workers:
            for script, (status, output) in zip(scripts, workers.map(self.try_script, scripts)):
                with self.subTest(script.stem):
                    self.assertEqual(status, 1, output)
                    self.assertIn(f"broken  {script.stem} ", output)

    def try_script(self, script):
        transport = "stdio" if script.stem == "clean_stdout" else "socket"
        return run("--transport", transport, "--patience", "2", "--rule", script.stem, sys.executable, script)


class CommandLineTest(unittest.TestCase):
    def refuses(self, complaint, *arguments):
        status, output = run(*arguments)
        self.assertEqual(status, 2, output)
        self.assertIn(complaint, output)

    def test_lists_rules(self):
        status, output = run("--list")
        self.assertEqual(status, 0)
        self.assertRegex(output, "(?m)^credit_chunks +sends no more chunks than")

    def test_refuses_what_makes_no_sense(self):
        self.refuses("PROGRAM is missing")
        self.refuses("there is no rule 'moon'", "--rule", "moon", *PYTHON_WORKER)
        self.refuses("there is no program 'no-such-program'", "no-such-program")
        self.refuses("invalid choice: 'pigeon'", "--transport", "pigeon", *PYTHON_WORKER)
        self.refuses("it takes 0.1 to 600 seconds", "--patience", "0", *PYTHON_WORKER)

    def test_says_why_a_worker_does_not_start(self):
        status, output = run(sys.executable, "-c", "raise SystemExit('no such model')")
        self.assertEqual(status, 1)
        self.assertIn("broken  hello", output)
        self.assertIn("no such model", output)
        self.assertIn("no other rule was tried", output)

    def test_says_what_does_not_apply(self):
        status, output = run("--rule", "clean_stdout", *PYTHON_WORKER)
        self.assertEqual(status, 0)
        self.assertRegex(output, "n/a +clean_stdout +stdout is free")


if __name__ == "__main__":
    unittest.main()
