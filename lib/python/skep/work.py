"""What a worker can be asked to do."""

import time
from types import GeneratorType
from typing import Any, Callable, List, Mapping, Optional

from .call import Call
from .command import Command, find
from .errors import DeadlineExceeded
from .health import HEALTH_CHECK, HealthCheck
from .messages import Answer, Answers
from .outlet import collect, drive

DEFAULT_CONCURRENCY = 100


class Work:
    """The commands of a worker and its health check, and what its script says of how they may run."""

    __slots__ = ("commands", "health_check", "thread_safe", "concurrency")

    def __init__(
        self,
        commands: Mapping[str, Command],
        health_check: Optional[HealthCheck],
        thread_safe: bool = False,
        concurrency: int = DEFAULT_CONCURRENCY,
    ) -> None:
        self.commands = commands
        self.health_check = health_check
        self.thread_safe = thread_safe  # whether commands may run beside each other
        self.concurrency = concurrency  # how many async ones at once

    @property
    def is_async(self) -> bool:
        """Whether there is something for an event loop to do."""
        has_check = self.health_check is not None and self.health_check.is_async
        return has_check or any(command.is_async for command in self.commands.values())

    @property
    def plain_commands(self) -> List[str]:
        """The names of those that are no async functions."""
        return [name for name, command in self.commands.items() if not command.is_async]

    def do(self, call: Call, answers: Answers, send_chunk: Optional[Callable[[Any], None]] = None) -> Answer:
        """Does what a call asks for and makes the answer; a CallError if it cannot, or what user code raises.

        What a command yields goes through `send_chunk`, if there is one, and is the answer if there is none.
        """
        command = self.accept(call)
        if command is None:
            return healthy(call, answers, None if self.health_check is None else self.health_check.run())
        value = command.function(**call.args)
        if isinstance(value, GeneratorType):
            value = drive(value, send_chunk) if send_chunk else collect(value, command.name)
        return answers.result(call.id, command.name, value)

    def accept(self, call: Call) -> Optional[Command]:
        """The command that a call is for, None for the health check."""
        if call.deadline is not None and call.deadline <= time.monotonic():
            raise DeadlineExceeded(f"the deadline of '{call.command}' passed before it started")
        if call.command == HEALTH_CHECK:
            return None
        command = find(self.commands, call.command)
        command.check(call.args)
        return command


def healthy(call: Call, answers: Answers, value: Any) -> Answer:
    """The answer to a health check that has succeeded."""
    # Without a check it is an answer all the same: the worker still takes calls.
    try:
        return answers.result(call.id, HEALTH_CHECK, value)
    except Exception:  # the worker is well; what the check has to say beyond that is not worth a failure
        return answers.result(call.id, HEALTH_CHECK, None)
