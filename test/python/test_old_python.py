"""An interpreter that is too old is told so, in one sentence."""

import ast
import subprocess
import sys
import unittest

from host import ROOT

PACKAGE = ROOT / "lib" / "python" / "skep"


class OldPython(unittest.TestCase):
    def test_it_says_so_and_leaves(self):
        for how in ("import skep", "from skep import Worker", "import runpy; runpy.run_module('skep')"):
            with self.subTest(how):
                process = subprocess.run(
                    [sys.executable, "-c", f"import sys; sys.version_info = (3, 6, 9, 'final', 0); {how}"],
                    env={"PYTHONPATH": str(PACKAGE.parent)},
                    stdout=subprocess.PIPE,
                    stderr=subprocess.PIPE,
                )
                said = f"skep needs Python 3.8 or later; this is Python 3.6.9 ({sys.executable})\n"
                self.assertEqual(process.stderr.decode(), said)
                self.assertEqual((process.returncode, process.stdout), (64, b""))

    def test_it_can_read_as_far_as_that(self):
        ast.parse((PACKAGE / "__init__.py").read_text(), feature_version=(3, 4))

    def test_the_oldest_that_will_do_can_read_all(self):
        for path in PACKAGE.rglob("*.py"):
            ast.parse(path.read_text(), feature_version=(3, 8))


if __name__ == "__main__":
    unittest.main()
