"""Responses to calls on one thread."""

import time
from typing import Any, Callable, Dict, List, Mapping, Optional, Tuple

from .._process.exits import Terminate, exit_forked_child
from .._wire.errors import DeadlineExceeded, Error
from .._wire.messages import Answer, Answers, EncodeResult
from .batch import CallBatch
from .call import Call, Running, decode_arrays
from .command import (
    ASYNC_GENERATOR,
    AWAITABLE,
    DATA,
    GENERATOR,
    HEALTH_CHECK,
    BatchCommand,
    Command,
    EngineCommand,
    HealthCheck,
    find_command,
    value_kind,
)
from .event_loop import EventLoop
from .pool_host import PoolHost
from .streams import ChunkSender, collect, drive

DEFAULT_CONCURRENCY = 100


class Outcome:
    """What the function of a command has returned or raised, run by skep._loop."""

    __slots__ = ("_value", "_error", "was_open")

    def __init__(self, value: Any, error: Optional[BaseException], was_open: bool) -> None:
        self._value = value
        self._error = error
        self.was_open = was_open  # the window, at the end of the function

    def take(self) -> Any:
        """Returns the value, or raises the error. Once only."""
        value, self._value = self._value, None
        error, self._error = self._error, None
        try:
            if error is not None:
                raise error
            return value
        finally:
            del error  # its traceback refers to this frame: a cycle


class Work:
    """The commands of a worker, its health check, and how the script allows them to run."""

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
        self.thread_safe = thread_safe  # if true, commands may run in several threads
        self.concurrency = concurrency  # async commands at once

    @property
    def is_async(self) -> bool:
        """True if a command or the health check needs an event loop."""
        has_check = self.health_check is not None and self.health_check.is_async
        return has_check or any(command.is_async for command in self.commands.values())

    @property
    def plain_commands(self) -> List[str]:
        """The names of the commands that neither are async functions nor wrap one."""
        return [name for name, command in self.commands.items() if not (command.is_async or command.wraps_async)]

    @property
    def single_commands(self) -> Dict[str, Command]:
        """The commands that serve one call at a time, by name."""
        return {name: each for name, each in self.commands.items() if type(each) is Command}

    @property
    def engine(self) -> Optional[EngineCommand]:
        """The engine, None if there is none."""
        engines = [each for each in self.commands.values() if isinstance(each, EngineCommand)]
        return engines[0] if engines else None

    @property
    def batch_commands(self) -> Dict[str, BatchCommand]:
        """The batch commands, by name."""
        return {name: each for name, each in self.commands.items() if isinstance(each, BatchCommand)}

    def batch_command(self, name: str) -> Optional[BatchCommand]:
        """Returns the batch command of a name, None if there is none."""
        command = self.commands.get(name)
        return command if isinstance(command, BatchCommand) else None

    def is_for_loop(self, command: Command) -> bool:
        """Returns true if a command runs on the event loop and not in a thread beside it.

        A plain function that wraps an async one can run in both. It runs on the loop if the script allows no threads.
        """
        return command.is_async or (command.wraps_async and not self.thread_safe)

    def execute(
        self,
        call: Call,
        answers: Answers,
        send_chunk: Optional[Callable[[Any], None]] = None,
        outcome: Optional[Outcome] = None,
    ) -> Answer:
        """Runs the command of a call, and returns the answer. Raises a CallError, or the error of user code.

        Passes the values that a command yields to `send_chunk`; without `send_chunk`, a list of the values is the answer.
        With the outcome of a function that has run already, continues from there.
        """
        command = self.accept(call) if outcome is None else self.commands[call.command]
        if command is None:
            check = self.health_check
            return health_answer(call, answers, check and check.run(lambda value: self._wait_for(value, call)))
        try:
            value = command.function(**call.args) if outcome is None else outcome.take()
            if type(value) not in DATA:
                value = self._resolve_value(value, call, command, send_chunk)
        except TypeError as error:
            mismatch = command.mismatch(error)
            if mismatch is None:
                raise
            raise mismatch from error
        return answers.result(call.id, command.name, value)

    def execute_batch(self, batch: CallBatch, answers: Answers) -> None:
        """Runs the function of a batch with the calls that it accepts. The batch takes the outcomes."""
        for part in batch.parts():
            try:
                value = batch.command.function(list(part))
                while value_kind(value) == AWAITABLE:
                    value = self._wait_for(value, batch)
            except Exception as error:
                batch.fail(part, error)
            else:
                batch.succeed(part, value, answers)

    def _resolve_value(
        self, value: Any, call: Call, command: Command, send_chunk: Optional[Callable[[Any], None]]
    ) -> Any:
        """Returns the data of a command's value. Awaits or iterates the value, or both, if necessary."""
        while value_kind(value) == AWAITABLE:
            value = self._wait_for(value, call)
        kind = value_kind(value)
        if kind == ASYNC_GENERATOR:
            from .loop_waits import iterate

            value, kind = iterate(value, call, self.event_loop), GENERATOR
        if kind == GENERATOR:
            value = drive(value, send_chunk) if send_chunk else collect(value, command.name)
        return value

    def _wait_for(self, value: Any, call: Running) -> Any:
        from .loop_waits import wait_for  # with asyncio, which is slow to import

        return wait_for(value, call, self.event_loop)

    def accept(self, call: Call) -> Optional[Command]:
        """Returns the command of a call, None for the health check. Raises a CallError if the call is invalid."""
        if call.deadline is not None and call.deadline <= time.monotonic():
            raise DeadlineExceeded(f"the deadline of '{call.command}' passed before it started")
        if call.command == HEALTH_CHECK:
            return None
        command = find_command(self.commands, call.command)
        command.check(call.args)
        if call.attached:
            decode_arrays(call)
        return command


def health_answer(call: Call, answers: Answers, value: Any) -> Answer:
    """Returns the answer to a successful health check."""
    # The answer of a worker without a check is useful, too: it shows that the worker answers calls.
    try:
        return answers.result(call.id, HEALTH_CHECK, value)
    except Exception:  # the worker is healthy with any value
        return answers.result(call.id, HEALTH_CHECK, None)


class Responder:
    """Runs the commands of calls and makes the answers. For one thread."""

    def __init__(self, work: Work, host: PoolHost, encode_result: Optional[EncodeResult] = None) -> None:
        self._work = work
        self._host = host
        self._encode_result = encode_result
        self._answers = self._make_answers()

    def respond(self, call: Call, outcome: Optional[Outcome] = None) -> Answer:
        """Returns the answer to a call. The window of the call is open while user code runs.

        With the outcome of a function that has run already, continues from there.

        Raises Terminate, and after SIGTERM SystemExit. Ends a forked child that returns from user code.
        """
        host, window = self._host, call.window
        try:
            try:
                # Converting the result, or the data of an error, runs user code too: to_dict() and the like.
                if outcome is None or outcome.was_open:
                    window.open(call.id)
                if call.credit is None:
                    answer = self._work.execute(call, self._answers, outcome=outcome)
                else:
                    answer = self._stream(call, call.credit)
            except Error as error:
                if host.is_gone:
                    exit_forked_child(error)
                answer = self._answers.error(call.id, error)
            finally:
                window.close()
        except Terminate:
            raise
        except BaseException as error:
            self._survive(error)
            answer = self._answers.error(call.id, error)
        if host.is_gone:
            exit_forked_child()
        return answer

    def respond_to_batch(self, batch: CallBatch) -> List[Answer]:
        """respond() for a batch. Returns the answers in the order of its calls."""
        batch.accept(self._work.accept)
        try:
            try:
                batch.window.open(batch.id)
                self._work.execute_batch(batch, self._answers)
                answers = batch.encode_errors(self._answers)
            finally:
                batch.window.close()
        except Terminate:
            raise
        except BaseException as error:
            self._survive(error)
            batch.interrupt(error)
            answers = batch.encode_errors(self._answers)
        if self._host.is_gone:
            exit_forked_child()
        return answers

    def _survive(self, error: BaseException) -> None:
        """Handles an error of user code: ends a forked child, and lets an exit after SIGTERM pass."""
        if self._host.is_gone:
            exit_forked_child(error)
        if issubclass(type(error), SystemExit) and self._host.is_terminated():
            raise error
        if not issubclass(type(error), Exception):  # the encoder may be in the middle of a value
            self._answers = self._make_answers()

    def _make_answers(self) -> Answers:
        return Answers(self._host.limits, self._encode_result, self._host.share)

    def _stream(self, call: Call, credit: Tuple[int, int]) -> Answer:
        sender = ChunkSender(call, credit, self._answers, self._host.outbox.batch, self._host.credit)
        try:
            return self._work.execute(call, self._answers, sender.send)
        finally:
            sender.close()
