"""What a worker can be asked to do."""

from typing import Mapping, Optional

from .call import Call
from .command import Command, find
from .errors import DeadlineExceeded
from .health import HEALTH_CHECK, HealthCheck
from .messages import Answer, Answers


class Work:
    """The commands of a worker and its health check."""

    __slots__ = ("commands", "health_check")

    def __init__(self, commands: Mapping[str, Command], health_check: Optional[HealthCheck]) -> None:
        self.commands = commands
        self.health_check = health_check

    def do(self, call: Call, answers: Answers) -> Answer:
        """Does what a call asks for and makes the answer; a CallError if it cannot, or what user code raises."""
        if call.remaining == 0:
            raise DeadlineExceeded(f"the deadline of '{call.command}' passed before it started")
        if call.command == HEALTH_CHECK:
            return self._check_health(call.id, answers)
        command = find(self.commands, call.command)
        command.check(call.args)
        return answers.result(call.id, command.name, command.function(**call.args))

    def _check_health(self, call_id: int, answers: Answers) -> Answer:
        # Without a check it is an answer all the same: the main thread still takes calls.
        value = None if self.health_check is None else self.health_check.run()
        try:
            return answers.result(call_id, HEALTH_CHECK, value)
        except Exception:  # the worker is well; what the check has to say beyond that is not worth a failure
            return answers.result(call_id, HEALTH_CHECK, None)
