"""Knows the interpreter's standard library: which modules it has, and what is in each."""

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
    warnings.simplefilter("ignore")  # of the modules that are read, not of this one
    print(f"Python {platform.python_version()} is ready to read {LIBRARY}")


@worker.command
def modules():
    """Where the library is, and the path of every module in it."""
    paths = (path for path in LIBRARY.rglob("*.py") if INSTALLED_INTO_IT.isdisjoint(path.parts))
    return {"root": LIBRARY, "paths": sorted(path.relative_to(LIBRARY) for path in paths if path.is_file())}


@worker.command
def read(path):
    """Counts what is in one module. One that is not Python raises SyntaxError, and the caller sees that."""
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
