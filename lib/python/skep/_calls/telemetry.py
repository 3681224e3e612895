"""Telemetry of a worker's code: events, spans of traces, and the records that carry them and log lines to the host."""

import math
import os
import re
import threading
import time
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, Callable, Dict, Iterator, Mapping, Optional, Union

from .._process.diagnostics import type_name
from .._process.exits import exit_without_host
from .._process.interpreter import SimpleQueue
from .._wire.messages import encode
from .._wire.protocol import Limits
from .call import current

_MAX_QUEUED = 1024  # records
MAX_RECORD_BYTES = 16 * 1024  # of one record
_BYTES_OF_TREE = 28  # the highest cost of a byte of JSON in the host's memory


class Records:
    """A bounded queue of records, sent by a thread. put() never blocks."""

    def __init__(self) -> None:
        self.dropped = 0
        self.is_closed = False
        self._queue: "SimpleQueue[Optional[bytes]]" = SimpleQueue()
        self._thread: Optional[threading.Thread] = None

    def connect(self, send: Callable[[bytes], None], limits: Limits) -> None:
        """Starts the thread. It sends queued and later records by `send`."""
        limit = min(MAX_RECORD_BYTES, limits.json_bytes, limits.frame_bytes - 4, limits.tree_bytes // _BYTES_OF_TREE)
        thread = threading.Thread(target=self._send_all, args=(send, limit), name="skep-records", daemon=True)
        try:
            thread.start()  # here, on the main thread: put() may run in a signal handler
        except RuntimeError:  # there are too many threads
            self.close()
        else:
            self._thread = thread

    def put(self, record: bytes) -> bool:
        """Enqueues a record, or counts it as dropped and returns False. On any thread, in signal handlers and finalizers."""
        if self.is_closed or len(record) > MAX_RECORD_BYTES or self._queue.qsize() >= _MAX_QUEUED:
            self.dropped += 1
            return False
        self._queue.put(record)
        return True

    def finish(self, seconds: float) -> None:
        """Closes the queue. Waits until the records so far have been sent, for at most `seconds`."""
        if self._thread is not None and not self.is_closed:
            self.close()
            self._queue.put(None)
            self._thread.join(seconds)

    def close(self) -> None:
        """Drops all later records: at the end, in a forked child, or if the host is too old."""
        self.is_closed = True

    def _send_all(self, send: Callable[[bytes], None], limit: int) -> None:
        try:
            for record in iter(self._queue.get, None):
                if len(record) <= limit:
                    send(record)
                else:
                    self.dropped += 1
        except OSError:
            exit_without_host()


records = Records()


_FORM = re.compile("00-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-([0-9a-f]{2})")
_ANY_VERSION = re.compile("(?!ff)[0-9a-f]{2}-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}(-[!-~]*)?")


def traceparent() -> Optional[str]:
    """Returns the header "traceparent" for requests to other services, so that the call's trace continues there.

    The header names the current skep.span(), or the call outside of a span. The matching header "tracestate" is in
    skep.current().metadata.

    Returns:
        The header; None in a call without a trace, and outside of a call.
    """
    try:
        call = current()
    except RuntimeError:  # outside of a call
        return None
    block = current_span(call)
    return block.traceparent if block else _header(call.metadata.get("traceparent"))


class TracedSpan:
    """A span of a call's trace. It starts with the construction."""

    def __init__(self, call: Any, trace: str, parent: str, flags: str) -> None:
        self.call = call
        self.id = os.urandom(8).hex()
        self.traceparent = f"00-{trace}-{self.id}-{flags}"
        self._fields = {"trace": trace, "id": self.id, "parent": parent, "start_us": max(0, int(time.time() * 1e6))}

    def message(self, outcome: str, seconds: float) -> Dict[str, Any]:
        """Returns the span as a member of a message, with its outcome and its duration."""
        return {**self._fields, "outcome": outcome, "time_us": int(seconds * 1e6)}


# The current span. A thread of another call may inherit it.
_context_span: "ContextVar[Optional[TracedSpan]]" = ContextVar("skep.span", default=None)


def current_span(call: Any) -> Optional[TracedSpan]:
    """Returns the current span, None if there is none or if it belongs to another call."""
    block = _context_span.get()
    return block if block is not None and block.call is call else None


@contextmanager
def trace_block() -> Iterator[Optional[TracedSpan]]:
    """Makes a span around a block, inside the current span or call. Yields None if the trace is not recorded."""
    parent = _FORM.fullmatch(traceparent() or "")
    if parent is None or int(parent[3], 16) % 2 == 0:
        yield None
        return
    block = TracedSpan(current(), parent[1], parent[2], parent[3])
    token = _context_span.set(block)
    try:
        yield block
    finally:
        _reset(token)


def _reset(token: Any) -> None:
    try:
        _context_span.reset(token)
    except ValueError:  # a generator may end in another context than it began in
        _context_span.set(None)


def _header(value: Any) -> Optional[str]:
    return value if isinstance(value, str) and _ANY_VERSION.fullmatch(value) else None


_MAX_NAME_BYTES = 256
_MAX_MEMBERS = 64

Number = Union[int, float]


def emit(
    name: str, measurements: Optional[Mapping[str, Number]] = None, metadata: Optional[Mapping[str, Any]] = None
) -> None:
    """Emits an event. Subscribers of the host's events receive it as `worker.emitted`.

        skep.emit("model.loaded", {"duration_ms": 812, "bytes": 2_000_000}, {"model": "small"})

    The event carries the correlation id of the running call, if any. Callable at any time, also before worker.run().
    Returns at once: at most 1024 events are queued. Further events, and events longer than 16 KiB, are dropped and
    counted, and the host receives the count. Thread-safe.

    Args:
        name: 1 to 256 bytes in UTF-8.
        measurements: at most 64 finite numbers by name.
        metadata: at most 64 texts, numbers, bools or None by name; other values become their str().
    Raises:
        ValueError: the name is not a text of this length, a measurement is not finite, or there are too many members.
        TypeError: a measurement is not a number.
    """
    _emit(name, measurements, metadata, None)


def _emit(
    name: str,
    measurements: Optional[Mapping[str, Number]],
    metadata: Optional[Mapping[str, Any]],
    span_of_trace: Optional[Dict[str, Any]],
) -> None:
    if not isinstance(name, str) or not 1 <= len(name.encode("utf-8", "replace")) <= _MAX_NAME_BYTES:
        raise ValueError(f"an event's name is a text of 1 to {_MAX_NAME_BYTES} bytes, not {name!r}")
    if len(measurements or ()) > _MAX_MEMBERS or len(metadata or ()) > _MAX_MEMBERS:
        raise ValueError(f"an event has at most {_MAX_MEMBERS} measurements, and as much metadata")
    message: Dict[str, Any] = {"type": "event", "name": name}
    if measurements:
        message["measurements"] = {str(key): _number(key, value) for key, value in measurements.items()}
    if metadata:
        message["metadata"] = {str(key): _plain(value) for key, value in metadata.items()}
    if span_of_trace:
        message["span"] = span_of_trace
    add_correlation_id(message)
    if records.dropped:
        message["dropped"] = records.dropped
    records.put(encode(message))


@contextmanager
def span(name: str, metadata: Optional[Mapping[str, Any]] = None) -> Iterator[None]:
    """Emits an event with the duration and the outcome of a block of code.

        with skep.span("tokenize", {"model": "small"}):
            ...

    The measurement is `duration_ms`. The metadata contains `outcome`: "ok", or the type of an exception; the exception
    propagates. In a traced call the block is a span of the call's trace, inside the current span.

    Args:
        name: 1 to 256 bytes in UTF-8.
        metadata: as for emit(), at most 63 members.
    Returns:
        A context manager.
    Raises:
        ValueError: as emit(), at the end of the block.
    """
    start = time.monotonic()
    outcome = "ok"
    with trace_block() as block:
        try:
            yield
        except BaseException as error:
            outcome = type_name(type(error))
            raise
        finally:
            seconds = time.monotonic() - start
            figures, facts = {"duration_ms": round(seconds * 1000, 3)}, {**(metadata or {}), "outcome": outcome}
            _emit(name, figures, facts, block.message(outcome, seconds) if block else None)


def add_correlation_id(message: Dict[str, Any]) -> None:
    """Adds the correlation id of the running call, if there is one."""
    try:
        message["correlation_id"] = current().correlation_id
    except RuntimeError:  # outside of a call
        pass


def _number(key: Any, value: Any) -> Number:
    try:
        number = float(value)
    except OverflowError:  # of an integer
        number = math.inf
    if not math.isfinite(number):
        raise ValueError(f"measurement {key!r} is {value!r}, which is no finite number")
    return value if type(value) is int and _fits(value) else number


def _plain(value: Any) -> Any:
    if value is None or type(value) in (str, bool):
        return value
    if type(value) is int and _fits(value) or type(value) is float and math.isfinite(value):
        return value
    return str(value)


def _fits(value: int) -> bool:
    """Returns true if the integer is in the host's range."""
    return -(2**63) <= value < 2**64
