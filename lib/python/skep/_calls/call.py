"""The running call as user code sees it, and its host."""

import threading
import time
from contextlib import contextmanager, nullcontext
from contextvars import Context, ContextVar
from typing import Any, ContextManager, Dict, Iterator, List, Mapping, Optional, Sequence, Tuple, Union

from .._wire.arrays import ArrayError
from .._wire.conversion import with_arrays
from .._wire.errors import InvalidArguments, ProtocolError
from .interrupts import Window


class Host:
    """The other end of a call. Thread-safe."""

    is_gone = False  # true in a forked child
    welcome_time = 0.0  # when the welcome arrived, on the monotonic clock
    correlation = ""  # the prefix of correlation ids for calls that have none from their caller

    def is_terminated(self) -> bool:
        """Returns true if SIGTERM has arrived."""
        return False

    def call_tool(self, call: "Call", name: str, timeout: Optional[float], args: Mapping[str, Any]) -> Any:
        """Calls a tool, as call_host() describes."""
        raise NotImplementedError

    async def call_tool_async(self, call: "Call", name: str, timeout: Optional[float], args: Mapping[str, Any]) -> Any:
        """Calls a tool, as call_host_async() describes."""
        raise NotImplementedError

    def report(self, call: "Call", fraction: float, text: str) -> None:
        """Reports the progress of a call, as progress() describes."""


class Call:
    """One call from the host: `id`, `command`, `args`, and the caller's session, metadata and attachments."""

    __module__ = "skep"

    __slots__ = (
        *("id", "command", "args", "credit", "host", "window", "is_over", "deadline"),
        *("attached", "_message"),
    )

    def __init__(
        self, message: Dict[str, Any], attachments: Sequence[memoryview], host: "Host", window: Window
    ) -> None:
        if message.get("type") != "call":
            raise ProtocolError(f"a message of type {message.get('type')!r} on the data channel")
        try:
            self.id: int = message["id"]
            self.command: str = message["command"]
            self.args: Dict[str, Any] = message["args"]
            self.deadline = _deadline(message, host.welcome_time)
        except (KeyError, TypeError, OverflowError) as error:  # OverflowError: a time beyond all floats
            raise ProtocolError(f"a call message is malformed: {error!r}") from None
        if type(self.id) is not int or type(self.command) is not str or type(self.args) is not dict:
            raise ProtocolError("a call needs an integer id, a command name and an object of arguments")
        self.credit = parse_credit(message["stream"]) if "stream" in message else None
        self.host = host
        self.window = window
        self.is_over = False  # true once the call is answered
        self._message = message
        self.attached = attachments  # the binary data; usually none

    @property
    def session(self) -> Optional[str]:
        """The id of the session the call belongs to."""
        return self._message.get("session")

    @property
    def correlation_id(self) -> str:
        """The id of the call in the host's logs: the caller's id, or an id that the host has made."""
        return self._message.get("correlation_id") or f"{self.host.correlation}{self.id}"

    @property
    def metadata(self) -> Dict[str, Any]:
        """The caller's metadata."""
        return self._message.get("metadata") or {}

    @property
    def attachments(self) -> List[memoryview]:
        """The binary data sent with the call, in order, read-only."""
        return list(self.attached)

    @property
    def remaining(self) -> Optional[float]:
        """Seconds left until the caller's deadline, never negative; None without a deadline."""
        return None if self.deadline is None else max(0.0, self.deadline - time.monotonic())

    def cancelled(self) -> bool:
        """Returns true if the caller has cancelled the call. For other threads, and for functions of batches and engines."""
        return self.window.is_cancelled(self.id)


class CallGroup:
    """Several calls that one function serves. In the function none of them is the current call."""

    id: int
    host: Host
    window: Window
    is_over = False  # true once all calls are answered

    def __init__(self, kind: str) -> None:
        self.kind = kind  # for texts

    def cancelled(self) -> bool:
        """Returns true if all callers have cancelled their calls."""
        raise NotImplementedError


# What runs in a window: a call or several.
Running = Union[Call, CallGroup]


def _deadline(message: Dict[str, Any], welcome_time: float) -> Optional[float]:
    """Returns the caller's deadline on the monotonic clock. The host counts from the sending of the call.

    A call that was pipelined behind another call carries the time of its sending: `sent_ms` after the welcome.
    """
    left_ms: Optional[float] = message.get("deadline_ms")
    sent_ms: Optional[float] = message.get("sent_ms")
    if left_ms is None:
        return None
    now = time.monotonic()
    start = now if sent_ms is None else min(now, welcome_time + sent_ms / 1000)
    return start + left_ms / 1000


# With one call at a time, the threads that a command starts work for the same call: a global variable is right. With
# several calls at a time, each thread and each task has a variable of its own.
_global_call: Optional[Running] = None
_context_call: "ContextVar[Optional[Running]]" = ContextVar("skep.call", default=None)


def set_global_call(call: Optional[Running]) -> None:
    """Makes a call the current call of all threads."""
    global _global_call
    _global_call = call


def set_context_call(call: Optional[Running]) -> None:
    """Makes a call the current call of this thread or task, and of the tasks that it starts."""
    _context_call.set(call)


def call_of_context(context: Context) -> Optional[Running]:
    """Returns the current call of a context."""
    return context.get(_context_call)


@contextmanager
def current_call(call: Running) -> Iterator[None]:
    """Makes a call the current call in a block."""
    previous, previous_in_context = _global_call, _context_call.get()
    set_global_call(call)
    set_context_call(call)
    try:
        yield
    finally:
        set_global_call(previous)
        set_context_call(previous_in_context)


def current() -> Call:
    """Returns the running call.

    Raises:
        RuntimeError: called outside of a call, or in a batch or an engine, where the function gets its calls.
    """
    call = _context_call.get() or _global_call
    if call is None:
        raise RuntimeError("no call is running: skep.current() and skep.attachments() work inside a command")
    if isinstance(call, CallGroup):
        raise RuntimeError(f"{call.kind} has several calls and no current one: use the calls given to the function")
    return call


def attachments(writable: bool = False) -> List[memoryview]:
    """Returns the binary data sent with the running call, in order, read-only.

    The data may lie in memory that the host lends, until the last view of it is gone. So keep a copy, `bytes(view)`,
    of data that is needed for long, and in a forked child. Data that the service has passed as skep::shared_buffer is
    passed on without a copy: return the view, a slice of an eighth of it or more, or an array over it.

    Args:
        writable: if true, returns writable views of copies; large data is copied page by page, on the first write to it.
    Raises:
        RuntimeError: as current().
    """
    views = current().attachments
    if not writable:
        return views
    from .._wire.lent import writable as writable_copy  # most workers never need it

    return [writable_copy(view) for view in views]


def parse_credit(message: object) -> Tuple[int, int]:
    """Returns the credit of a host's message as chunks and bytes. Raises ProtocolError if it is malformed."""
    if type(message) is dict:
        chunks, size = message.get("chunks"), message.get("bytes")
        if type(chunks) is int and type(size) is int and chunks >= 0 and size >= 0:
            return chunks, size
    raise ProtocolError("credit needs a number of chunks and one of bytes")


_NO_WINDOW = Window()


def thread_window(call: Running) -> Window:
    """Returns the window of the calling thread. Threads that user code has started are never interrupted."""
    return call.window if call.window.thread == threading.get_ident() else _NO_WINDOW


@contextmanager
def uninterrupted(call: Running) -> Iterator[None]:
    """Closes the window of the call in a block that must not be left half done.

    A closed window stays closed: signal handlers and finalizers may run inside such a block.
    """
    window = thread_window(call)
    is_open = window.close()
    try:
        yield
    finally:
        if is_open:
            window.open(call.id)


def uninterrupted_here() -> ContextManager[None]:
    """uninterrupted() for what the calling thread runs, if it runs calls."""
    running = _context_call.get() or _global_call
    return nullcontext() if running is None else uninterrupted(running)


def decode_arrays(call: Call) -> None:
    """Puts arrays into the arguments that the host says hold arrays. Raises InvalidArguments for malformed arrays."""
    if "arrays" not in call._message:
        return
    try:
        with uninterrupted(call):  # the import of numpy must not be left half done
            call.args = with_arrays(call.args, call._message["arrays"], call.attached)
    except ArrayError as error:
        raise InvalidArguments(f"'{call.command}' does not take these arguments: {error}") from None


def call_host(name: str, timeout: Optional[float] = None, /, **args: Any) -> Any:
    """Calls a tool of the host while a command runs.

        user = skep.call_host("lookup_user", id=42)

    If one call makes more concurrent requests than the host accepts (16 by default), later requests wait for the
    answers to earlier ones.

    Args:
        name: the name of the tool.
        timeout: limit of the wait in seconds, more than 0; None: no limit. The wait also ends at the call's deadline.
        args: the arguments, converted like the result of a command; `bytes` and arrays become attachments.
    Returns:
        The tool's result, with a read-only memoryview or array in the place of each attachment; the list of the attachments if
        the result is null and has some.
    Raises:
        skep.HostError: the tool has failed, or the host has no such tool.
        TimeoutError: no answer in time.
        ValueError: the arguments cannot be sent or are too large, or `timeout` is not positive.
        skep.Cancelled: the call is cancelled.
        RuntimeError: called outside of a call, in a batch or an engine, after the end of the call, in a forked child, or on
            an event loop that the SDK runs (use call_host_async() there).

    Thread safety: for the thread that runs the command, and for threads that work for it.
    """
    call = current()
    return call.host.call_tool(call, name, timeout, args)


async def call_host_async(name: str, timeout: Optional[float] = None, /, **args: Any) -> Any:
    """Calls a tool of the host from an `async def` command. The loop continues to run.

    Args, Returns and Raises: as for call_host(), but raises CancelledError if the call is cancelled.
    """
    call = current()
    return await call.host.call_tool_async(call, name, timeout, args)


def progress(fraction: float, text: str = "") -> None:
    """Reports the progress of the command to the caller.

    The newest report counts. The first report is sent at once, later ones at most every 20 ms, the last one before the
    answer, so a loop may report at any rate. Returns at once. No effect after the answer of the call. Thread-safe.

    Args:
        fraction: the finished part, clamped to 0 ... 1.
        text: a description for people; the first 1024 characters are sent.
    Raises:
        ValueError: `fraction` is NaN.
        TypeError: `fraction` is not a number, or `text` is not a str.
        RuntimeError: called outside of a call, or in a batch or an engine.
    """
    fraction = float(fraction)
    if fraction != fraction:
        raise ValueError("progress is a number from 0 to 1, not NaN")
    if not isinstance(text, str):
        raise TypeError(f"the text of a progress is a str, not {text!r}")
    call = current()
    call.host.report(call, min(max(fraction, 0.0), 1.0), text)
