"""One worker's conversation with its host: handshake, then calls until one of the two ends it."""

import os
import sys
from typing import Any, Dict, Iterable, List

from .choice import choose_profile
from .connection import Connection, leave_with_group
from .control import Control
from .event_loop import EventLoop
from .health import HEALTH_CHECK
from .interrupts import Interrupts
from .limits import LONGEST_MESSAGE
from .messages import encode
from .pool_host import PoolHost
from .stacks import dump_on_signal
from .threading_kind import threading_kind
from .version import PROTOCOL_VERSION, __version__
from .work import Work


_AROUND_COMMANDS = 8 * 1024  # bytes of a hello, at most


def _named(commands: Iterable[str]) -> List[str]:
    """The first ones, as many as a hello has room for: the host uses them in its texts only."""
    names, room = [], LONGEST_MESSAGE - _AROUND_COMMANDS
    for each in commands:
        room -= len(encode(each)) + 1
        if room < 0:
            break
        names.append(each)
    return names


class Conversation:
    """Does the work of a worker for whoever is at the other end of a connection; Unsuitable if it cannot."""

    def __init__(self, connection: Connection, work: Work, event_loop: EventLoop) -> None:
        self.interrupts = Interrupts()
        self.host = PoolHost(connection)
        self._connection = connection
        self._work = work
        self._profile = choose_profile(work, event_loop, connection, self.interrupts, self.host)
        self.host.interrupt = self._profile.cancel

    def greet(self) -> None:
        """Says hello and waits for the host's welcome; from then on SIGTERM and the host are listened to."""
        self.interrupts.install()
        os.register_at_fork(
            before=self.interrupts.before_fork,
            after_in_parent=self.interrupts.after_fork_in_parent,
            after_in_child=self._let_go_in_child,
        )
        connection = self._connection
        try:
            connection.data.send([encode(self._hello())])
            with self.interrupts.window():
                frame = connection.control.receive()
        except OSError:
            leave_with_group()
        if frame is None:
            leave_with_group()
        self.host.accept_welcome(frame.message)
        self._profile.allow(self.host.allowed)
        for channel in (connection.data, connection.control):
            channel.limit = self.host.limits.frame_bytes
        Control(connection, self.interrupts, self.host, self._profile).start_listening()

    def serve(self) -> None:
        """Tells the host that the worker is ready and answers calls until it is asked to stop."""
        if "logging" in sys.modules:  # else nothing is logged, and the import would take its time
            from .logs import handle_unless_configured

            handle_unless_configured()
        if self._connection.thread_checks:
            from .thread_checks import begin_checks

            begin_checks(self._profile, self._work, self._connection.thread_checks)
        try:
            if not self.interrupts.stopping:
                self.host.outbox.say(b'{"type":"ready"}')
            self._profile.serve()
        except OSError:
            leave_with_group()

    def _hello(self) -> Dict[str, Any]:
        hello = {
            "type": "hello",
            "protocol": PROTOCOL_VERSION,
            "token": self._connection.token,
            "pid": os.getpid(),
            "sdk": f"python/{__version__}{threading_kind()}",
            "capacity": self._profile.capacity,
            "control": self._connection.control is not self._connection.data,
            "commands": _named(self._work.commands),
            "health_check": HEALTH_CHECK,
            "own_health_check": self._work.health_check is not None,
        }
        stack_signal = dump_on_signal()
        if stack_signal is not None:
            hello["stack_signal"] = stack_signal
        return hello

    def _let_go_in_child(self) -> None:
        # A forked child that outlives the worker must not keep the host from noticing that the worker died.
        self._connection.close()
        self.host.close()
        self.interrupts.after_fork_in_child()
