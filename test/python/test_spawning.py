"""Commands that use multiprocessing, in scripts with and without a guard around worker.run()."""

import sys
import tempfile
import unittest
from pathlib import Path

from host import ROOT, HostCase

SCRIPT = """
import concurrent.futures, multiprocessing, os, skep, sys
worker = skep.Worker()
def square(n): return n * n
def run_again(): worker.run()
@worker.command
def pool(method):
    with multiprocessing.get_context(method).Pool(2) as children: return children.map(square, [1, 2, 3])
@worker.command
def executor(method):
    context = multiprocessing.get_context(method)
    with concurrent.futures.ProcessPoolExecutor(2, mp_context=context) as children:
        return list(children.map(square, [1, 2, 3]))
@worker.command
def process(method, again=False):
    child = multiprocessing.get_context(method).Process(target=run_again if again else square, args=() if again else (1,))
    child.start(); child.join()
    return child.exitcode
@worker.on_stop
def last(): print("stopped")
"""
SAID = (
    "skep: multiprocessing imports script.py in a child, where worker.run() does nothing: "
    "keep the call under `if __name__ == '__main__':`\n"
)
PURPOSE = (
    "skep: multiprocessing started this process inside a skep worker, and only the worker itself has a pool: "
    "call worker.run() under `if __name__ == '__main__':` alone\n"
)
GUARDED = "if __name__ == '__main__': worker.run()\n"
IN_A_FUNCTION = "def main(): worker.run()\nmain()\n"


class Spawning(HostCase):
    def check(self, end, said, **options):
        for method in ("spawn", "forkserver"):
            for command, answer in (("pool", [1, 4, 9]), ("executor", [1, 4, 9]), ("process", 0)):
                with self.subTest(f"{method} {command}"):
                    host = self.start_script(SCRIPT + end, **options)
                    self.assertEqual(host.call(command, {"method": method}), answer)
                    host.tell({"type": "shutdown", "grace_ms": 1000})
                    status, stdout, stderr = host.finish()
                    self.assertEqual(status, 0)
                    lines = set((stdout + stderr).splitlines(keepends=True))
                    self.assertEqual(lines, {"stopped\n", *said})

    def test_a_script_without_guard(self):
        self.check("worker.run()\n", [SAID])

    def test_a_script_that_calls_run_in_a_function(self):
        self.check(IN_A_FUNCTION, [SAID])

    def test_a_script_with_guard(self):
        self.check(GUARDED, [])

    def test_over_stdio(self):
        self.check("worker.run()\n", [SAID], stdio=True)

    def test_a_child_that_calls_run_on_purpose(self):
        for end, said in ((GUARDED, []), ("worker.run()\n", [SAID])):
            host = self.start_script(SCRIPT + end)
            self.assertEqual(host.call("process", {"method": "spawn", "again": True}), 64)
            host.tell({"type": "shutdown", "grace_ms": 1000})
            status, stdout, stderr = host.finish()
            self.assertEqual((status, stdout), (0, "stopped\n"))
            self.assertEqual(stderr, "".join(said) + PURPOSE)

    def test_a_module_that_is_run_as_the_script(self):
        with tempfile.TemporaryDirectory() as folder:
            (Path(folder) / "service.py").write_text(SCRIPT + "worker.run()\n")
            path = f"{folder}:{ROOT / 'lib' / 'python'}"
            host = self.start_command([sys.executable, "-m", "service"], env={"PYTHONPATH": path})
            self.assertEqual(host.call("pool", {"method": "spawn"}), [1, 4, 9])


if __name__ == "__main__":
    unittest.main()
