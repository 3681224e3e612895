"""The host's messages besides calls, and the thread that listens for them."""

import threading
from select import POLLIN

from .._calls.call import parse_credit
from .._calls.interrupts import Interrupts
from .._calls.pool_host import PoolHost
from .._process.exits import exit_for_protocol_error, exit_without_host
from .._process.interpreter import poll
from .._wire.channel import Frame
from .._wire.connection import Connection
from .._wire.errors import ProtocolError
from .profile import Profile

_REPEAT_INTERRUPT_MS = 50


class Control:
    """Handles the host's messages besides calls."""

    def __init__(self, connection: Connection, interrupts: Interrupts, host: PoolHost, profile: Profile) -> None:
        self._connection = connection
        self._channel = connection.control
        self._interrupts = interrupts
        self._host = host
        self._profile = profile
        interrupts.on_stop = connection.stop_receiving

    def handle(self, frame: Frame) -> None:
        """Handles one message. Raises ProtocolError if it is malformed or unknown."""
        message = frame.message
        kind = message.get("type")
        try:
            if kind == "ping":
                profile, pong = self._profile, b'{"type":"pong","seq":%d,"in_flight":%d,"completed":%d}'
                self._host.control_outbox.send(pong % (message["seq"], profile.in_flight, profile.completed))
            elif kind == "cancel":
                self._host.cancel(message["id"])
            elif kind == "recall":
                if self._profile.recall(message["id"]):  # else it has begun, and its answer comes
                    self._host.control_outbox.send(b'{"type":"recalled","id":%d}' % message["id"])
            elif kind == "credit":
                self._host.credit.grant(message["id"], parse_credit(message["credit"]))
                if "released" in message:
                    self._host.take_released(message["released"])
            elif kind in ("tool_result", "tool_error"):
                self._host.tools.deliver(frame)
            elif kind == "call" and self._connection.calls is not None:
                self._connection.calls.put(frame)
            elif kind == "shutdown":
                self._interrupts.is_stopping = True
                self._interrupts.restore()
                self._connection.stop_receiving()
            else:
                raise ProtocolError(f"a message of unknown type {kind!r}")
        except (KeyError, TypeError, OverflowError) as error:  # OverflowError: an infinity such as 1e400
            raise ProtocolError(f"a {kind} message is malformed: {error!r}") from error

    def start_listening(self) -> None:
        """Starts the listening thread. It works while user code is busy."""
        threading.Thread(target=self._listen, name="skep-control", daemon=True).start()

    def _listen(self) -> None:
        try:
            while True:
                if not self._channel.has_input:
                    self._wait()
                frame = self._channel.receive()
                if frame is None:
                    exit_without_host()
                self.handle(frame)
                self._host.release_attachments()  # which are no longer read since the last call
                del frame  # a frame may be large, and the next one far away
        except OSError:
            exit_without_host()
        except ProtocolError as error:
            exit_for_protocol_error(error)

    def _wait(self) -> None:
        """Waits until the channel is readable. Repeats due interrupts meanwhile."""
        interrupts = self._interrupts
        poller = poll()
        poller.register(self._connection.control_fd, POLLIN)
        poller.register(interrupts.wakeup, POLLIN)
        while True:
            ready = [fd for fd, _ in poller.poll(_REPEAT_INTERRUPT_MS if interrupts.is_due() else None)]
            if interrupts.wakeup in ready:
                interrupts.on_wakeup()
            elif not ready and interrupts.is_due():
                interrupts.interrupt()
            if self._connection.control_fd in ready:
                return
