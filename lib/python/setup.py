"""Adds skep._loop to the wheel where it can be built. All else is in pyproject.toml.

The module is built for the stable ABI of Python 3.10: one wheel serves all later versions. Without a compiler, or for an
interpreter without that ABI, the wheel is one of pure Python.
"""

import os
import sys
import sysconfig
import tempfile

from setuptools import Extension, setup

STABLE_ABI = ("Py_LIMITED_API", "0x030A0000")
PROBE = "#include <Python.h>\n"


def has_stable_abi():
    is_cpython = sys.implementation.name == "cpython"
    return is_cpython and sys.version_info >= (3, 10) and not sysconfig.get_config_var("Py_GIL_DISABLED")


def can_compile():
    """Returns true if there are a compiler and the headers of this interpreter."""
    from distutils.ccompiler import new_compiler  # of setuptools
    from distutils.sysconfig import customize_compiler

    with tempfile.TemporaryDirectory() as folder:
        source = os.path.join(folder, "probe.c")
        with open(source, "w") as file:
            file.write(PROBE)
        try:
            compiler = new_compiler()
            customize_compiler(compiler)
            compiler.compile([source], folder, [STABLE_ABI], [sysconfig.get_path("include")])
        except Exception:  # each compiler class has errors of its own
            return False
        return True


def loop_module():
    folder = os.path.join(os.path.dirname(os.path.abspath(__file__)), "loop")
    sources = sorted("loop/" + name for name in os.listdir(folder) if name.endswith(".c"))
    headers = sorted("loop/" + name for name in os.listdir(folder) if name.endswith(".h"))
    return Extension("skep._loop", sources, depends=headers, define_macros=[STABLE_ABI], py_limited_api=True)


if has_stable_abi() and can_compile():
    setup(ext_modules=[loop_module()], options={"bdist_wheel": {"py_limited_api": "cp310"}})
else:
    setup()
