"""Breakpoints in a worker. The debugger is imported at the first one: pdb is slow to import."""

import sys


def breakpoint() -> None:
    """Stops the caller's thread until a debugger has attached, and lets the debugger control it from there.

    Writes to stderr how to attach: `python3 -m skep attach PATH`, by the same user on the same machine. The debugger is
    pdb. `continue` ends the session, and the thread's next call of this function waits for a debugger again; while pdb
    has breakpoints of its own (`break LINE`), the session goes on. After `quit` the call fails with bdb.BdbQuit. When
    the debugger detaches or dies, its breakpoints are gone and the code runs on.

    In a pool with pool_config::debugging(), Python's own breakpoint() calls this function. Heartbeats and timeouts of
    other pools end a worker that waits too long.

    Raises:
        OSError: the socket cannot be created.
    """
    from .debugger import stop_at

    stop_at(sys._getframe(1))
