"""One worker's conversation with its host: handshake, then calls until one of the two ends it."""

import os
import sys
import time
from typing import Any, Dict, Optional

from .call import Call, set_running
from .channel import Frame
from .connection import Connection, leave_with_group
from .control import Control
from .description import show_traceback
from .errors import Error, ProtocolError
from .health import HEALTH_CHECK
from .interrupts import Interrupts, Terminate
from .limits import Limits
from .messages import Answers, encode
from .stacks import dump_on_signal
from .version import PROTOCOL_VERSION, __version__
from .work import Work


class Conversation:
    """Does the work of a worker for whoever is at the other end of a connection, on the main thread."""

    def __init__(self, connection: Connection, work: Work) -> None:
        self.interrupts = Interrupts()
        self._connection = connection
        self._data = connection.data
        self._work = work
        self._welcomed: float  # when the welcome came, on the monotonic clock
        self._answers: Answers  # as the welcome wants them
        self.previous_exit: Optional[str] = None
        self.forked = False  # whether this is a child that user code has forked
        self._in_flight = 0
        self._completed = 0  # health checks are work, but not work done for anybody: they do not count
        self._control = Control(connection, self.interrupts, lambda: (self._in_flight, self._completed))

    def greet(self) -> None:
        """Says hello and waits for the host's welcome; from then on SIGTERM and the host are listened to."""
        self.interrupts.install()
        os.register_at_fork(
            before=self.interrupts.before_fork,
            after_in_parent=self.interrupts.after_fork_in_parent,
            after_in_child=self._let_go_in_child,
        )
        control = self._connection.control
        hello: Dict[str, Any] = {
            "type": "hello",
            "protocol": PROTOCOL_VERSION,
            "token": self._connection.token,
            "pid": os.getpid(),
            "sdk": f"python/{__version__}",
            "capacity": 1,
            "control": control is not None,
            "commands": list(self._work.commands),
            "health_check": HEALTH_CHECK,
            "own_health_check": self._work.health_check is not None,
        }
        stack_signal = dump_on_signal()
        if stack_signal is not None:
            hello["stack_signal"] = stack_signal
        try:
            self._data.send([encode(hello)])
            with self.interrupts.window():
                frame = (control or self._data).receive()
        except OSError:
            leave_with_group()
        if frame is None:
            leave_with_group()
        self._welcomed = time.monotonic()
        self._accept_welcome(frame.message)
        if control is not None:
            self._control.start_listening()

    def serve(self) -> None:
        """Tells the host that the worker is ready and answers calls until it is asked to stop."""
        interrupts, data = self.interrupts, self._data
        try:
            if not interrupts.stopping:
                data.send([b'{"type":"ready"}'])
            while not interrupts.stopping:
                try:
                    interrupts.open()
                    frame = data.receive()
                finally:
                    interrupts.close()
                if frame is None:
                    if not interrupts.stopping:
                        leave_with_group()
                elif frame.message.get("type") == "call":
                    self._answer(frame)
                elif self._connection.control is None:
                    self._control.handle(frame.message)
                else:
                    raise ProtocolError(f"a message of type {frame.message.get('type')!r} on the data channel")
                del frame  # which may be large, and the next one may be long in coming
        except OSError:
            leave_with_group()

    def leave_if_forked(self, error: Optional[BaseException] = None) -> None:
        """Ends a forked child that comes back from user code, perhaps with an error, as Python would.

        At once: what is still to happen in the conversation, in the script and atexit is the worker's own affair.
        """
        if not self.forked:
            return
        try:
            if error is not None:
                show_traceback(error)
            for stream in filter(None, (sys.stdout, sys.stderr)):
                stream.flush()
        finally:
            os._exit(0 if error is None else 1)

    def _answer(self, frame: Frame) -> None:
        call = Call(frame.message, frame.attachments, self.interrupts.is_cancelled, self._welcomed)
        self._in_flight = 1
        set_running(call)
        try:
            try:
                # Converting the result, or the data of an error, runs user code too: to_dict() and the like.
                self.interrupts.open(call.id)
                body, attachments = self._work.do(call, self._answers)
            except Error as error:
                self.leave_if_forked(error)
                body, attachments = self._answers.error(call.id, error)
            finally:
                self.interrupts.close()
        except (Terminate, SystemExit):
            raise
        except BaseException as error:
            self.leave_if_forked(error)
            body, attachments = self._answers.error(call.id, error)
        self.leave_if_forked()
        set_running(None)
        self._in_flight = 0
        if call.command != HEALTH_CHECK:
            self._completed += 1
        self.interrupts.finish(call.id)
        self._data.send(body, attachments)

    def _accept_welcome(self, message: Dict[str, Any]) -> None:
        try:
            if message["type"] != "welcome":
                raise ProtocolError(f"a message of type {message['type']!r} instead of a welcome")
            limits = Limits.told(message["limits"])
            self.previous_exit = message.get("previous_exit")
        except (KeyError, TypeError) as error:
            raise ProtocolError(f"the welcome is malformed: {error!r}") from error
        for channel in (self._connection.data, self._connection.control):
            if channel is not None:
                channel.limit = limits.frame_bytes
        self._answers = Answers(limits)

    def _let_go_in_child(self) -> None:
        # A forked child that outlives the worker must not keep the host from noticing that the worker died.
        self.forked = True
        self._connection.close()
        self.interrupts.after_fork_in_child()

