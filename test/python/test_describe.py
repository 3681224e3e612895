"""`python3 -m skep describe`: the commands of a script as text, JSON and a C++ header."""

import json
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

from host import ROOT, TIMEOUT

# The header of this worker is compiled among the snippets of the guides.
TYPED = ROOT / "test" / "docs" / "snippets" / "typed_worker.py"
HEADER = ROOT / "test" / "docs" / "snippets" / "typed_worker.inc"


class Describe(unittest.TestCase):
    def run_describe(self, *arguments, status=0):
        """Standard output and standard error."""
        process = subprocess.run(
            [sys.executable, "-m", "skep", "describe", *map(str, arguments)],
            env={**os.environ, "PYTHONPATH": str(ROOT / "lib" / "python"), "SKEP_PROTOCOL": "1", "SKEP_TOKEN": "x"},
            timeout=TIMEOUT,
            capture_output=True,
            text=True,
            check=False,
        )
        self.assertEqual(process.returncode, status, process.stderr)
        return process.stdout, process.stderr

    def write(self, source, name="script.py"):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        path = Path(folder.name) / name
        path.write_text(source)
        return path

    def test_as_text(self):
        text, output = self.run_describe(TYPED)
        self.assertEqual(text.splitlines()[:3], [
            "predict(text: str, top: int = 3) -> Dict[str, float]",
            "    Predicts labels and their probabilities.",
            "embed(image: skep.Array, mask: Optional[skep.Array] = None) -> skep.Array",
        ])
        self.assertIn("stream numbers(count: int)\n", text)
        self.assertIn("new.delete(class_: str, missing: Optional[int], limit = 1.5, **)\n", text)
        self.assertEqual(output, "loading\n")

    def test_as_json(self):
        commands = {each["name"]: each for each in json.loads(self.run_describe("--json", TYPED)[0])}
        self.assertEqual(commands["predict"], {
            "name": "predict",
            "parameters": [
                {"name": "text", "type": "str", "required": True},
                {"name": "top", "type": "int", "required": False, "default": "3"},
            ],
            "takes_any": False,
            "stream": False,
            "returns": "Dict[str, float]",
            "doc": "Predicts labels and their\nprobabilities.\n\nThe rest.",
        })
        self.assertTrue(commands["numbers"]["stream"])
        self.assertTrue(commands["new.delete"]["takes_any"])

    def test_batches_and_engines(self):
        path = self.write(
            "import skep\nfrom typing import List\nworker = skep.Worker()\n"
            "@worker.command(batch=32)\ndef embed(calls: List[skep.Call]) -> List[List[float]]:\n    'Embeds.'\n"
            "@worker.command(batch=8)\ndef plain(calls): pass\n"
            "@worker.engine(slots=64)\ndef generate(engine: skep.Engine) -> None: pass\n"
            "worker.run()\n"
        )
        self.assertEqual(self.run_describe(path)[0].splitlines(), [
            "batch of 32 embed(**) -> List[float]",
            "    Embeds.",
            "batch of 8 plain(**)",
            "stream generate(**)",
        ])
        commands = {each["name"]: each for each in json.loads(self.run_describe("--json", path)[0])}
        self.assertEqual((commands["embed"]["batch"], commands["embed"]["returns"]), (32, "List[float]"))
        self.assertEqual((commands["generate"]["slots"], commands["generate"]["stream"]), (64, True))
        header = self.run_describe("--cpp", path)[0]
        self.assertIn("inline boost::asio::awaitable<std::vector<double>> embed(\n", header)
        self.assertIn("inline boost::asio::awaitable<skep::reply_stream> generate(\n", header)

    def test_as_a_header(self):
        header = self.run_describe("--cpp", TYPED)[0]
        if os.environ.get("SKEP_WRITE"):
            HEADER.write_text(header)
        self.assertEqual(header, HEADER.read_text())
        named = self.run_describe("--cpp", "--namespace", "my-models", TYPED)[0]
        self.assertIn("\nnamespace my_models {\n", named)
        nested = self.run_describe("--cpp", "--namespace", "my::models", TYPED)[0]
        self.assertIn("\nnamespace my::models {\n", nested)
        self.assertIn("'a::' is no namespace", self.run_describe("--cpp", "--namespace", "a::", TYPED, status=2)[1])

    def test_a_header_of_odd_names_and_hints(self):
        path = self.write(
            "import skep, typing\nworker = skep.Worker()\n"
            "@worker.command(name='\\U0001f41d \\x01\"\\\\7')\n"
            "def odd(items: typing.List, table: typing.Dict) -> typing.List: pass\nworker.run()\n",
            name="a\nb.py",
        )
        header = self.run_describe("--cpp", path)[0]
        self.assertIn('skep::request call("\U0001f41d \\001\\"\\\\7");', header)
        self.assertIn("    const boost::json::value& items,\n    const boost::json::value& table) {", header)
        self.assertTrue(header.startswith("// Made by `skep describe --cpp a\\nb.py`: "), header)
        self.assertIn("/// Calls of a\\nb.py. ", header)

    def test_output_of_threads_and_atexit_goes_to_stderr(self):
        path = self.write(
            "import atexit, skep, threading, time\nworker = skep.Worker()\natexit.register(print, 'at exit')\n"
            "threading.Thread(target=threading.Event().wait).start()\n"
            "def chat():\n    while True: print('chat', flush=True); time.sleep(0.001)\n"
            "threading.Thread(target=chat, daemon=True).start()\n"
            "@worker.command\ndef work(): pass\nprint('end', end='')\nworker.run()\n"
        )
        text, output = self.run_describe("--json", path)
        self.assertEqual([each["name"] for each in json.loads(text)], ["work"])
        self.assertIn("end", output)

    def test_hooks_are_not_run(self):
        path = self.write("import skep\nworker = skep.Worker()\n@worker.on_start\ndef load(): 1 / 0\nworker.run()\n")
        self.assertEqual(self.run_describe(path), ("this worker has no commands\n", ""))

    def test_a_script_that_fails_or_ends_early(self):
        self.assertIn("ZeroDivisionError", self.run_describe(self.write("1 / 0"), status=1)[1])
        _, output = self.run_describe(self.write("import skep\nskep.Worker()\n"), status=1)
        self.assertIn("ended without calling worker.run()", output)
        self.assertIn("cannot read", self.run_describe("/no/such", status=2)[1])
        self.assertIn("unrecognized arguments", self.run_describe(TYPED, "--x", status=2)[1])


if __name__ == "__main__":
    unittest.main()
