"""Breakpoints in a worker: pdb over a Unix socket, because stdin and stdout of a worker are no terminal."""

import contextlib
import io
import os
import pdb
import selectors
import socket
import stat
import tempfile
import threading
from types import FrameType
from typing import List, Optional, TextIO, cast

from .._process.diagnostics import write_to_stderr

_sessions = threading.local()  # per thread: a debugger traces one thread


def stop_at(frame: FrameType) -> None:
    """Stops the thread of a frame until a debugger has attached."""
    session: Optional[_Debugger] = getattr(_sessions, "debugger", None)
    if session is None or session.is_detached:
        session = _sessions.debugger = _Debugger(_accept(frame))
    session.set_trace(frame)


class _Input(io.TextIOBase):
    """The lines of the other side. They end when the other side has gone: the debugger calls do_EOF()."""

    def __init__(self, connection: socket.socket) -> None:
        self._lines = connection.makefile("r", encoding="utf-8", errors="replace")

    def readline(self, size: int = -1) -> str:  # type: ignore[override]
        try:
            return self._lines.readline(size)
        except OSError:
            return ""


class _Output(io.TextIOBase):
    """Writes to the other side. Once the other side has gone, the text is lost."""

    def __init__(self, connection: socket.socket) -> None:
        self._connection = connection

    def write(self, text: str) -> int:
        with contextlib.suppress(OSError):
            self._connection.sendall(text.encode("utf-8", "replace"))
        return len(text)


class _Debugger(pdb.Pdb):
    """A debugger at the other end of a connection. The session ends when the code runs on without breakpoints."""

    def __init__(self, connection: socket.socket) -> None:
        self.is_detached = False
        self._connection = connection
        source, output = cast(TextIO, _Input(connection)), cast(TextIO, _Output(connection))
        super().__init__(stdin=source, stdout=output, nosigint=True, readrc=False)
        self.prompt = "(skep) "

    def do_continue(self, arg: str) -> Optional[bool]:
        """Lets the code run on, up to the next breakpoint."""
        end = super().do_continue(arg)
        if not self.breaks:
            self._detach()
        return end

    do_c = do_cont = do_continue

    def do_EOF(self, arg: str) -> Optional[bool]:
        """The other side is gone: the code runs on without breakpoints."""
        self.clear_all_breaks()
        return self.do_continue(arg)

    def do_quit(self, arg: str) -> Optional[bool]:
        """Ends the call with an error."""
        end = super().do_quit(arg)
        self._detach()
        return end

    do_q = do_exit = do_quit

    def message(self, msg: str) -> None:
        if not self.is_detached:
            super().message(msg)

    def _detach(self) -> None:
        self.is_detached = True
        with contextlib.suppress(OSError):  # the other side is gone
            self._connection.shutdown(socket.SHUT_RDWR)


def _accept(frame: FrameType) -> socket.socket:
    """Waits for a debugger and returns its connection."""
    folder, name = _folder(), f"{os.getpid()}-{os.urandom(4).hex()}"  # pids repeat in containers
    path, hidden = os.path.join(folder, name), os.path.join(folder, f".{name}")
    place = f"{os.path.basename(frame.f_code.co_filename)}:{frame.f_lineno} in {frame.f_code.co_name}"
    with socket.socket(socket.AF_UNIX) as listener:
        try:
            # The socket gets its name once it listens: connect_to_oldest() removes sockets that refuse.
            listener.bind(hidden)
            listener.listen(1)
            os.rename(hidden, path)
            write_to_stderr(f"skep: breakpoint at {place}; to attach: python3 -m skep attach {path}\n")
            connection, _ = listener.accept()
        finally:
            _remove(hidden)
            _remove(path)
    return connection


def _remove(path: str) -> None:
    with contextlib.suppress(FileNotFoundError):
        os.unlink(path)


def _folder() -> str:
    """Returns the folder of the sockets, which only this user may enter.

    Raises:
        PermissionError: another user has made a folder of this name.
    """
    path = os.path.join(tempfile.gettempdir(), f"skep-debug-{os.getuid()}")
    try:
        os.mkdir(path, 0o700)
    except FileExistsError:
        pass
    status = os.lstat(path)
    if status.st_uid != os.getuid() or not stat.S_ISDIR(status.st_mode) or status.st_mode & 0o077:
        raise PermissionError(f"{path} must be a folder of this user alone")
    return path


def connect(path: str) -> socket.socket:
    """Connects to the breakpoint that waits at a path.

    Raises:
        OSError: no breakpoint waits there.
    """
    connection = socket.socket(socket.AF_UNIX)
    try:
        connection.connect(path)
    except BaseException:
        connection.close()
        raise
    return connection


def connect_to_oldest() -> Optional[socket.socket]:
    """Connects to the breakpoint of this user that has waited longest. Returns None if none waits.

    Removes the sockets of workers that have died at a breakpoint.

    Raises:
        OSError: the folder of the sockets cannot be read, or belongs to another user.
    """
    for path in _sockets(_folder()):
        try:
            return connect(path)
        except ConnectionRefusedError:
            _remove(path)
        except FileNotFoundError:  # another debugger was faster
            pass
    return None


def _sockets(folder: str) -> List[str]:
    """Returns the sockets that listen, or did so, oldest first."""
    times = {}
    for name in os.listdir(folder):
        path = os.path.join(folder, name)
        with contextlib.suppress(FileNotFoundError):
            if not name.startswith("."):
                times[path] = os.lstat(path).st_mtime
    return sorted(times, key=times.__getitem__)


def relay(connection: socket.socket) -> None:
    """Connects stdin and stdout to a breakpoint, until the worker ends the session.

    Raises:
        OSError: the connection is lost, or stdout cannot be written.
    """
    with selectors.PollSelector() as selector:
        selector.register(connection, selectors.EVENT_READ)
        selector.register(0, selectors.EVENT_READ)
        while True:
            for key, _ in selector.select():
                data = os.read(key.fd, 65536)
                if key.fd != 0:
                    if not data:
                        return
                    _write(1, data)
                elif data:
                    connection.sendall(data)
                else:
                    selector.unregister(0)
                    connection.shutdown(socket.SHUT_WR)


def _write(descriptor: int, data: bytes) -> None:
    while data:
        data = data[os.write(descriptor, data) :]
