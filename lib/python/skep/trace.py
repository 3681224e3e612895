"""Where the code that runs stands in a trace, by W3C Trace Context."""

import os
import re
import time
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, Dict, Iterator, Optional, Tuple

from .call import current

_FORM = re.compile("00-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-([0-9a-f]{2})")

_ANY_VERSION = re.compile("(?!ff)[0-9a-f]{2}-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}(-[!-~]*)?")

# The span that the code is in, and the call that it is made in: a thread of another call may inherit it.
_here: "ContextVar[Optional[Tuple[Any, str]]]" = ContextVar("skep.span", default=None)


def traceparent() -> Optional[str]:
    """The header "traceparent" for requests that the call makes to other services, so that its trace goes on there.

    It names the skep.span() that the code is in, or else the call; None in a call that is in no trace, and outside of one.
    A header "tracestate" that belongs to it is in skep.current().metadata.
    """
    try:
        call = current()
    except RuntimeError:  # none is running
        return None
    return span_here(call) or _header(call.metadata.get("traceparent"))


def span_here(call: Any) -> Optional[str]:
    """The traceparent of the span that the code is in, if there is one in that call."""
    here = _here.get()
    return here[1] if here is not None and here[0] is call else None


class TracedSpan:
    """A span of a trace, from now on: what the host is told of it."""

    def __init__(self, trace: str, parent: str) -> None:
        self.trace, self.parent = trace, parent
        self.id = os.urandom(8).hex()
        self._wall = time.time()
        self._began = time.monotonic()

    def message(self, outcome: str) -> Dict[str, Any]:
        taken = time.monotonic() - self._began
        microseconds = {"start_us": max(0, int(self._wall * 1e6)), "time_us": int(taken * 1e6)}
        return {"trace": self.trace, "id": self.id, "parent": self.parent, "outcome": outcome, **microseconds}


@contextmanager
def traced() -> Iterator[Optional[TracedSpan]]:
    """A span around a block of code, within what the code is in already; None if that is in no trace that is recorded."""
    parent = _FORM.fullmatch(traceparent() or "")
    if parent is None or int(parent[3], 16) % 2 == 0:
        yield None
        return
    mine = TracedSpan(parent[1], parent[2])
    token = _here.set((current(), f"00-{mine.trace}-{mine.id}-{parent[3]}"))
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
