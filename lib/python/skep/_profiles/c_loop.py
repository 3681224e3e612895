"""The loop in C, skep._loop, for plain commands one at a time. Optional: ProcessProfile does the same without it."""

import importlib
import sys
import time
from typing import Any, Dict, Optional

from .._calls import call as call_module
from .._calls.call import Call
from .._calls.interrupts import Interrupts
from .._calls.pool_host import PoolHost
from .._calls.recalls import Recalls
from .._calls.responder import Outcome, Work
from .._wire.connection import Connection
from .._wire.json_text import orjson
from .._wire.messages import Answers

_OLDEST_PYTHON = (3, 10)  # whose stable ABI the module uses


def find_loop(connection: Connection) -> Any:
    """Returns the module skep._loop if it is installed, switched on, and can serve the connection; else None."""
    return None if connection.is_pure_python or connection.data_fd is None else import_loop()


def import_loop() -> Any:
    """Returns the module skep._loop; None if it is not installed, or the interpreter too old for it."""
    if sys.version_info < _OLDEST_PYTHON:
        return None
    try:
        return importlib.import_module("skep._loop")  # no import statement: type checkers need not find it
    except ImportError:  # not installed, or built for another kind of interpreter
        return None


def make_loop(
    module: Any,
    connection: Connection,
    work: Work,
    interrupts: Interrupts,
    recalls: Recalls,
    host: PoolHost,
    profile: Dict[str, Any],
) -> Any:
    """Returns the Loop of a ProcessProfile with these attributes. Precondition: the welcome has arrived."""
    max_text, max_depth = Answers(host.limits).unchecked_result()
    lock = host.outbox.lock
    return module.Loop(
        channel=connection.data,
        host=host,
        window=interrupts,
        interrupts=vars(interrupts),
        cancelled_ids=interrupts._cancelled_ids,
        recalls=vars(recalls),
        recalled_ids=recalls._ids,
        profile=profile,
        call_module=vars(call_module),
        commands=work.single_commands,
        reports=host._progress.reports,
        tool_accounts=host.tools.accounts,
        call_type=Call,
        outcome_type=Outcome,
        finish_tools=host.tools.finish,
        monotonic=time.monotonic,
        acquire=lock.acquire,
        release=lock.release,
        descriptor=connection.data_fd,
        frame_limit=connection.data.limit,
        max_text=max_text,
        max_depth=min(max_depth, 100),
        with_exponents=orjson is None,  # orjson writes 1e16 for 1e+16
        yields=connection.may_yield,
        shares_memory=host.shares_memory,
    )
