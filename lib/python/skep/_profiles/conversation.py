"""The conversation of a worker with its host: the choice of a profile, the handshake, then calls until the end."""

import os
from typing import Any, Dict, Iterable, List

from .._calls.command import HEALTH_CHECK
from .._calls.event_loop import EventLoop
from .._calls.interrupts import Interrupts
from .._calls.pool_host import PoolHost
from .._calls.responder import Work
from .._process.diagnostics import dump_on_signal
from .._process.exits import exit_without_host
from .._process.interpreter import replacement_of_threads, threading_kind
from .._wire.connection import Connection
from .._wire.messages import encode
from .._wire.protocol import MAX_MESSAGE_BYTES, PROTOCOL_VERSION, __version__
from .control import Control
from .profile import ConcurrentProfile, ProcessProfile, Profile
from .thread_checks import ThreadChecks


class Unsuitable(Exception):
    """Raised if the script cannot serve as its pool's configuration requires."""


def check_threads() -> None:
    """Raises Unsuitable if user code has replaced the threads of the standard library."""
    reason = replacement_of_threads()
    if reason is not None:
        raise Unsuitable(reason)


def choose_profile(
    work: Work, event_loop: EventLoop, connection: Connection, interrupts: Interrupts, host: PoolHost
) -> Profile:
    """Returns the profile for the work. Raises Unsuitable if there is none."""
    threads = _parse_threads(connection.threads)
    if threads > 1 and not work.thread_safe:
        raise Unsuitable(
            f"the pool wants {threads} calls at once in threads of one process (threads_per_worker), and the script "
            "does not say that its commands may run beside each other: if so, create the worker by "
            "skep.Worker(thread_safe=True)"
        )
    if work.engine is not None:
        others = [name for name in work.commands if name != work.engine.name]
        if others and not work.thread_safe:
            raise Unsuitable(
                f"the script has an engine and other commands ({', '.join(others)}), which run in threads beside it. If "
                "they may, create the worker by skep.Worker(thread_safe=True)"
            )
        from .engine_profile import EngineProfile

        return EngineProfile(connection, work, interrupts, host, work.engine.slots)
    if work.is_async:
        if work.plain_commands and not work.thread_safe:
            raise Unsuitable(
                f"the script has async commands and plain ones ({', '.join(work.plain_commands)}): plain ones run in "
                "threads beside the event loop. If they may, create the worker by skep.Worker(thread_safe=True); "
                "otherwise make them async, too"
            )
        from .async_profile import AsyncProfile  # with asyncio: slow to import

        return AsyncProfile(connection, work, interrupts, host, work.concurrency, event_loop=event_loop)
    if threads > 1:
        from .thread_profile import ThreadProfile  # with ctypes: slow to import, too

        return ThreadProfile(connection, work, interrupts, host, threads)
    return ProcessProfile(connection, work, interrupts, host)


def _parse_threads(text: str) -> int:
    if not text.isascii() or not text.isdigit() or int(text) == 0:
        raise Unsuitable(f"SKEP_THREADS is {text!r} instead of a number of threads")
    return int(text)


_HELLO_OVERHEAD = 8 * 1024  # bytes of a hello besides the names
_BATCH_LENGTH = 64  # bytes of the options of a batch command, at most


def _fitting_names(commands: Iterable[str], room: int, overhead: int = 1) -> List[str]:
    """Returns as many names as have room in a hello. `overhead` is what goes with a name."""
    names = []
    for each in commands:
        room -= len(encode(each)) + overhead
        if room < 0:
            break
        names.append(each)
    return names


class Conversation:
    """Serves the host at the other end of a connection. The constructor raises Unsuitable if that is impossible."""

    def __init__(self, connection: Connection, work: Work, event_loop: EventLoop) -> None:
        self.interrupts = Interrupts()
        self.host = PoolHost(connection)
        self._connection = connection
        self._work = work
        self._profile = choose_profile(work, event_loop, connection, self.interrupts, self.host)
        self.host.interrupt = self._profile.cancel
        self.host.has_sigterm = self.interrupts.is_terminated

    def greet(self) -> None:
        """Sends the hello, waits for the welcome, and starts listening to SIGTERM and the host."""
        self.interrupts.install()
        os.register_at_fork(
            before=self.interrupts.before_fork,
            after_in_parent=self.interrupts.after_fork_in_parent,
            after_in_child=self._release_in_child,
        )
        connection = self._connection
        try:
            connection.data.send([encode(self._hello())])
            with self.interrupts.window():
                frame = connection.control.receive()
        except OSError:
            exit_without_host()
        if frame is None:
            exit_without_host()
        self.host.accept_welcome(frame.message)
        self._profile.limit_capacity(self.host.capacity)
        for channel in (connection.data, connection.control):
            channel.limit = self.host.limits.frame_bytes
        Control(connection, self.interrupts, self.host, self._profile).start_listening()

    def serve(self) -> None:
        """Sends ready, and answers calls until the worker is asked to stop."""
        if self._connection.thread_checks in ("report", "strict"):
            self._begin_thread_checks(self._connection.thread_checks == "strict")
        try:
            if not self.interrupts.is_stopping:
                self.host.outbox.send(b'{"type":"ready"}')
            self._profile.serve()
        except OSError:
            exit_without_host()

    def _begin_thread_checks(self, strict: bool) -> None:
        """Begins the checks if calls of the worker run in several threads."""
        profile = self._profile
        if isinstance(profile, ConcurrentProfile) and self._work.thread_safe and profile.capacity > 1:
            profile.checks = ThreadChecks(strict)
            profile.checks.look_for_libraries()
            profile.checks.watch_classes()

    def _hello(self) -> Dict[str, Any]:
        has_control = self._connection.control is not self._connection.data
        room = MAX_MESSAGE_BYTES - _HELLO_OVERHEAD
        batches = self._batches(room // 2)
        hello = {
            "type": "hello",
            "protocol": PROTOCOL_VERSION,
            "token": self._connection.token,
            "pid": os.getpid(),
            "sdk": f"python/{__version__}{threading_kind()}",
            "capacity": self._profile.capacity,
            "control": has_control,
            "recall": has_control,
            "commands": _fitting_names(self._work.commands, room - len(encode(batches))),  # for texts only
            "health_check": HEALTH_CHECK,
            "own_health_check": self._work.health_check is not None,
            "loop": self._profile.loop,
        }
        if batches:
            hello["batches"] = batches
        if self._connection.shared is not None:
            hello["shared"] = 1
        if self._work.engine is not None:
            hello["slots"] = self._work.engine.slots
        stack_signal = dump_on_signal()
        if stack_signal is not None:
            hello["stack_signal"] = stack_signal
        return hello

    def _batches(self, room: int) -> Dict[str, Any]:
        """Returns the batch commands for a hello. A command without room there gets batches of one call."""
        commands = self._work.batch_commands
        names = _fitting_names(commands, room, _BATCH_LENGTH)
        return {name: {"most": commands[name].most, "wait_ms": commands[name].wait_ms} for name in names}

    def _release_in_child(self) -> None:
        # A forked child that outlives the worker must not hide the worker's death from the host.
        self._connection.close()
        self.host.close()
        self.interrupts.after_fork_in_child()
