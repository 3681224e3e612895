"""What `python3 -m skep` understands."""

import argparse
import os
import sys
from typing import Any, Dict, List, NoReturn

from . import missing_run
from .connection import EXIT_NOT_STARTED_BY_POOL, ConnectError, connect
from .json_text import decode
from .one_call import EXIT_FAILED, call_once
from .script import become_script, run_script
from .version import PROTOCOL_VERSION, __version__

_CALL = """\
Runs one command of a script, and its start and stop hooks. The result is printed to stdout as JSON; what the
script prints goes to stderr, and so do errors. Exit status: 0, 1 after an error, 2 if the usage is wrong.
"""
_CALL_EXAMPLE = """\
A VALUE that is JSON is passed as what it stands for, anything else as text:

  python3 -m skep call worker.py predict text=hello top=3 'labels=["a", "b"]' 'zip="01234"'
"""
_SERVE = """\
Runs a script as a worker that talks to its pool over stdin and stdout, for hosts that start workers through
something that forwards these, such as `ssh -T` or `docker run -i`. What the script prints goes to stderr.
"""


def main() -> NoReturn:
    """Does what the command line asks for and exits."""
    # What argparse leaves over: arguments of a command that come after an option, or something wrong.
    options, rest = _parser().parse_known_args()
    sys.exit(options.run(options, rest))


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python3 -m skep", description="Runs worker scripts of skep by hand.")
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
    serve = add("serve", _serve, "run a script as a worker on stdin and stdout", _SERVE)
    serve.add_argument("arguments", metavar="ARGUMENT", nargs=argparse.REMAINDER)
    return parser


def _call(options: argparse.Namespace, rest: List[str]) -> NoReturn:
    source = _read_script(options.parser, options.script)
    attachments = [_read(options.parser, path) for path in options.attach]
    args = _named_values(options.parser, options.arguments + rest)
    become_script(options.script, [])
    call_once(source, options.command, args, attachments, options.save)


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
        connect()  # before the script can print anything among the frames
    except ConnectError as error:
        print(f"skep: {error}", file=sys.stderr)
        return EXIT_NOT_STARTED_BY_POOL
    run_script(source)
    return EXIT_FAILED if missing_run.complain() else 0


def _read_script(parser: argparse.ArgumentParser, path: str) -> bytes:
    source = _read(parser, path)
    if b"\0" in source:  # a zip archive, say
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
