"""The command line of `python3 -m skep`."""

import argparse
import json
import os
import signal
import socket
import sys
import threading
from typing import Any, Dict, List, NoReturn, Optional, Sequence

from ._process.diagnostics import printable, write_to_stderr
from ._process.exits import EXIT_FAILED, EXIT_NOT_STARTED_BY_POOL, exit_at_once
from ._process.script import become_script, report_missing_run, run_script
from ._tools.cpp_header import to_cpp
from ._tools.description import describe_command, to_json, to_text
from ._wire.channel import Channel, Frame
from ._wire.connection import ConnectError, connect
from ._wire.json_text import decode
from ._wire.messages import encode
from ._wire.protocol import DEFAULT_LIMITS, PROTOCOL_VERSION, __version__
from .worker import Worker


class _Host(threading.Thread):
    """A host of a few lines, in the process of the worker itself, that makes one call.

    Welcomes the script, calls it and asks it to stop over channels, like any host. `answer` is the worker's answer.
    """

    def __init__(self, command: str, args: Dict[str, Any], attachments: Sequence[bytes]) -> None:
        super().__init__(name="skep-host", daemon=True)
        self.answer: Optional[Frame] = None
        self._call = {"type": "call", "id": 1, "command": command, "args": args}
        self._call["attachments"] = [len(part) for part in attachments]
        self._attachments = [memoryview(part) for part in attachments]
        data, data_end = socket.socketpair()
        control, control_end = socket.socketpair()
        self._data, self._control = Channel.over_socket(data), Channel.over_socket(control)
        for name in ("SKEP_WORKER", "SKEP_THREADS", "SKEP_THREAD_CHECKS"):  # in case this runs inside a worker
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
        threading.Event().wait()  # for ever: a closed channel would mean the death of the host

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

    Errors and the output of the script go to stderr. Attachments of the result go to files whose names begin with
    `save`, if it is given. Exit status: 1 if the call or a hook failed or run() was not called, otherwise the status
    of the script.
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
    """Runs the script and returns its exit status."""
    try:
        run_script(source)
    except SystemExit as end:
        return end.code
    return EXIT_FAILED if report_missing_run() else 0


def _show_error(error: Dict[str, Any]) -> None:
    lines = [error["traceback"].rstrip("\n") or f"{error['type']}: {error['message']}"]
    lines += [f"  {key}: {json.dumps(error[key], ensure_ascii=False)}" for key in ("code", "data") if key in error]
    write_to_stderr(printable("\n".join(lines)) + "\n")


def _show_progress(message: Dict[str, Any]) -> None:
    write_to_stderr(printable(f"skep: {message['fraction']:.0%} {message.get('text', '')}".rstrip()) + "\n")


def _show_attachments(parts: Sequence[memoryview], save: Optional[str]) -> None:
    for index, part in enumerate(parts):
        text = f"skep: attachment {index} has {len(part)} bytes"
        if save is not None:
            with open(f"{save}{index}", "wb") as file:
                file.write(part)
            text += f" and is written to {save}{index}"
        print(text, file=sys.stderr)


_CALL = """\
Runs one command of a script, and its start and stop hooks. The result is printed to stdout as JSON; output
of the script and errors go to stderr. Exit status: 0, 1 after an error, 2 if the usage is wrong.
"""
_CALL_EXAMPLE = """\
A VALUE that is JSON is passed as its JSON value, anything else as text:

  python3 -m skep call worker.py predict text=hello top=3 'labels=["a", "b"]' 'zip="01234"'
"""
_DESCRIBE = """\
Prints the commands of a script with their parameters and types. Runs the script up to worker.run(), without
its hooks; output of the script goes to stderr.
"""
_ATTACH = """\
Connects this terminal to the debugger (pdb) of a worker that waits at a breakpoint. Without a PATH, to the one that
has waited longest. Ctrl-D and Ctrl-C detach: the worker goes on.
"""
_SERVE = """\
Runs a script as a worker that talks to its pool over stdin and stdout, for hosts that start workers through
something that forwards these, such as `ssh -T` or `docker run -i`. Output of the script goes to stderr.
"""


def main(program: str = "python3 -m skep") -> NoReturn:
    """Runs the action of the command line and exits. `program` is the name of this program in messages about usage."""
    # `rest`: arguments of a command after an option, or mistakes.
    options, rest = _parser(program).parse_known_args()
    sys.exit(options.run(options, rest))


def _parser(program: str) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog=program, description="Runs worker scripts of skep by hand.")
    parser.add_argument("--version", action="version", version=f"skep {__version__}")
    actions = parser.add_subparsers(metavar="ACTION", required=True)

    def add(name: str, run: Any, summary: str, description: str, epilog: str = "") -> argparse.ArgumentParser:
        action: argparse.ArgumentParser = actions.add_parser(
            name,
            help=summary,
            description=description,
            epilog=epilog,
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )
        action.set_defaults(run=run, parser=action)
        action.add_argument("script", metavar="SCRIPT")
        return action

    call = add("call", _call, "run one command of a script, without a pool", _CALL, _CALL_EXAMPLE)
    call.add_argument("command", metavar="COMMAND")
    call.add_argument("arguments", metavar="NAME=VALUE", nargs="*")
    call.add_argument("--attach", metavar="FILE", action="append", default=[], help="a file to send along")
    call.add_argument("--save", metavar="PREFIX", help="write attachments of the result to PREFIX0, PREFIX1, ...")
    describe = add("describe", _describe, "print the commands of a script", _DESCRIBE)
    form = describe.add_mutually_exclusive_group()
    form.add_argument("--json", action="store_true", help="as JSON")
    form.add_argument("--cpp", action="store_true", help="as a C++ header of typed functions")
    describe.add_argument("--namespace", metavar="NAME", help="of the functions, such as a::b; by default the name of the script")
    attach = actions.add_parser("attach", help="debug a worker that waits at a breakpoint", description=_ATTACH)
    attach.set_defaults(run=_attach, parser=attach)
    attach.add_argument("path", metavar="PATH", nargs="?", help="the worker's socket, from the log")
    serve = add("serve", _serve, "run a script as a worker on stdin and stdout", _SERVE)
    serve.add_argument("arguments", metavar="ARGUMENT", nargs=argparse.REMAINDER)
    return parser


def _call(options: argparse.Namespace, rest: List[str]) -> NoReturn:
    source = _read_script(options.parser, options.script)
    attachments = [_read(options.parser, path) for path in options.attach]
    args = _named_values(options.parser, options.arguments + rest)
    become_script(options.script, [])
    call_once(source, options.command, args, attachments, options.save)


class _Described(BaseException):
    """Raised by worker.run() instead of serving: the script has registered all commands."""


def _describe(options: argparse.Namespace, rest: List[str]) -> int:
    if rest:
        options.parser.error(f"unrecognized arguments: {' '.join(rest)}")
    if options.namespace is not None and not all(options.namespace.split("::")):
        options.parser.error(f"{options.namespace!r} is no namespace: it has the form a or a::b")
    source = _read_script(options.parser, options.script)
    become_script(options.script, [])
    output = os.dup(1)
    os.dup2(2, 1)  # for the script, its threads and its handlers of atexit
    worker = _worker_of(source)
    if worker is None:
        return EXIT_FAILED
    commands = [describe_command(each) for each in worker._commands.values()]
    name = os.path.basename(options.script)
    if options.json:
        text = json.dumps(to_json(commands), indent=2, ensure_ascii=False) + "\n"
    elif options.cpp:
        text = to_cpp(commands, name, options.namespace or os.path.splitext(name)[0])
    else:
        text = to_text(commands)
    _end_with(output, printable(text))


def _end_with(output: int, text: str) -> NoReturn:
    """Writes the text to a descriptor and ends the process, in spite of the script's threads."""
    status = 0
    try:
        with os.fdopen(output, "w", encoding="utf-8", errors="backslashreplace") as file:
            file.write(text)
    except OSError as error:
        write_to_stderr(f"skep: cannot write the description: {error.strerror}\n")
        status = EXIT_FAILED
    exit_at_once(status)


def _worker_of(source: bytes) -> Optional[Worker]:
    """Runs the script that this process has become up to worker.run(). Returns its worker; None if it has none."""
    found: List[Worker] = []

    def end(worker: Worker) -> NoReturn:
        found.append(worker)
        raise _Described

    setattr(Worker, "run", end)
    for name in ("SKEP_PROTOCOL", "SKEP_WORKER"):  # in case this runs inside a worker
        os.environ.pop(name, None)
    try:
        run_script(source)
    except _Described:
        pass
    if not found:
        report_missing_run()
        return None
    return found[0]


def _attach(options: argparse.Namespace, rest: List[str]) -> int:
    if rest:
        options.parser.error(f"unrecognized arguments: {' '.join(rest)}")
    from ._tools.debugger import connect, connect_to_oldest, relay  # with pdb, which is slow to import

    try:
        connection = connect_to_oldest() if options.path is None else connect(options.path)
    except OSError as error:
        place = "" if options.path is None else f" at {options.path}"
        print(f"skep: no breakpoint waits{place}: {error.strerror or error}", file=sys.stderr)
        return EXIT_FAILED
    if connection is None:
        print("skep: no worker of this user waits at a breakpoint", file=sys.stderr)
        return EXIT_FAILED
    try:
        with connection:
            relay(connection)
    except OSError as error:
        print(f"skep: the session is lost: {error.strerror}", file=sys.stderr)
        return EXIT_FAILED
    except KeyboardInterrupt:
        return 128 + signal.SIGINT
    return 0


def _serve(options: argparse.Namespace, rest: List[str]) -> int:
    if rest:
        options.parser.error(f"unrecognized arguments: {' '.join(rest)}")
    if os.isatty(0):
        options.parser.error("stdin is a terminal; a host is to be at its other end (ssh -T, docker run -i)")
    source = _read_script(options.parser, options.script)
    become_script(options.script, options.arguments)
    os.environ.setdefault("SKEP_PROTOCOL", str(PROTOCOL_VERSION))
    os.environ["SKEP_TRANSPORT"] = "stdio"
    try:
        connect()  # before the script can print among the frames
    except ConnectError as error:
        print(f"skep: {error}", file=sys.stderr)
        return EXIT_NOT_STARTED_BY_POOL
    run_script(source)
    return EXIT_FAILED if report_missing_run() else 0


def _read_script(parser: argparse.ArgumentParser, path: str) -> bytes:
    source = _read(parser, path)
    if b"\0" in source:  # such as a zip archive
        parser.error(f"{path} is not Python source: give the file that holds the worker's code")
    return source


def _read(parser: argparse.ArgumentParser, path: str) -> bytes:
    try:
        with open(path, "rb") as file:
            return file.read()
    except OSError as error:
        parser.error(f"cannot read {path}: {error.strerror}")


def _named_values(parser: argparse.ArgumentParser, texts: List[str]) -> Dict[str, Any]:
    values: Dict[str, Any] = {}
    for text in texts:
        name, separator, value = text.partition("=")
        if not separator or not name or name.startswith("-"):
            parser.error(f"{text!r} is not of the form NAME=VALUE")
        if name in values:
            parser.error(f"there are two values for {name!r}")
        values[name] = _value(value)
    return values


def _value(text: str) -> Any:
    try:
        return decode(text.encode())
    except (ValueError, RecursionError):
        return text
