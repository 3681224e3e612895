"""What the host may ask for besides calls, and the thread that listens for it."""

import os
import select
import sys
import threading
from typing import Any, Callable, Dict, Tuple

from .channel import Channel
from .connection import Connection, leave_with_group
from .errors import ProtocolError
from .interrupts import Interrupts

EXIT_PROTOCOL_ERROR = 76

_REPEAT_INTERRUPT_MS = 50


class Control:
    """Acts on pings, cancels and shutdowns."""

    def __init__(
        self,
        connection: Connection,
        interrupts: Interrupts,
        progress: Callable[[], Tuple[int, int]],
    ) -> None:
        self._connection = connection
        self._channel: Channel = connection.control or connection.data
        self._interrupts = interrupts
        self._progress = progress  # calls in flight, calls completed

    def handle(self, message: Dict[str, Any]) -> None:
        """Does what one message asks for; ProtocolError if it is none of ours."""
        kind = message.get("type")
        try:
            if kind == "ping":
                pong = b'{"type":"pong","seq":%d,"in_flight":%d,"completed":%d}'
                self._channel.send([pong % (message["seq"], *self._progress())])
            elif kind == "cancel":
                self._interrupts.cancel(message["id"])
            elif kind == "shutdown":
                self._interrupts.stopping = True
                self._connection.stop_receiving()
            else:
                raise ProtocolError(f"a message of unknown type {kind!r}")
        except (KeyError, TypeError) as error:
            raise ProtocolError(f"a {kind} message is malformed: {error!r}") from error

    def start_listening(self) -> None:
        """Serves the control channel from a thread of its own, so that it works while user code is busy."""
        threading.Thread(target=self._listen, name="skep-control", daemon=True).start()

    def _listen(self) -> None:
        try:
            while True:
                if not self._channel.has_input:
                    self._wait()
                frame = self._channel.receive()
                if frame is None:
                    leave_with_group()
                self.handle(frame.message)
        except OSError:
            leave_with_group()
        except ProtocolError as error:
            # os._exit: this is not the main thread, and user code may be busy there for any time.
            report_protocol_error(error)
            os._exit(EXIT_PROTOCOL_ERROR)

    def _wait(self) -> None:
        """Blocks until the control channel is readable, and sees to interrupts meanwhile."""
        interrupts = self._interrupts
        poll = select.poll()
        poll.register(self._connection.control_fd, select.POLLIN)
        poll.register(interrupts.wakeup, select.POLLIN)
        while True:
            ready = [fd for fd, _ in poll.poll(_REPEAT_INTERRUPT_MS if interrupts.is_due() else None)]
            if interrupts.wakeup in ready:
                interrupts.on_wakeup()
            elif not ready and interrupts.is_due():
                interrupts.interrupt()
            if self._connection.control_fd in ready:
                return


def report_protocol_error(error: ProtocolError) -> None:
    """Says on stderr why the worker gives up."""
    print(f"skep: the host broke the protocol: {error}", file=sys.stderr, flush=True)
