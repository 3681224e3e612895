"""One worker's conversation with its host: handshake, then calls until one of the two ends it."""

import json
import os
from typing import Any, Dict, List, Mapping, Optional, Sequence, Tuple

from .call import Call, set_running
from .channel import Frame, frame_length
from .command import Command, find
from .connection import Connection, leave_with_group
from .control import Control
from .convert import ResultEncoder
from .errors import CallError, ProtocolError, describe
from .health import HEALTH_CHECK, HealthCheck
from .interrupts import Interrupts, Terminate
from .stacks import dump_on_signal
from .version import PROTOCOL_VERSION, __version__


class Session:
    """Serves the commands of a worker over a connection, on the main thread."""

    def __init__(
        self, connection: Connection, commands: Mapping[str, Command], health_check: Optional[HealthCheck]
    ) -> None:
        self.interrupts = Interrupts()
        self._connection = connection
        self._data = connection.data
        self._commands = commands
        self._health_check = health_check
        self._encoder = ResultEncoder()
        self.previous_exit: Optional[str] = None
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
            "commands": list(self._commands),
            "health_check": HEALTH_CHECK,
        }
        stack_signal = dump_on_signal()
        if stack_signal is not None:
            hello["stack_signal"] = stack_signal
        try:
            self._data.send(_encode(hello))
            with self.interrupts.window():
                frame = (control or self._data).receive()
        except OSError:
            leave_with_group()
        if frame is None:
            leave_with_group()
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
        except OSError:
            leave_with_group()

    def _answer(self, frame: Frame) -> None:
        call = Call(frame.message, frame.attachments, self.interrupts.is_cancelled)
        self._in_flight = 1
        set_running(call)
        try:
            try:
                # Converting the result runs user code too: to_dict() and the like.
                self.interrupts.open(call.id)
                value, attachments = self._run(call)
            finally:
                self.interrupts.close()
        except (Terminate, SystemExit):
            raise
        except BaseException as error:
            body, attachments = self._error(call.id, error), ()
        else:
            body = b'{"type":"result","id":%d%b,"value":' % (call.id, _lengths(attachments)), value, b"}"
            if frame_length(body, attachments) > self._data.limit:
                body, attachments = self._too_large(call, frame_length(body, attachments)), ()
        set_running(None)
        self._in_flight = 0
        if call.command != HEALTH_CHECK:
            self._completed += 1
        self.interrupts.finish(call.id)
        self._data.send(body, attachments)

    def _run(self, call: Call) -> Tuple[bytes, List[memoryview]]:
        if call.remaining == 0:
            raise CallError("DeadlineExceeded", f"the deadline of '{call.command}' passed before it started")
        if call.command == HEALTH_CHECK:
            return self._check_health()
        command = find(self._commands, call.command)
        command.check(call.args)
        return self._encoder.encode(command.function(**call.args), command.name)

    def _check_health(self) -> Tuple[bytes, List[memoryview]]:
        # Without a check it is an answer all the same: the main thread still takes calls.
        value = None if self._health_check is None else self._health_check.run()
        try:
            return self._encoder.encode(value, HEALTH_CHECK)
        except Exception:  # the worker is well; what the check has to say beyond that is not worth a failure
            return b"null", []

    def _error(self, call_id: int, error: BaseException) -> Sequence[bytes]:
        kind, message, traceback = describe(error)
        body = _encode_error(call_id, kind, message, traceback)
        if frame_length(body) > self._data.limit:
            body = _encode_error(call_id, kind, message[: self._data.limit // 16], "")
        return body

    def _too_large(self, call: Call, size: int) -> Sequence[bytes]:
        if call.command == HEALTH_CHECK:
            return (b'{"type":"result","id":%d,"value":null}' % call.id,)
        reason = f"result of '{call.command}' takes a frame of {size} bytes; the limit is {self._data.limit} bytes"
        return self._error(call.id, CallError("ResultTooLarge", reason))

    def _accept_welcome(self, message: Dict[str, Any]) -> None:
        try:
            if message["type"] != "welcome":
                raise ProtocolError(f"a message of type {message['type']!r} instead of a welcome")
            limit = message["limits"]["frame_bytes"]
            self.previous_exit = message.get("previous_exit")
        except (KeyError, TypeError) as error:
            raise ProtocolError(f"the welcome is malformed: {error!r}") from error
        for channel in (self._connection.data, self._connection.control):
            if channel is not None:
                channel.limit = limit

    def _let_go_in_child(self) -> None:
        # A forked child that outlives the worker must not keep the host from noticing that the worker died.
        self._connection.close()
        self.interrupts.after_fork_in_child()


def _encode(message: Dict[str, Any]) -> Sequence[bytes]:
    # "replace": exception messages and command names may hold lone surrogates, which are not JSON
    return (json.dumps(message, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace"),)


def _encode_error(call_id: int, kind: str, message: str, traceback: str) -> Sequence[bytes]:
    error = {"type": kind, "message": message, "traceback": traceback}
    return _encode({"type": "error", "id": call_id, "error": error})


def _lengths(attachments: Sequence[memoryview]) -> bytes:
    if not attachments:
        return b""
    return b',"attachments":[%b]' % ",".join(str(len(part)) for part in attachments).encode()
