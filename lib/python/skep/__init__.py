"""Write a worker of a skep pool in Python.

    import skep

    worker = skep.Worker()

    @worker.command
    def predict(text, top=3):
        return {"label": "greeting", "top": top}

    worker.run()

The pool starts the script and calls its commands by name; what a command returns is sent back as JSON, and
what it raises travels as a remote error with its type, message and traceback. print() and logging go to the
pool's logs, never into the protocol. `worker.call("predict", text="hello")` does without a pool, for unit
tests, and so does `python3 -m skep call worker.py predict text=hello`.

The type of a remote error is the name of the exception's class as tracebacks have it: `module.QualName`, and
`QualName` alone for a builtin or a class of the script itself. What the SDK itself answers with is in this
package, so `skep.UnknownCommand` and the like never are exceptions of somebody else. `raise skep.Error(...)`
says that the caller is at fault.
"""

import sys

# For interpreters that cannot even parse the rest of the package; this file is one that they can.
if sys.version_info < (3, 8):
    running = sys.version_info[:3] + (sys.executable,)
    sys.stderr.write("skep needs Python 3.8 or later; this is Python %d.%d.%d (%s)\n" % running)
    sys.exit(64)

from ._calls.call import Call, attachments, call_host, call_host_async, current, progress
from ._calls.telemetry import emit, span, traceparent
from ._profiles.thread_checks import guard
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
    "Call",
    "Cancelled",
    "DeadlineExceeded",
    "Error",
    "HostError",
    "InvalidArguments",
    "ResultTooLarge",
    "Unhealthy",
    "UnknownCommand",
    "UnserializableResult",
    "Worker",
    "__version__",
    "attachments",
    "call_host",
    "call_host_async",
    "current",
    "emit",
    "fake_tools",
    "guard",
    "progress",
    "span",
    "traceparent",
]
