"""The package's layers: an import points down, from the public modules to sub-packages, and no imports form a circle."""

import ast
import unittest

from host import ROOT

SDK = ROOT / "lib" / "python"
LAYERS = ["skep._process", "skep._wire", "skep._calls", "skep._profiles", "skep._tools", "skep"]


def module_name(path):
    parts = path.relative_to(SDK).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


MODULES = {module_name(path): path for path in sorted((SDK / "skep").rglob("*.py"))}


def package_of(name):
    return name if MODULES[name].name == "__init__.py" else name.rpartition(".")[0]


def layer_of(name):
    return LAYERS.index(package_of(name))


def imported_names(source, package):
    """The full names that a source text imports, also inside functions and for type checkers alone."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            start = package.split(".")[: len(package.split(".")) - node.level + 1] if node.level else []
            origin = ".".join([*start, *filter(None, [node.module])])
            yield from (f"{origin}.{alias.name}" for alias in node.names)


def imported_modules(source, package, modules):
    """Those of the modules that a source text imports, or imports names from."""
    for name in imported_names(source, package):
        while name and name not in modules:
            name = name.rpartition(".")[0]
        if name:
            yield name


def find_circle(graph):
    """Modules each of which imports the next one, and the last one the first; none if there is no circle."""
    done = set()

    def search(name, path):
        if name in path:
            return path[path.index(name) :]
        for other in graph[name] if name not in done else ():
            circle = search(other, [*path, name])
            if circle:
                return circle
        done.add(name)
        return []

    return next(filter(None, (search(name, []) for name in graph)), [])


class Imports(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.graph = {
            name: sorted(set(imported_modules(path.read_text(), package_of(name), MODULES)))
            for name, path in MODULES.items()
        }

    def test_every_module_is_in_a_layer(self):
        self.assertEqual({package_of(name) for name in MODULES}, set(LAYERS))

    def test_imports_point_down(self):
        upward = [
            f"{name} imports {other}"
            for name, others in self.graph.items()
            for other in others
            if layer_of(other) > layer_of(name)
        ]
        self.assertEqual(upward, [])

    def test_no_imports_form_a_circle(self):
        self.assertEqual(find_circle(self.graph), [])

    def test_a_sub_package_itself_holds_nothing(self):
        for name in LAYERS[:-1]:
            self.assertEqual(len(ast.parse(MODULES[name].read_text()).body), 1, f"{name} holds more than its docstring")

    def test_imports_are_found_wherever_they_are(self):
        source = (
            "import skep.worker\n"
            "from typing import TYPE_CHECKING\n"
            "from . import control\n"
            "def run():\n"
            "    from .._calls.call import Call\n"
            "if TYPE_CHECKING:\n"
            "    from .. import logs\n"
        )
        found = set(imported_modules(source, "skep._profiles", MODULES))
        self.assertEqual(found, {"skep.worker", "skep._profiles.control", "skep._calls.call", "skep.logs"})

    def test_circles_are_found(self):
        self.assertEqual(find_circle({"a": ["b"], "b": ["c", "d"], "c": [], "d": ["b"]}), ["b", "d"])
        self.assertEqual(find_circle({"a": ["b", "c"], "b": ["c"], "c": []}), [])
        self.assertEqual(find_circle({"a": ["a"]}), ["a"])


if __name__ == "__main__":
    unittest.main()
