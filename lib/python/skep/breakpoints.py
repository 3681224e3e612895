"""Breakpoints in a worker. The debugger is imported at the first one: pdb is slow to import."""

import sys


def breakpoint() -> None:
    """Stops the caller's thread until a debugger has attached, and lets the debugger control it from there.

    Writes to stderr how to attach: `python3 -m skep attach PATH`, by the same user on the same machine. The debugger is
    pdb. After `continue`, the thread's next breakpoint goes to the same debugger. After `quit` the call fails with
    bdb.BdbQuit. When the debugger detaches, the code runs on.

    In a pool with pool_config::debugging(), Python's own breakpoint() calls this function. Heartbeats and timeouts of
    other pools end a worker that waits too long.

    Raises:
        OSError: the socket cannot be created.
    """
    from .debugger import stop_at

    stop_at(sys._getframe(1))
