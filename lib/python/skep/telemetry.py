"""Events that a worker's code tells of itself."""

import math
import time
from contextlib import contextmanager
from typing import Any, Dict, Iterator, Mapping, Optional, Union

from .call import current
from .description import type_name
from .messages import encode
from .records import records
from .trace import traced

_LONGEST_NAME = 256  # bytes
_MOST_MEMBERS = 64

Number = Union[int, float]


def emit(
    name: str, measurements: Optional[Mapping[str, Number]] = None, metadata: Optional[Mapping[str, Any]] = None
) -> None:
    """Tells the host of something; whoever listens to its events there gets it as `worker.emitted`.

        skep.emit("model.loaded", {"duration_ms": 812, "bytes": 2_000_000}, {"model": "small"})

    Measurements are finite numbers, metadata texts, numbers, bools and None; what is of another type becomes its str().
    The event carries the correlation id of the call that is running, if one is. May be used at any time, before
    worker.run() too, on any thread, and waits for nobody: at most 1024 events wait to be sent; what does not fit, or is
    longer than 16 KiB, is dropped and counted, and the host told how many were. Raises ValueError or TypeError for a name
    that is no text of 1 to 256 bytes, for measurements that are no finite numbers, and for more than 64 of them or of the
    metadata.
    """
    _emit(name, measurements, metadata, None)


def _emit(
    name: str,
    measurements: Optional[Mapping[str, Number]],
    metadata: Optional[Mapping[str, Any]],
    span_of_trace: Optional[Dict[str, Any]],
) -> None:
    if not isinstance(name, str) or not 1 <= len(name.encode("utf-8", "replace")) <= _LONGEST_NAME:
        raise ValueError(f"an event's name is a text of 1 to {_LONGEST_NAME} bytes, not {name!r}")
    if len(measurements or ()) > _MOST_MEMBERS or len(metadata or ()) > _MOST_MEMBERS:
        raise ValueError(f"an event has at most {_MOST_MEMBERS} measurements, and as much metadata")
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
    """Tells, by emit(), how long a block of code has taken and how it ended.

        with skep.span("tokenize", {"model": "small"}):
            ...

    The measurement is `duration_ms`; to the metadata comes `outcome`: "ok", or the type of the exception, which goes on.
    In a call that is traced the block is a span of its trace, within the one that it is in.
    """
    began = time.monotonic()
    outcome = "ok"
    with traced() as mine:
        try:
            yield
        except BaseException as error:
            outcome = type_name(type(error))
            raise
        finally:
            taken = time.monotonic() - began
            measured, known = {"duration_ms": round(taken * 1000, 3)}, {**(metadata or {}), "outcome": outcome}
            _emit(name, measured, known, mine.message(outcome, taken) if mine else None)


def add_correlation_id(message: Dict[str, Any]) -> None:
    """That of the call that is running here, if one is."""
    try:
        message["correlation_id"] = current().correlation_id
    except RuntimeError:  # none is
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
    """Whether it is an integer for the host, too."""
    return -(2**63) <= value < 2**64
