"""The type hints: of the SDK itself, and as they show in a script that uses it."""

import importlib.util
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

from host import ROOT

SDK = ROOT / "lib" / "python"

TYPED = """
import dataclasses
from typing import Dict, List, Optional

import skep

worker = skep.Worker()
model: Dict[str, float] = {}

@dataclasses.dataclass
class Label:
    name: str
    score: float

@worker.command
def predict(text: str, top: int = 3) -> List[Label]:
    return [Label(name, score * len(text)) for name, score in model.items()][:top]

@worker.command("size")
def size_of_attachments() -> int:
    parts: List[memoryview] = skep.attachments()
    return sum(len(part) for part in parts)

@worker.command(name="describe")
def describe_call(verbose: bool) -> Optional[str]:
    call: skep.Call = skep.current()
    try:
        return f"{call.id} {call.remaining}" if verbose else call.correlation_id
    except skep.Cancelled:
        model.clear()
        raise
    except ValueError as error:
        raise skep.Error("bad_call", str(error), data={"id": call.id}) from error

@worker.command()
def name() -> str:
    return "none" if worker.slot is None else worker.slot.upper()

@worker.on_start
def load() -> None:
    model["again" if worker.previous_exit else "first"] = 1.0

@worker.on_stop
def save() -> Dict[str, float]:
    return model

@worker.health_check
def is_well() -> bool:
    return bool(model)

@worker.command(batch=32, wait_ms=1.5, batch_errors="split")
def embed(calls: List[skep.Call]) -> List[float]:
    return [float(len(call.args["text"])) for call in calls]

@worker.command("later", batch=2)
async def embed_later(calls: List[skep.Call]) -> List[float]:
    return embed(calls)

@worker.engine("generate", slots=64)
def generate(engine: skep.Engine) -> None:
    for step in engine:
        calls: List[skep.Call] = step.new + step.gone + step.stalled
        for call in calls:
            engine.send(call, {"token": 1})
            engine.finish(call, None)
            engine.fail(call, skep.Error("code"))

vectors: List[List[float]] = worker.call_batch("embed", [{"text": "a"}, {"text": "b"}])
best: Label = predict("text", top=1)[0]
seen: List[Dict[str, float]] = worker.call("predict", text="text", top=1)
memory: memoryview = skep.shared(4096)
size: int = worker.call("size", [b"one", bytearray(b"two"), memoryview(b"three")], command=1)
code: str = skep.Error("code", "message").code
"""

# Each line has the one error that is named at its end. What is of type Any has none.
WRONG = """
predict(1)  # arg-type
predict("text", top="1")  # arg-type
predict("text")[0].colour  # attr-defined
size_of_attachments(1)  # call-arg
size_of_attachments().upper()  # attr-defined
describe_call(True).upper()  # union-attr
name() + 1  # operator
save()[1]  # index
is_well().upper()  # attr-defined
skep.attachments()[0].upper()  # attr-defined
skep.current().upper()  # attr-defined
skep.shared("4096")  # arg-type
skep.shared(4096).upper()  # attr-defined
skep.current().remaining + 1  # operator
problem: Exception = skep.Cancelled()  # assignment
worker.slot.upper()  # union-attr
worker.previous_exit.upper()  # union-attr
worker.command(5)  # call-overload
worker.command("name", batch="1")  # call-overload
worker.command("name", batch=1, batch_errors="none")  # call-overload
worker.call_batch("embed", 1)  # arg-type
worker.engine("name")  # call-arg
worker.engine(slots=1)(predict)  # type-var
embed([1])  # list-item
worker.on_start(predict)  # type-var
worker.on_stop(predict)  # type-var
worker.health_check(predict)  # type-var
worker.run("now")  # call-arg
worker.call()  # call-arg
worker.call(5)  # arg-type
worker.call("size", b"one")  # arg-type
skep.Error()  # call-arg
skep.Error(404)  # arg-type
skep.Error("code", data=1).code + 1  # operator
wrong: skep.Cancelled = skep.UnknownCommand("name")  # assignment
"""


def find_mypy():
    """The command that runs mypy and its version; none if there is no mypy of use."""
    installed = importlib.util.find_spec("mypy")
    command = [sys.executable, "-m", "mypy"] if installed else [shutil.which("mypy")]
    if command == [None]:
        return None, ()
    said = subprocess.run([*command, "--version"], stdout=subprocess.PIPE).stdout.decode()
    version = tuple(map(int, re.findall(r"\d+", said)[:2]))
    return (command, version) if version >= (1, 0) else (None, ())


class Types(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        command, version = find_mypy()
        if command is None:
            raise unittest.SkipTest("mypy 1.0 or later is not installed")
        folder = tempfile.TemporaryDirectory(prefix="skep-types-")
        cls.addClassCleanup(folder.cleanup)
        cls.folder = Path(folder.name)
        cls.mypy = [*command, "--strict", "--config-file=", f"--cache-dir={folder.name}/cache"]
        cls.mypy += ["--no-error-summary", "--no-color-output"]
        if version < (1, 17):  # later ones do not know Python 3.8 any more
            cls.mypy.append("--python-version=3.8")

    def run_mypy(self, target):
        environment = {**os.environ, "MYPYPATH": str(SDK)}
        process = subprocess.run(
            [*self.mypy, str(target)],
            cwd=self.folder,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
        )
        return process.returncode, process.stdout.decode()

    def run_mypy_on_script(self, source):
        (self.folder / "worker.py").write_text(source)
        return self.run_mypy("worker.py")

    def test_of_the_sdk(self):
        self.assertEqual(self.run_mypy(SDK / "skep"), (0, ""))

    def test_of_a_script(self):
        self.assertEqual(self.run_mypy_on_script(TYPED + "\nworker.run()\n"), (0, ""))

    def test_what_a_script_does_wrong_is_found(self):
        source = TYPED + WRONG
        lines = enumerate(source.splitlines(), 1)
        expected = [(number, line.rpartition("  # ")[2]) for number, line in lines if "  # " in line]
        status, output = self.run_mypy_on_script(source)
        found = re.findall(r"^worker\.py:(\d+): error: .*\[([a-z-]+)\]$", output, re.M)
        self.assertEqual([(int(number), code) for number, code in found], expected, output)
        self.assertEqual(status, 1)


if __name__ == "__main__":
    unittest.main()
