"""Calls one command of a script without a pool: a host of a few lines, in the process of the worker itself.

The script notices no difference: it is greeted, called and asked to stop over channels, as by any host.
"""

import json
import os
import socket
import sys
import threading
from typing import Any, Dict, NoReturn, Optional, Sequence

from . import missing_run
from .channel import Channel, Frame
from .connection import connect
from .limits import DEFAULT_LIMITS
from .messages import encode
from .script import run_script
from .version import PROTOCOL_VERSION

EXIT_FAILED = 1


class _Host(threading.Thread):
    """The other end of the channels. `answer` is the worker's, once it has one."""

    def __init__(self, call: Dict[str, Any], attachments: Sequence[bytes]) -> None:
        super().__init__(name="skep-one-call", daemon=True)
        self.answer: Optional[Frame] = None
        self._call = call
        self._attachments = [memoryview(part) for part in attachments]
        data, data_end = socket.socketpair()
        control, control_end = socket.socketpair()
        self._data, self._control = Channel.over_socket(data), Channel.over_socket(control)
        os.environ.pop("SKEP_WORKER", None)  # of a worker that this is started in
        os.environ.update(
            SKEP_PROTOCOL=str(PROTOCOL_VERSION),
            SKEP_TOKEN="",
            SKEP_TRANSPORT="socket",
            SKEP_DATA_FD=str(data_end.detach()),
            SKEP_CONTROL_FD=str(control_end.detach()),
        )

    def run(self) -> None:
        hello, welcome = self._data.receive(), {"type": "welcome", "limits": DEFAULT_LIMITS._asdict()}
        ...
