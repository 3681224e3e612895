"""The wheel: it builds without a package index, with and without a compiler, and works where it is installed."""

import importlib.util
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import tempfile
import unittest
import zipfile
from pathlib import Path

import skep
from host import ROOT

SDK = ROOT / "lib" / "python"
BUILD = "import sys; from setuptools import build_meta; build_meta.build_wheel(sys.argv[1])"
COMMAND_LINE = "import runpy; runpy.run_module('skep', run_name='__main__')"
INSTALLED = "import importlib.metadata, skep; print(skep.__file__, importlib.metadata.version('skep'))"


def missing_tool():
    """What building a wheel needs and does not find, if anything."""
    if importlib.util.find_spec("setuptools") is None:
        return "setuptools is not installed"
    import setuptools

    major = int(setuptools.__version__.partition(".")[0])
    if major < 66:
        return f"setuptools {setuptools.__version__} is too old, 66 is needed"
    # Later ones can do without.
    return "wheel is not installed" if major < 71 and importlib.util.find_spec("wheel") is None else None


def run_python(code, *arguments, cwd, env=()):
    """Runs Python in a folder, without a way to the package in the checkout; returns what it prints."""
    environment = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
    environment.update(env)
    process = subprocess.run(
        [sys.executable, "-c", code, *map(str, arguments)],
        cwd=cwd,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )
    output = process.stdout.decode()
    assert process.returncode == 0, output
    return output


class WheelCase(unittest.TestCase):
    """Builds a wheel in an environment, for the tests of a subclass."""

    environment = {}

    @classmethod
    def setUpClass(cls):
        missing = missing_tool()
        if missing:
            raise unittest.SkipTest(missing)
        folder = tempfile.TemporaryDirectory(prefix="skep-wheel-")
        cls.addClassCleanup(folder.cleanup)
        cls.folder = Path(folder.name)
        # In a copy, as lib/python/README.md has it: building leaves files behind.
        shutil.copytree(SDK, cls.folder / "copy")
        shutil.copy(ROOT / "LICENSE", cls.folder / "copy")
        (cls.folder / "wheel").mkdir()
        cls.output = run_python(BUILD, cls.folder / "wheel", cwd=cls.folder / "copy", env=cls.environment)
        (cls.path,) = (cls.folder / "wheel").iterdir()
        cls.wheel = zipfile.ZipFile(cls.path)
        cls.addClassCleanup(cls.wheel.close)

    def info(self, name):
        """The text of a file about the wheel."""
        return self.wheel.read(f"skep-{skep.__version__}.dist-info/{name}").decode()

    def names(self):
        """The files of the package."""
        about = f"skep-{skep.__version__}.dist-info/"
        return sorted(name for name in self.wheel.namelist() if not name.startswith(about))

    def sources(self):
        files = (path for path in (SDK / "skep").rglob("*") if path.is_file() and path.parent.name != "__pycache__")
        return sorted(str(path.relative_to(SDK)) for path in files)


class PureWheel(WheelCase):
    """The wheel of a machine without a compiler."""

    environment = {"CC": "/nowhere/cc"}

    def test_its_version_is_that_of_the_project(self):
        project = re.search(r"project\(skep VERSION ([\d.]+)", (ROOT / "CMakeLists.txt").read_text())
        self.assertEqual(skep.__version__, project[1])
        self.assertEqual(self.path.name, f"skep-{project[1]}-py3-none-any.whl")

    def test_what_it_says_of_itself(self):
        said = self.info("METADATA").splitlines()
        for line in ("Name: skep", "License: BSL-1.0", "Requires-Python: >=3.8"):
            self.assertIn(line, said)
        self.assertIn((SDK / "README.md").read_text(), self.info("METADATA"))
        self.assertFalse([line for line in said if line.startswith("Requires-Dist")])

    def test_the_package_is_all_that_is_in_it(self):
        self.assertEqual(self.names(), self.sources())
        self.assertIn("skep/py.typed", self.names())
        licences = [name for name in self.wheel.namelist() if name.endswith("/LICENSE")]
        self.assertEqual([self.wheel.read(name) for name in licences], [(ROOT / "LICENSE").read_bytes()])

    def test_setuptools_will_go_on_taking_it(self):
        self.assertNotIn("SetuptoolsDeprecationWarning", self.output)

    def test_it_works_where_it_is_unpacked(self):
        target = self.folder / "target"
        self.wheel.extractall(target)  # all that installing does with a wheel of pure Python
        module = target / "skep" / "__init__.py"
        self.assertEqual(run_python(INSTALLED, cwd=target), f"{module} {skep.__version__}\n")
        self.assertEqual(run_python(COMMAND_LINE, "--version", cwd=target), f"skep {skep.__version__}\n")


HAS_HEADERS = (Path(sysconfig.get_path("include")) / "Python.h").exists() and shutil.which("cc") is not None


@unittest.skipUnless(HAS_HEADERS, "neither compiler nor headers of this Python; test/install-dependencies installs them")
@unittest.skipIf(sys.version_info < (3, 10), "Python 3.8 and 3.9 have no stable ABI with all that the module needs")
class WheelWithModule(WheelCase):
    def test_its_name_says_where_it_loads(self):
        self.assertRegex(self.path.name, f"^skep-{skep.__version__}-cp310-abi3-linux_.*\\.whl$")

    def test_the_module_is_all_that_it_has_more(self):
        self.assertEqual(self.names(), sorted([*self.sources(), "skep/_loop.abi3.so"]))

    def test_it_works_where_it_is_unpacked(self):
        target = self.folder / "target"
        self.wheel.extractall(target)
        found = run_python("from skep import _loop; print(_loop.__file__)", cwd=target)
        self.assertEqual(found, f"{target / 'skep' / '_loop.abi3.so'}\n")


if __name__ == "__main__":
    unittest.main()
