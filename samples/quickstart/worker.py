"""Lists and counts the modules of the interpreter's standard library."""

import ast
import pathlib
import platform
import sysconfig
import warnings

import skep

LIBRARY = pathlib.Path(sysconfig.get_paths()["stdlib"])
INSTALLED_INTO_IT = {"site-packages", "dist-packages"}

worker = skep.Worker()


@worker.on_start
def introduce():
    warnings.simplefilter("ignore")  # warnings about the modules that are read
    print(f"Python {platform.python_version()} is ready to read {LIBRARY}")


@worker.command
def modules():
    """Returns the folder of the library, and the path of every module in it."""
    paths = (path for path in LIBRARY.rglob("*.py") if INSTALLED_INTO_IT.isdisjoint(path.parts))
    return {"root": LIBRARY, "paths": sorted(path.relative_to(LIBRARY) for path in paths if path.is_file())}


@worker.command
def read(path):
    """Counts lines, functions and classes of one module. Invalid Python raises SyntaxError for the caller."""
    source = (LIBRARY / path).read_bytes()
    nodes = list(ast.walk(ast.parse(source, path)))
    functions = [node for node in nodes if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))]
    longest = max(functions, key=length, default=None)
    return {
        "lines": source.count(b"\n"),
        "classes": sum(isinstance(node, ast.ClassDef) for node in nodes),
        "functions": len(functions),
        "longest": longest and {"name": longest.name, "lines": length(longest)},
    }


def length(function):
    return function.end_lineno - function.lineno + 1


if __name__ == "__main__":
    worker.run()
