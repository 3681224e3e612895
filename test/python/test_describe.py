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

    def write(self, source):
        file = tempfile.NamedTemporaryFile("w", suffix=".py")
        self.addCleanup(file.close)
        file.write(source)
        file.flush()
        return file.name

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

    def test_as_a_header(self):
        header = self.run_describe("--cpp", TYPED)[0]
        if os.environ.get("SKEP_WRITE"):
            HEADER.write_text(header)
        self.assertEqual(header, HEADER.read_text())
        named = self.run_describe("--cpp", "--namespace", "my-models", TYPED)[0]
        self.assertIn("\nnamespace my_models {\n", named)

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
