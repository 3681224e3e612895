"""Breakpoints in a worker: pdb over a Unix socket, because stdin and stdout of a worker are no terminal."""

import contextlib
import itertools
import os
import pdb
import selectors
import socket
import tempfile
import threading
from types import FrameType
from typing import Optional, TextIO

from ._process.diagnostics import write_to_stderr

_numbers = itertools.count(1)
_sessions = threading.local()  # per thread: a debugger traces one thread


def stop_at(frame: FrameType) -> None:
    """Stops the thread of a frame until a debugger has attached."""
    session: Optional[_Debugger] = getattr(_sessions, "debugger", None)
    if session is None or session.is_detached:
        session = _sessions.debugger = _Debugger(_accept(frame))
    session.set_trace(frame)


class _Debugger(pdb.Pdb):
    """A debugger at the other end of a connection. The session ends when the code runs on without breakpoints."""

    def __init__(self, connection: socket.socket) -> None:
        self.is_detached = False
        self._connection = connection
        # Two files: a file for both would drop lines that have arrived when it writes.
        source: TextIO = connection.makefile("r", encoding="utf-8", errors="replace")
        self._output: TextIO = connection.makefile("w", encoding="utf-8", errors="replace")
        super().__init__(stdin=source, stdout=self._output, nosigint=True, readrc=False)
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
            self._output.flush()
            self._connection.shutdown(socket.SHUT_RDWR)


def _accept(frame: FrameType) -> socket.socket:
    """Waits for a debugger and returns its connection."""
    path = os.path.join(_folder(), f"{os.getpid()}-{next(_numbers)}")
    place = f"{os.path.basename(frame.f_code.co_filename)}:{frame.f_lineno} in {frame.f_code.co_name}"
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(path)
        try:
            listener.listen(1)
            write_to_stderr(f"skep: breakpoint at {place}; to attach: python3 -m skep attach {path}\n")
            connection, _ = listener.accept()
        finally:
            os.unlink(path)
    return connection


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
    if status.st_uid != os.getuid() or status.st_mode & 0o77777 != 0o40700:
        raise PermissionError(f"{path} must be a folder of this user alone")
    return path


def attach_to_oldest() -> bool:
    """Attaches to the breakpoint of this user that has waited longest. Returns false if none waits.

    Removes the sockets of workers that have died at a breakpoint.
    """
    folder = _folder()
    paths = [os.path.join(folder, name) for name in os.listdir(folder)]
    for path in sorted(paths, key=lambda path: os.lstat(path).st_mtime):
        try:
            attach(path)
            return True
        except ConnectionRefusedError:
            os.unlink(path)
    return False


def attach(path: str) -> None:
    """Connects stdin and stdout to a breakpoint, until the worker ends the session.

    Raises:
        OSError: no breakpoint waits there.
    """
    with socket.socket(socket.AF_UNIX) as connection, selectors.PollSelector() as selector:
        connection.connect(path)
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
