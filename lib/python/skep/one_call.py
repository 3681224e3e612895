"""Calls one command of a script without a pool: a host of a few lines, in the process of the worker itself.

The script notices no difference: it is welcomed, called and asked to stop over channels, as by any host.
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
from .saying import printable, say
from .script import run_script
from .version import PROTOCOL_VERSION

EXIT_FAILED = 1


class _Host(threading.Thread):
    """The other end of the channels. `answer` is that of the worker, once it has given one."""

    def __init__(self, command: str, args: Dict[str, Any], attachments: Sequence[bytes]) -> None:
        super().__init__(name="skep-host", daemon=True)
        self.answer: Optional[Frame] = None
        self._call = {"type": "call", "id": 1, "command": command, "args": args}
        self._call["attachments"] = [len(part) for part in attachments]
        self._attachments = [memoryview(part) for part in attachments]
        data, data_end = socket.socketpair()
        control, control_end = socket.socketpair()
        self._data, self._control = Channel.over_socket(data), Channel.over_socket(control)
        for name in ("SKEP_WORKER", "SKEP_THREADS", "SKEP_THREAD_CHECKS"):  # where this runs inside a worker
            os.environ.pop(name, None)
        os.environ.update(
            SKEP_PROTOCOL=str(PROTOCOL_VERSION),
            SKEP_TOKEN="",
            SKEP_TRANSPORT="socket",
            SKEP_DATA_FD=str(data_end.detach()),
            SKEP_CONTROL_FD=str(control_end.detach()),
        )

    def run(self) -> None:
        self._data.receive()  # hello
        self._control.send([encode({"type": "welcome", "limits": DEFAULT_LIMITS._asdict()})])
        self._data.receive()  # ready
        self._data.send([encode(self._call)], self._attachments)
        self.answer = self._receive_answer()
        self._control.send([encode({"type": "shutdown", "grace_ms": 0})])
        threading.Event().wait()  # for ever: a channel that closes early means that the host has died

    def _receive_answer(self) -> Optional[Frame]:
        while True:
            frame = self._data.receive()
            message = frame.message if frame is not None else {}
            if message.get("type") == "progress":
                _show_progress(message)
            elif message.get("type") == "tool_call":
                self._refuse(message)
            else:
                return frame

    def _refuse(self, call: Dict[str, Any]) -> None:
        error = {"type": "skep.UnknownTool", "message": f"there is no tool '{call['name']}' without a pool"}
        self._control.send([encode({"type": "tool_error", "tool_call": call["tool_call"], "error": error})])


def call_once(
    source: bytes, command: str, args: Dict[str, Any], attachments: Sequence[bytes], save: Optional[str]
) -> NoReturn:
    """Runs the script that this process has become for one call, prints the result to stdout and exits.

    What the script prints goes to stderr, and so does an error. Attachments of the result go to files whose
    names begin with `save`, if that is given. Exit status: 1 if the call or a hook failed or run() was not
    called, otherwise that of the script.
    """
    output = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    host = _Host(command, args, attachments)
    connect()
    host.start()
    status = _run_to_its_end(source)
    if host.answer is None:
        sys.exit(status)
    if host.answer.message["type"] == "error":
        _show_error(host.answer.message["error"])
        sys.exit(EXIT_FAILED)
    try:
        with output:
            output.write(printable(json.dumps(host.answer.message["value"], indent=2, ensure_ascii=False)) + "\n")
        _show_attachments(host.answer.attachments, save)
    except OSError as error:
        print(f"skep: cannot write the result: {error}", file=sys.stderr)
        sys.exit(EXIT_FAILED)
    sys.exit(status)


def _run_to_its_end(source: bytes) -> Any:
    """The status that the script exits with."""
    try:
        run_script(source)
    except SystemExit as end:
        return end.code
    return EXIT_FAILED if missing_run.complain() else 0


def _show_error(error: Dict[str, Any]) -> None:
    lines = [error["traceback"].rstrip("\n") or f"{error['type']}: {error['message']}"]
    lines += [f"  {key}: {json.dumps(error[key], ensure_ascii=False)}" for key in ("code", "data") if key in error]
    say(printable("\n".join(lines)) + "\n")


def _show_progress(message: Dict[str, Any]) -> None:
    say(printable(f"skep: {message['fraction']:.0%} {message.get('text', '')}".rstrip()) + "\n")


def _show_attachments(parts: Sequence[memoryview], save: Optional[str]) -> None:
    for index, part in enumerate(parts):
        said = f"skep: attachment {index} has {len(part)} bytes"
        if save is not None:
            with open(f"{save}{index}", "wb") as file:
                file.write(part)
            said += f" and is written to {save}{index}"
        print(said, file=sys.stderr)
