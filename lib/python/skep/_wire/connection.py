"""The connection that a pool hands to a worker: descriptors for the channels, and a token as proof of identity."""

import functools
import io
import os
import sys
from socket import SHUT_RD
from typing import TYPE_CHECKING, Callable, Optional, cast

from .._process.exits import set_guard
from .._process.interpreter import SimpleQueue, socket
from .._process.script import script_name
from .channel import Channel, Frame
from .protocol import PROTOCOL_VERSION

if TYPE_CHECKING:
    from .shared_memory import SharedMemory

_HINT_FOR_PREFIXES = (
    ". A program between the pool and the interpreter must pass its descriptors 3 and 4 on. `conda run` closes them: "
    "name the interpreter of the environment instead."
)


class ConnectError(Exception):
    """Raised if no pool has started the script, or a pool with another protocol."""


class Connection:
    """The channels to the host: `data` for calls and the worker's messages about calls, `control` for the rest.

    On the stdio transport both are one channel, and the listening thread puts the calls into `calls`; over sockets
    `calls` is None, and `data_fd` is the socket of the data channel. `shared` is None if the host shares no memory.
    """

    def __init__(
        self,
        token: str,
        data: Channel,
        control: Channel,
        control_fd: int,
        stop_receiving: Callable[[], None],
        close: Callable[[], None],
        calls: "Optional[SimpleQueue[Optional[Frame]]]" = None,
        data_fd: Optional[int] = None,
        shared: "Optional[SharedMemory]" = None,
    ) -> None:
        self._is_used = False
        self.threads = os.environ.get("SKEP_THREADS", "1")  # read here: user code may change the environment later
        self.thread_checks = os.environ.get("SKEP_THREAD_CHECKS", "")
        self.is_pure_python = os.environ.get("SKEP_PURE_PYTHON", "") not in ("", "0")
        self.may_yield = os.environ.get("SKEP_WAIT", "") != "block"
        self.token = token
        self.data = data
        self.control = control
        self.control_fd = control_fd
        self.calls = calls
        self.data_fd = data_fd
        self.shared = shared
        self.receive = data.receive if calls is None else cast(Callable[[], Optional[Frame]], calls.get)
        self.stop_receiving = stop_receiving  # makes a blocked receive() return None
        self.close = close

    def begin_serving(self) -> bool:
        """Returns true the first time only: a pool talks to one worker."""
        is_first, self._is_used = not self._is_used, True
        return is_first


@functools.lru_cache(maxsize=None)
def connect() -> Connection:
    """Returns the connection that the pool has handed to this process. Two workers in one script share it."""
    script = script_name()
    if "SKEP_PROTOCOL" not in os.environ:
        raise ConnectError(
            f"{script} is a skep worker: a skep pool starts it and talks to it over descriptors of its own. "
            "Name it in the configuration of a pool instead of starting it by hand."
        )
    if os.environ["SKEP_PROTOCOL"] != str(PROTOCOL_VERSION):
        raise ConnectError(
            f"{script} was started by a pool that speaks protocol {os.environ['SKEP_PROTOCOL']}, but this "
            f"version of the Python package skep speaks protocol {PROTOCOL_VERSION}."
        )
    # Removed from the environment, so that no child of this worker is mistaken for the worker. Stdio has no token.
    transport, token = os.environ.pop("SKEP_TRANSPORT", None), os.environ.pop("SKEP_TOKEN", None)
    if token is None and transport != "stdio":
        raise ConnectError(
            f"{script} was started inside a skep worker, not by a pool (SKEP_TOKEN is missing). Keep worker.run() "
            "under `if __name__ == '__main__':`, where only the worker comes by."
        )
    try:
        open_channels = {"stdio": _over_stdio, "socket": _over_sockets}[transport or ""]
        connection = open_channels(token or "")
    except (KeyError, ValueError, OSError) as error:
        hint = _HINT_FOR_PREFIXES if transport == "socket" and isinstance(error, OSError) else ""
        raise ConnectError(f"{script} cannot use the channels the pool announced: {error!r}{hint}") from error
    set_guard(transport == "socket")
    flush_every_line()
    return connection


def _over_sockets(token: str) -> Connection:
    data, control = (_open_socket(int(os.environ[name])) for name in ("SKEP_DATA_FD", "SKEP_CONTROL_FD"))
    shared = _open_shared_memory()

    def close() -> None:
        data.close()
        control.close()
        if shared is not None:
            shared.close()

    return Connection(
        token,
        Channel.over_socket(data),
        Channel.over_socket(control),
        control.fileno(),
        functools.partial(data.shutdown, SHUT_RD),
        close,
        data_fd=data.fileno(),
        shared=shared,
    )


def _open_shared_memory() -> "Optional[SharedMemory]":
    """Returns the memory that the host shares; None if it shares none, or the interpreter cannot use it."""
    descriptor = os.environ.get("SKEP_SHARED_FD")
    if descriptor is None:
        return None
    from .shared_memory import SharedMemory, can_share  # most workers never need it

    if not can_share():
        os.close(int(descriptor))
        return None
    return SharedMemory(int(descriptor))


def _open_socket(descriptor: int) -> socket:
    os.set_inheritable(descriptor, False)
    stream = socket(fileno=descriptor)
    stream.setblocking(True)
    return stream


def _over_stdio(token: str) -> Connection:
    # Frames get descriptors of their own: the script's input and output must not touch them.
    source, sink = io.FileIO(os.dup(0), "rb"), io.FileIO(os.dup(1), "wb")
    null = os.open(os.devnull, os.O_RDONLY)
    os.dup2(null, 0)
    os.close(null)
    os.dup2(2, 1)

    def close() -> None:
        source.close()
        sink.close()

    channel = Channel.over_files(source, sink)
    calls: "SimpleQueue[Optional[Frame]]" = SimpleQueue()
    return Connection(token, channel, channel, source.fileno(), lambda: calls.put(None), close, calls)


def flush_every_line() -> None:
    """Makes the script's output reach the host line by line, although the output is a pipe."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper) and not stream.closed:  # else user code has replaced it
            stream.reconfigure(line_buffering=True)
