"""Where the code that runs stands in a trace, by W3C Trace Context."""

import os
import re
import time
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, Dict, Iterator, Optional

from .call import current

_FORM = re.compile("00-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-([0-9a-f]{2})")

_ANY_VERSION = re.compile("(?!ff)[0-9a-f]{2}-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}(-[!-~]*)?")

def traceparent() -> Optional[str]:
    """The header "traceparent" for requests that the call makes to other services, so that its trace goes on there.

    It names the skep.span() that the code is in, or else the call; None in a call that is in no trace, and outside of one.
    A header "tracestate" that belongs to it is in skep.current().metadata.
    """
    try:
        call = current()
    except RuntimeError:  # none is running
        return None
    span = span_here(call)
    return span.traceparent if span else _header(call.metadata.get("traceparent"))


class TracedSpan:
    """A span of a call's trace, from now on."""

    def __init__(self, call: Any, trace: str, parent: str, flags: str) -> None:
        self.call = call
        self.id = os.urandom(8).hex()
        self.traceparent = f"00-{trace}-{self.id}-{flags}"
        self._told = {"trace": trace, "id": self.id, "parent": parent, "start_us": max(0, int(time.time() * 1e6))}

    def message(self, outcome: str, taken: float) -> Dict[str, Any]:
        """What the host is told of it, with how it ended, and after how many seconds."""
        return {**self._told, "outcome": outcome, "time_us": int(taken * 1e6)}


# The span that the code is in: a thread of another call may inherit it.
_here: "ContextVar[Optional[TracedSpan]]" = ContextVar("skep.span", default=None)


def span_here(call: Any) -> Optional[TracedSpan]:
    """The span that the code is in, if there is one in that call."""
    here = _here.get()
    return here if here is not None and here.call is call else None


@contextmanager
def traced() -> Iterator[Optional[TracedSpan]]:
    """A span around a block of code, within what the code is in already; None if that is in no trace that is recorded."""
    parent = _FORM.fullmatch(traceparent() or "")
    if parent is None or int(parent[3], 16) % 2 == 0:
        yield None
        return
    mine = TracedSpan(current(), parent[1], parent[2], parent[3])
    token = _here.set(mine)
    try:
        yield mine
    finally:
        _leave(token)


def _leave(token: Any) -> None:
    try:
        _here.reset(token)
    except ValueError:  # left in another context than it was entered in, as a generator may be
        _here.set(None)


def _header(value: Any) -> Optional[str]:
    return value if isinstance(value, str) and _ANY_VERSION.fullmatch(value) else None
