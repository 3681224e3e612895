"""Serves the same input by the loop in Python and by the loop in C, in this process, and tells what each has done."""

import contextlib
import os
import random
import signal
import socket
import sys
import threading
from types import SimpleNamespace

from skep._calls import call as call_module
from skep._calls import outbox, pool_host
from skep._calls.command import Command, HealthCheck
from skep._calls.event_loop import EventLoop
from skep._calls.interrupts import INTERRUPT_SIGNAL, Interrupts
from skep._calls.pool_host import PoolHost
from skep._calls.responder import Work
from skep._process.exits import Terminate
from skep._profiles import profile as profile_module
from skep._profiles.profile import ProcessProfile
from skep._wire import channel as channel_module
from skep._wire.channel import Channel
from skep._wire.errors import ProtocolError
from skep._wire.protocol import DEFAULT_LIMITS

try:
    from skep import _loop
except ImportError:
    _loop = None
if sys.version_info < (3, 10):  # it may load, but is not used
    _loop = None


class HostIsGone(BaseException):
    """Raised where a worker would end because its host is gone."""


def _host_is_gone():
    raise HostIsGone


for _module in (profile_module, pool_host, outbox):
    _module.exit_without_host = _host_is_gone


class Worker:
    """A worker in this process, at one end of a socket pair. Its commands find it as `skep.current().host.worker`."""

    def __init__(self, in_c, commands, seed=0, limits=DEFAULT_LIMITS, buffer_size=channel_module._BUFFER_SIZE):
        self.log = []  # of effects: the commands add to it
        self.dice = random.Random(seed)  # for the commands, so that both workers do the same
        self.host_end, self.end = socket.socketpair()
        with _buffer_size(buffer_size):
            self.channel = Channel.over_socket(self.end)
        self.channel.limit = limits.frame_bytes
        connection = SimpleNamespace(
            data=self.channel,
            control=self.channel,
            calls=None,
            receive=self.channel.receive,
            is_pure_python=not in_c,
            may_yield=in_c,
            data_fd=self.end.fileno(),
            shared=None,
        )
        self.interrupts = Interrupts()
        self.host = PoolHost(connection)
        self.host.accept_welcome({"type": "welcome", "limits": limits._asdict(), "correlation": "c-"})
        self.host._progress._is_pausing = True  # so that reports are sent with the answers
        self.host.has_sigterm = lambda: self.interrupts._has_sigterm
        self.host.interrupt = self.interrupts.cancel
        self.host.worker = self
        work = Work(commands, HealthCheck(lambda: "well"), EventLoop())
        self.profile = ProcessProfile(connection, work, self.interrupts, self.host)
        assert (self.profile.loop == "c") == in_c, "skep._loop is not there"

    def serve(self, data):
        """Serves the calls in the data up to its end. Returns what can be seen of it from outside, by name."""
        answers = []
        threads = [
            threading.Thread(target=_send_all, args=(self.host_end, data)),
            threading.Thread(target=_read_all, args=(self.host_end, answers)),
        ]
        for thread in threads:
            thread.start()
        end = self._serve_to_the_end()
        rest = [bytes(self.channel._view[self.channel._start : self.channel._end])]
        _read_all(self.end, rest)
        self.end.shutdown(socket.SHUT_WR)
        for thread in threads:
            thread.join()
        return {
            "answers": b"".join(answers),
            "end": end,
            "log": self.log,
            "rest": None if end.startswith("ProtocolError") else b"".join(rest),  # nobody reads it any more
            "counts": (self.profile.in_flight, self.profile.completed),
            "is_stopping": self.interrupts.is_stopping,
            "last": self.interrupts._last_finished_id,
            "cancelled": self.interrupts._cancelled_ids,
            "is_open": self.interrupts._is_open,
            "current": call_module._global_call if end == "" else None,
            "lock": self.host.outbox.lock.locked(),
        }

    def _serve_to_the_end(self):
        with _handlers(self.interrupts):
            try:
                self.profile.serve()
                return ""
            except (HostIsGone, Terminate, ProtocolError) as end:
                return f"{type(end).__name__}: {end}"
            finally:
                call_module.set_global_call(None)

    def close(self):
        self.host_end.close()
        self.end.close()
        os.close(self.interrupts._wakeup)
        os.close(self.interrupts._wakeup_sink)


def _send_all(stream, data):
    stream.sendall(data)
    stream.shutdown(socket.SHUT_WR)


def _read_all(stream, parts):
    with contextlib.suppress(ConnectionResetError):  # what was sent is not all read
        while True:
            part = stream.recv(65536)
            if not part:
                return
            parts.append(part)


@contextlib.contextmanager
def _buffer_size(size):
    before, channel_module._BUFFER_SIZE = channel_module._BUFFER_SIZE, size
    try:
        yield
    finally:
        channel_module._BUFFER_SIZE = before


@contextlib.contextmanager
def _handlers(interrupts):
    before = signal.signal(signal.SIGTERM, interrupts._on_terminate)
    signal.signal(INTERRUPT_SIGNAL, interrupts._on_interrupt)
    try:
        yield
    finally:
        signal.signal(INTERRUPT_SIGNAL, signal.SIG_IGN)
        signal.signal(signal.SIGTERM, before)


def commands_of(*functions, **named_functions):
    """The commands of a worker, by name."""
    named = {**{function.__name__: function for function in functions}, **named_functions}
    return {name: Command(name, function) for name, function in named.items()}


def differences(commands, data, **options):
    """Serves the data by both loops. Returns what differs, as (name, in Python, in C); nothing if all is the same."""
    seen = []
    for in_c in (False, True):
        worker = Worker(in_c, commands, **options)
        try:
            seen.append(worker.serve(data))
        finally:
            worker.close()
    in_python, in_c = seen
    return [(name, in_python[name], in_c[name]) for name in in_python if in_python[name] != in_c[name]]
