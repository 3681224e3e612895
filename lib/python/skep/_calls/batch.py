"""Batches: calls that the function of a batch command serves together."""

from typing import AbstractSet, Any, Callable, Dict, Iterator, List, Mapping, Optional, Sequence, Tuple, Type, Union

from .._process.diagnostics import type_name
from .._process.exits import exit_forked_child
from .._wire.errors import Cancelled, ProtocolError
from .._wire.messages import Answer, Answers
from .call import Call, CallGroup, Running
from .command import BatchCommand
from .interrupts import CallWindow, Window


class CallBatch(CallGroup):
    """The calls of one batch, and the outcome of each: an answer or an error.

    First accept(), then the function of the command runs with each list of parts(), and succeed() or fail() takes what
    it returns or raises.
    """

    def __init__(self, command: BatchCommand, calls: Sequence[Call], window: Window) -> None:
        super().__init__("a batch")
        self.host = calls[0].host
        self.window = window
        self.command = command
        self.keep(calls)
        self._running: Sequence[Call] = ()
        self._parts: List[Sequence[Call]] = []
        self._outcomes: Dict[int, Union[Answer, BaseException]] = {}

    def keep(self, calls: Sequence[Call]) -> None:
        """Drops all calls but these. At least one; before accept()."""
        self.calls = calls
        self.id = ~calls[0].id  # unlike the id of any call

    def cancelled(self) -> bool:
        """Returns true if no caller waits for a call that the function has got."""
        return bool(self._running) and all(call.cancelled() for call in self._running)

    def cancel_if_abandoned(self) -> None:
        """Interrupts the function if all of its calls are cancelled. Thread-safe."""
        if self.cancelled():
            self.window.cancel(self.id)

    def accept(self, check: Callable[[Call], object]) -> None:
        """Begins the batch. A call that is cancelled or that `check` raises an error for does not run."""
        running = []
        for call in self.calls:
            try:
                if call.cancelled():
                    raise Cancelled
                check(call)
            except (Exception, Cancelled) as error:
                self._outcomes[call.id] = error
            else:
                running.append(call)
        self._running = running
        if running:
            self._parts.append(running)
            self.cancel_if_abandoned()  # for cancels that came before the assignment

    def parts(self) -> Iterator[Sequence[Call]]:
        """Yields the calls of each run of the function."""
        while self._parts:
            yield self._parts.pop()

    def succeed(self, part: Sequence[Call], value: Any, answers: Answers) -> None:
        """Takes the value that the function has returned for a part."""
        try:
            results = _results_of(self.command.name, value, len(part))
        except Exception as error:  # of the iteration
            self._set_all(part, error)
            return
        for call, result in zip(part, results):
            self._outcomes[call.id] = self._outcome(call, result, answers)

    def fail(self, part: Sequence[Call], error: Exception) -> None:
        """Takes an error of the function. Splits the part if the command says so."""
        if self.host.is_gone:
            exit_forked_child(error)
        if self.command.is_split and len(part) > 1:
            middle = len(part) // 2
            self._parts += (part[middle:], part[:middle])
        else:
            self._set_all(part, error)

    def interrupt(self, error: BaseException) -> None:
        """Takes an error that ends the function: the outcome of the calls without an answer."""
        self._parts.clear()
        self._set_all([call for call in self._running if not isinstance(self._outcomes.get(call.id), tuple)], error)

    def reject(self, error: BaseException) -> None:
        """Takes an error that keeps the batch from beginning."""
        self._set_all(self.calls, error)

    def outcomes(self) -> List[Union[Answer, BaseException]]:
        """Returns the outcomes in the order of the calls."""
        return [self._outcomes[call.id] for call in self.calls]

    def encode_errors(self, answers: Answers) -> List[Answer]:
        """Returns the answers in the order of the calls. May run user code, as Answers.error()."""
        groups: Dict[int, Tuple[BaseException, List[int]]] = {}  # an error and its calls, by the error's identity
        for call_id, outcome in self._outcomes.items():
            if isinstance(outcome, BaseException):
                groups.setdefault(id(outcome), (outcome, []))[1].append(call_id)
        for error, call_ids in groups.values():
            self._outcomes.update(zip(call_ids, answers.errors(call_ids, error)))
        return [outcome for outcome in self.outcomes() if isinstance(outcome, tuple)]

    def _outcome(self, call: Call, result: Any, answers: Answers) -> Union[Answer, BaseException]:
        if isinstance(result, BaseException):
            return result
        try:
            return answers.result(call.id, call.command, result)
        except Exception as error:
            return error

    def _set_all(self, calls: Sequence[Call], error: BaseException) -> None:
        self._outcomes.update((call.id, error) for call in calls)


def _results_of(command: str, value: Any, count: int) -> List[Any]:
    """Returns the results in the value of a batch command. Raises TypeError if it is not a sequence of as many."""
    if type(value) is not list:
        if isinstance(value, (str, bytes, Mapping, AbstractSet)) or not hasattr(value, "__len__"):
            raise TypeError(_expectation(command, count) + f", not {type_name(type(value))}")
        value = list(value)
    if len(value) != count:
        raise TypeError(_expectation(command, count) + f"; it has returned {len(value)}")
    results: List[Any] = value
    return results


def _expectation(command: str, count: int) -> str:
    return f"batch command '{command}' returns a sequence of {count} results, one per call"


def read_batch(first: Call, receive: Callable[[int], Sequence[Call]]) -> Optional[Sequence[Call]]:
    """Returns the calls of the batch that a call begins. A call without one is alone.

    `receive` returns some of the further calls, at most so many. Returns None if there are none. Raises ProtocolError if
    others come.
    """
    size = _batch_size(first)
    command, batch = first.command, _batch_of(first)
    calls = [first]
    while len(calls) < size:
        received = receive(size - len(calls))
        if not received:
            return None
        for call in received:
            if call.command != command or _batch_of(call) != batch:
                raise ProtocolError(f"call {call.id} comes amid batch {batch} of '{command}'")
        calls += received
    return calls


def _batch_of(call: Call) -> Any:
    """Returns the batch as in the message: its number, and how many calls it has. None without one."""
    return call._message.get("batch")


def _batch_size(call: Call) -> int:
    batch = _batch_of(call)
    if batch is None:
        return 1
    if type(batch) is not list or [type(number) for number in batch] != [int, int] or batch[1] < 1:
        raise ProtocolError(f"a batch is its number and that of its calls, not {batch!r}")
    return int(batch[1])


class BatchedWindow(CallWindow):
    """The window of one call of a batch: the function is interrupted when all of its calls are cancelled."""

    def __init__(self, batch: CallBatch) -> None:
        self._batch = batch
        self._is_cancelled = False

    def is_cancelled(self, call_id: int) -> bool:
        return self._is_cancelled

    def interrupt(self, kind: Type[BaseException]) -> None:
        window = self._batch.window
        if kind is Cancelled:
            self._is_cancelled = True
            self._batch.cancel_if_abandoned()
        elif isinstance(window, CallWindow):
            window.interrupt(kind)


def calls_of(running: Running) -> Sequence[Call]:
    """Returns the calls of a batch, or the call alone."""
    if isinstance(running, Call):
        return (running,)
    assert isinstance(running, CallBatch)
    return running.calls
