"""Whether threads of this interpreter run Python code at the same time."""

import sys
import sysconfig


def threading_kind() -> str:
    """What hello says of it: nothing for an interpreter with a GIL."""
    if not sysconfig.get_config_var("Py_GIL_DISABLED"):
        return ""
    # It comes back when a module is imported that cannot do without.
    has_gil = getattr(sys, "_is_gil_enabled", lambda: True)()
    return " (free-threaded build, with its GIL on)" if has_gil else " (free-threaded)"
