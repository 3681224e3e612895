"""From a call to its answer, where both are made on one thread."""

import time
from typing import Any, Callable, List, Mapping, Optional, Tuple

from .._process.exits import Terminate, exit_forked_child
from .._wire.errors import Cancelled, DeadlineExceeded, Error
from .._wire.messages import Answer, Answers
from .call import Call
from .command import (
    ASYNC_GENERATOR,
    AWAITABLE,
    DATA,
    GENERATOR,
    HEALTH_CHECK,
    Command,
    HealthCheck,
    find_command,
    value_kind,
)
from .event_loop import EventLoop
from .pool_host import PoolHost
from .streams import ChunkSender, collect, drive

DEFAULT_CONCURRENCY = 100


class Work:
    """The commands of a worker and its health check, and what its script says of how they may run."""

    __slots__ = ("commands", "health_check", "event_loop", "thread_safe", "concurrency")

    def __init__(
        self,
        commands: Mapping[str, Command],
        health_check: Optional[HealthCheck],
        event_loop: EventLoop,
        thread_safe: bool = False,
        concurrency: int = DEFAULT_CONCURRENCY,
    ) -> None:
        self.commands = commands
        self.health_check = health_check
        self.event_loop = event_loop
        self.thread_safe = thread_safe  # whether commands may run beside each other
        self.concurrency = concurrency  # how many async ones at once

    @property
    def is_async(self) -> bool:
        """Whether there is something for an event loop to do."""
        has_check = self.health_check is not None and self.health_check.is_async
        return has_check or any(command.is_async for command in self.commands.values())

    @property
    def plain_commands(self) -> List[str]:
        """The names of those that are no async functions and do not wrap one."""
        return [name for name, command in self.commands.items() if not (command.is_async or command.wraps_async)]

    def is_for_loop(self, command: Command) -> bool:
        """Whether a command is called on the event loop, where there is one, and not in a thread beside it.

        A plain function that wraps an async one may be a thread's or the loop's: the loop's, if there are to be no threads.
        """
        return command.is_async or (command.wraps_async and not self.thread_safe)

    def execute(self, call: Call, answers: Answers, send_chunk: Optional[Callable[[Any], None]] = None) -> Answer:
        """Does what a call asks for and makes the answer; a CallError if it cannot, or what user code raises.

        What a command yields goes through `send_chunk`, if there is one, and is the answer if there is none.
        """
        command = self.accept(call)
        if command is None:
            check = self.health_check
            return health_answer(call, answers, check and check.run(lambda value: self._wait_for(value, call)))
        try:
            value = command.function(**call.args)
            if type(value) not in DATA:
                value = self._resolve_value(value, call, command, send_chunk)
        except TypeError as error:
            mismatch = command.mismatch(error)
            if mismatch is None:
                raise
            raise mismatch from error
        return answers.result(call.id, command.name, value)

    def _resolve_value(
        self, value: Any, call: Call, command: Command, send_chunk: Optional[Callable[[Any], None]]
    ) -> Any:
        """What a command's value comes to, which may have to be awaited, or iterated, or both."""
        while value_kind(value) == AWAITABLE:
            value = self._wait_for(value, call)
        kind = value_kind(value)
        if kind == ASYNC_GENERATOR:
            from .loop_waits import iterate

            value, kind = iterate(value, call, self.event_loop), GENERATOR
        if kind == GENERATOR:
            value = drive(value, send_chunk) if send_chunk else collect(value, command.name)
        return value

    def _wait_for(self, value: Any, call: Call) -> Any:
        from .loop_waits import wait_for  # with asyncio, which takes longer to import than all of this

        return wait_for(value, call, self.event_loop)

    def accept(self, call: Call) -> Optional[Command]:
        """The command that a call is for, None for the health check."""
        if call.deadline is not None and call.deadline <= time.monotonic():
            raise DeadlineExceeded(f"the deadline of '{call.command}' passed before it started")
        if call.command == HEALTH_CHECK:
            return None
        command = find_command(self.commands, call.command)
        command.check(call.args)
        return command


def health_answer(call: Call, answers: Answers, value: Any) -> Answer:
    """The answer to a health check that has succeeded."""
    # Without a check it is an answer all the same: the worker still takes calls.
    try:
        return answers.result(call.id, HEALTH_CHECK, value)
    except Exception:  # the worker is well; what the check has to say beyond that is not worth a failure
        return answers.result(call.id, HEALTH_CHECK, None)


class Responder:
    """Does what calls ask for and makes their answers; for one thread."""

    def __init__(self, work: Work, host: PoolHost) -> None:
        self._work = work
        self._host = host
        self._answers = Answers(host.limits)

    def respond(self, call: Call) -> Answer:
        """The answer to a call, with its window open while user code runs. Only Terminate and SystemExit come through,
        and a forked child that comes back from user code ends here."""
        host, window = self._host, call.window
        try:
            try:
                # Converting the result, or the data of an error, runs user code too: to_dict() and the like.
                window.open(call.id)
                credit = call.credit
                answer = self._work.execute(call, self._answers) if credit is None else self._stream(call, credit)
            except Error as error:
                if host.is_gone:
                    exit_forked_child(error)
                answer = self._answers.error(call.id, error)
            finally:
                window.close()
        except (Terminate, SystemExit):
            raise
        except BaseException as error:
            if host.is_gone:
                exit_forked_child(error)
            if issubclass(type(error), Cancelled):  # which may have left things half done in there
                self._answers = Answers(host.limits)
            answer = self._answers.error(call.id, error)
        if host.is_gone:
            exit_forked_child()
        return answer

    def _stream(self, call: Call, credit: Tuple[int, int]) -> Answer:
        sender = ChunkSender(call, credit, self._answers, self._host.outbox.batch, self._host.credit)
        try:
            return self._work.execute(call, self._answers, sender.send)
        finally:
            sender.close()
