"""Write a worker of a skep pool in Python.

    import skep

    worker = skep.Worker()

    @worker.command
    def predict(text, top=3):
        return {"label": "greeting", "top": top}

    worker.run()

The pool starts the script and calls its commands by name. The result of a command is sent back as JSON; an
exception travels as a remote error with its type, message and traceback. print() and logging go to the pool's
logs, never into the protocol. `worker.call("predict", text="hello")` runs a command without a pool, for unit
tests, as does `python3 -m skep call worker.py predict text=hello`.

The type of a remote error is the name of the exception's class as in tracebacks: `module.QualName`, or
`QualName` alone for a builtin or a class of the script itself. The SDK's own errors are in this package, so a
type such as `skep.UnknownCommand` always comes from the SDK. `raise skep.Error(...)` blames the caller.
"""

import sys

# For old interpreters: they can parse this file, but not the rest of the package.
if sys.version_info < (3, 8):
    running = sys.version_info[:3] + (sys.executable,)
    sys.stderr.write("skep needs Python 3.8 or later; this is Python %d.%d.%d (%s)\n" % running)
    sys.exit(64)

from ._calls.call import Call, attachments, call_host, call_host_async, current, progress
from ._calls.engine import Engine, Step
from ._calls.sharing import shared
from ._calls.telemetry import emit, span, traceparent
from ._profiles.thread_checks import guard
from ._tools.breakpoints import breakpoint
from ._wire.arrays import Array, array
from ._wire.errors import (
    Cancelled,
    DeadlineExceeded,
    Error,
    HostError,
    InvalidArguments,
    ResultTooLarge,
    Unhealthy,
    UnknownCommand,
    UnserializableResult,
)
from ._wire.protocol import __version__
from .local_call import fake_tools
from .worker import Worker


__all__ = [
    "Array",
    "Call",
    "Cancelled",
    "DeadlineExceeded",
    "Engine",
    "Error",
    "HostError",
    "InvalidArguments",
    "ResultTooLarge",
    "Step",
    "Unhealthy",
    "UnknownCommand",
    "UnserializableResult",
    "Worker",
    "__version__",
    "array",
    "attachments",
    "breakpoint",
    "call_host",
    "call_host_async",
    "current",
    "emit",
    "fake_tools",
    "guard",
    "progress",
    "shared",
    "span",
    "traceparent",
]
