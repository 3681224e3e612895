"""Write a worker of a skep pool in Python.

    import skep

    worker = skep.Worker()

    @worker.command
    def predict(text, top=3):
        return {"label": "greeting", "top": top}

    worker.run()

The pool starts the script and calls its commands by name; what a command returns is sent back as JSON, and
what it raises travels as a remote error with its type, message and traceback. print() and logging go to the
pool's logs, never into the protocol.
"""

from .call import Call, attachments, current
from .errors import Cancelled
from .version import __version__
from .worker import Worker

__all__ = ["Call", "Cancelled", "Worker", "__version__", "attachments", "current"]
