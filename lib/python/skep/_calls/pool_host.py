"""The pool that has started this worker, as the host of its calls."""

import sys
import time
from typing import TYPE_CHECKING, Any, Callable, Dict, Mapping, Optional, Sequence

from .._process.exits import exit_for_protocol_error, exit_without_host
from .._wire.attachments import Attachment
from .._wire.connection import Connection
from .._wire.errors import ProtocolError
from .._wire.messages import Answer
from .._wire.protocol import Limits
from . import sharing
from .call import Call, Host, thread_window, uninterrupted_here
from .outbox import Outbox, Progress
from .streams import Credit
from .telemetry import records
from .tools import Tools

if TYPE_CHECKING:
    from .._wire.shared_memory import SharedMemory

_NO_LIMIT = sys.maxsize  # for an older host: it respects the capacity of the hello


class PoolHost(Host):
    """The messages to the host, and from the host, that all calls share."""

    limits: Limits
    tools: Tools
    _progress: Progress

    def __init__(self, connection: Connection) -> None:
        self._data = connection.data
        self._shared = connection.shared
        self.outbox = Outbox(connection.data)
        is_one = connection.control is connection.data
        self.control_outbox = self.outbox if is_one else Outbox(connection.control)
        self.credit = Credit()
        self.previous_exit: Optional[str] = None
        self.capacity = _NO_LIMIT  # calls at once
        self.log_level = "warning"  # of the host's log
        self.interrupt: Callable[[int], None]  # cancels a running or a future call
        self.has_sigterm: Callable[[], bool]  # returns true if SIGTERM has arrived

    def is_terminated(self) -> bool:
        return self.has_sigterm()

    def accept_welcome(self, message: Dict[str, Any]) -> None:
        """Reads the host's welcome. Raises ProtocolError if the welcome is malformed."""
        self.welcome_time = time.monotonic()
        try:
            if message["type"] != "welcome":
                raise ProtocolError(f"a message of type {message['type']!r} instead of a welcome")
            self.limits = Limits.from_welcome(message["limits"])
            self.previous_exit = message.get("previous_exit")
            self.correlation = message.get("correlation", "")
            self.capacity = _parse_capacity(message.get("capacity", _NO_LIMIT))
            self.log_level = str(message.get("log_level", self.log_level))
            if self._shared is not None and "shared" in message:
                self._begin_sharing(self._shared, message["shared"])
        except (KeyError, TypeError) as error:
            raise ProtocolError(f"the welcome is malformed: {error!r}") from error
        if message.get("records") is True:
            records.connect(self.control_outbox.send, self.limits)
        else:  # an older host accepts no records
            records.close()
        self._progress = Progress(self.outbox, self.limits)
        self.tools = Tools(self.outbox, self._progress, self.limits, self.cancel, self.share)

    def _begin_sharing(self, memory: "SharedMemory", limits: Any) -> None:
        memory.accept(limits, self.control_outbox.send)
        self.limits = self.limits._replace(places=memory.most_shared)
        self._data.shared = memory
        sharing.connect(memory)

    @property
    def shares_memory(self) -> bool:
        """True if attachments of calls may lie in memory of the host."""
        return self._data.shared is not None

    @property
    def reads_shared_memory(self) -> bool:
        """True while views of attachments lie in memory of the host. The loop in C does not notice their ends."""
        return self._shared is not None and self._shared.is_used

    def release_attachments(self) -> None:
        """Lets the host use memory again that nothing reads any more. Precondition: windows are closed."""
        if self._shared is not None and self._shared.has_ended_uses:
            messages = self._shared.take_releases()
            self.control_outbox.send_all_of(messages)

    def share(self, attachments: Sequence[memoryview]) -> Sequence[Attachment]:
        """Moves large attachments of a message to shared memory, as far as there is room."""
        memory = self._data.shared
        if memory is None or not memory.may_share(attachments):
            return attachments
        try:
            with uninterrupted_here():
                return memory.share(attachments)
        except OSError:
            exit_without_host()
        except ProtocolError as error:
            exit_for_protocol_error(error)

    def take_released(self, places: Any) -> None:
        """Takes the places of attachments that the host no longer reads. Raises ProtocolError for other places."""
        if self._data.shared is not None:
            self._data.shared.release(places)

    def cancel(self, call_id: int) -> None:
        """Cancels a call. On the thread that listens to the host."""
        self.interrupt(call_id)
        self.wake(call_id)

    def wake(self, call_id: int) -> None:
        """Wakes the threads and tasks of a call that wait for the host."""
        self.credit.wake(call_id)
        self.tools.wake(call_id)

    def answer(self, call: Call, answer: Answer) -> None:
        """Sends the unsent report and chunks of a call, and its answer. No message about the call follows."""
        if self._progress.reports:
            self._progress.flush(call)
        outbox, (body, attachments) = self.outbox, answer
        try:
            with outbox.lock:
                call.is_over = True
                if call.credit is not None:
                    outbox.batch.write()
                self._data.send(body, attachments)
        except OSError:
            exit_without_host()
        if self.tools.accounts:
            self.tools.finish(call)

    def answer_all(self, calls: Sequence[Call], answers: Sequence[Answer]) -> None:
        """Sends the answers to the calls in one write. No message about the calls follows."""
        for call in calls:
            call.is_over = True
        self.send_all_of(answers)

    def send_all_of(self, messages: Sequence[Answer]) -> None:
        """Sends messages in one write."""
        try:
            with self.outbox.lock:
                self._data.send_all_of(messages)
        except OSError:
            exit_without_host()

    def close(self) -> None:
        """Closes the messages in a forked child."""
        self.is_gone = True
        self.outbox.close()
        self.control_outbox.close()
        self.credit.close()
        records.close()

    def call_tool(self, call: Call, name: str, timeout: Optional[float], args: Mapping[str, Any]) -> Any:
        self._check_presence(name)
        if not thread_window(call).may_block:
            raise RuntimeError(f"calling tool '{name}' would block the event loop: await skep.call_host_async()")
        return self.tools.call(call, name, timeout, args)

    async def call_tool_async(self, call: Call, name: str, timeout: Optional[float], args: Mapping[str, Any]) -> Any:
        self._check_presence(name)
        from .loop_waits import call_async  # asyncio is imported where this runs

        return await call_async(self.tools, call, name, timeout, args)

    def report(self, call: Call, fraction: float, text: str) -> None:
        self._progress.report(call, fraction, text)

    def _check_presence(self, name: str) -> None:
        if self.is_gone:
            raise RuntimeError(f"cannot call tool '{name}': a forked child has no host")


def _parse_capacity(capacity: object) -> int:
    if type(capacity) is not int or capacity < 1:
        raise TypeError(f"the capacity is a number of calls, not {capacity!r}")
    return capacity
