"""Calls without a pool: Worker.call(), and the fake tools of unit tests."""

import inspect
import json
from contextlib import contextmanager
from itertools import chain, repeat
from typing import Any, Callable, Dict, Iterator, List, Mapping, Optional, Sequence

from ._calls.batch import CallBatch
from ._calls.call import Call, CallGroup, Host, current_call
from ._calls.command import EngineCommand, find_command
from ._calls.engine import Engine, EngineCalls, EnginePort, left_open_error
from ._calls.event_loop import EventLoop
from ._calls.interrupts import Window
from ._calls.responder import Work
from ._calls.streams import Credit
from ._calls.tools import encode_args
from ._process.diagnostics import type_name
from ._process.interpreter import SimpleQueue
from ._wire.arrays import Array, array, form, is_numpy_array
from ._wire.attachments import keep_in_frame, prepare
from ._wire.conversion import ResultEncoder, with_attachments
from ._wire.errors import HostError
from ._wire.json_rules import Rules
from ._wire.json_text import decode
from ._wire.messages import Answer, Answers
from ._wire.protocol import DEFAULT_LIMITS

_fakes: Optional[Mapping[str, Callable[..., Any]]] = None


@contextmanager
def fake_tools(tools: Mapping[str, Callable[..., Any]]) -> Iterator[None]:
    """Replaces the tools of the host in a block of a unit test, for commands run by worker.call().

        with skep.fake_tools({"lookup_user": lambda id: {"name": "Ada"}}):
            assert worker.call("greet", user=42) == "Hello, Ada"

    In the block, skep.call_host() calls these functions on its own thread. Arguments and results are converted as on
    the way to a host and back. An error of a function becomes a skep.HostError with its type and message; a
    skep.HostError stays unchanged. The block applies to all threads. An inner block hides the tools of the outer one.

    Args:
        tools: functions by tool name. skep.call_host_async() also accepts async functions.
    Returns:
        A context manager.
    """
    global _fakes
    previous, _fakes = _fakes, tools
    try:
        yield
    finally:
        _fakes = previous


class LocalHost(Host):
    """The host of calls without a pool: its tools are the fakes."""

    correlation = "local-"

    def call_tool(self, call: Call, name: str, timeout: Optional[float], args: Mapping[str, Any]) -> Any:
        return _convert_result(name, _call_fake(name, args))

    async def call_tool_async(self, call: Call, name: str, timeout: Optional[float], args: Mapping[str, Any]) -> Any:
        value = _call_fake(name, args)
        return _convert_result(name, await value if inspect.isawaitable(value) else value)


def _call_fake(name: str, args: Mapping[str, Any]) -> Any:
    if _fakes is None:
        raise RuntimeError(f"cannot call tool '{name}' without a pool; give unit tests a fake by skep.fake_tools()")
    if name not in _fakes:
        raise HostError("skep.UnknownTool", f"there is no tool '{name}'; the fakes are {', '.join(_fakes)}")
    text, attachments = encode_args(name, args, DEFAULT_LIMITS)
    try:
        return _fakes[name](**with_attachments(decode(text), attachments))
    except HostError:
        raise
    except Exception as error:
        raise HostError(type_name(type(error)), str(error)) from error


def _convert_result(name: str, value: Any) -> Any:
    text, attachments = ResultEncoder(Rules(DEFAULT_LIMITS)).encode(value, name)
    return with_attachments(decode(text), [part.toreadonly() for part in attachments])


def _encode_args(args: Mapping[str, Any], parts: List[memoryview]) -> Dict[str, Any]:
    """Returns the members of a call with its arguments. Appends the bytes of arrays to the parts."""

    def attach(value: Any) -> Dict[str, Any]:
        if type(value) is not Array and not is_numpy_array(type(value)):
            raise TypeError(f"an argument is JSON or an array, not {type_name(type(value))}")
        sent = array(value)
        parts.append(memoryview(bytes(sent.data)))
        return form(sent, len(parts) - 1)

    decoded, arrays = {}, []
    for name, value in args.items():
        count = len(parts)
        decoded[name] = decode(json.dumps(value, allow_nan=False, default=attach).encode())
        if len(parts) > count:
            arrays.append(name)
    return {"args": decoded, "arrays": arrays}


def call_locally(
    work: Work, event_loop: EventLoop, command: str, args: Mapping[str, Any], attachments: Sequence[bytes]
) -> Any:
    """Runs a command without a pool.

    Returns:
        The result as a host receives it, with `bytes` in the place of attachments.
    Raises:
        The error of the command.
    """
    if work.batch_command(command) is not None:
        (outcome,) = call_batch_locally(work, event_loop, command, [args], [attachments])
        if isinstance(outcome, BaseException):
            raise outcome
        return outcome
    call = _make_call(1, command, args, attachments)
    if work.engine is not None and work.engine.name == command:
        return _run_engine(work, work.engine, call)
    answers = Answers(DEFAULT_LIMITS)
    registered = work.commands.get(command)
    with current_call(call):
        if registered is not None and work.is_async and work.is_for_loop(registered):
            from ._calls.async_responder import execute_async  # with asyncio, which is slow to import

            answer = event_loop.run(execute_async(work, call, answers))
        else:
            answer = work.execute(call, answers)
    return _result_value(answer)


class _LocalPort(EnginePort):
    """The port of an engine for one call. The engine stops after the call."""

    def __init__(self, work: Work, call: Call) -> None:
        self._work = work
        self._has_begun = False
        self.window = Window()
        self.credit = Credit()
        self.limits = DEFAULT_LIMITS
        self.share = keep_in_frame
        self.news = SimpleQueue()
        self.news.put(call)
        self.answer: Optional[Answer] = None
        self.error: Optional[BaseException] = None

    @property
    def is_stopping(self) -> bool:
        return self._has_begun

    def check(self, call: Call) -> None:
        self._work.accept(call)

    def begin(self, call: Call) -> bool:
        self._has_begun = True
        return True

    def write(self, messages: Sequence[Answer]) -> None:
        self.answer = messages[-1]

    def encode_error(self, answers: Answers, call: Call, error: BaseException) -> Answer:
        self.error = error
        return super().encode_error(answers, call, error)


def _run_engine(work: Work, engine: EngineCommand, call: Call) -> Any:
    """Runs an engine for one call without a stream, whose result are its chunks."""
    port = _LocalPort(work, call)
    calls = EngineCalls(port)
    with current_call(CallGroup("an engine")):
        engine.function(Engine(calls, port.window))
    calls.fail_all(left_open_error(engine.name))
    calls.wait_for_call()  # until the answer is written
    if port.error is not None:
        raise port.error
    assert port.answer is not None
    return _result_value(port.answer)


def call_batch_locally(
    work: Work,
    event_loop: EventLoop,
    command: str,
    args: Sequence[Mapping[str, Any]],
    attachments: Sequence[Sequence[bytes]],
) -> List[Any]:
    """Runs a batch command for calls with these arguments and attachments, without a pool.

    Returns:
        The result of each call as a host receives it, an exception for a call that fails.
    Raises:
        UnknownCommand, or ValueError if the calls are no batch of the command.
    """
    find_command(work.commands, command)
    registered = work.batch_command(command)
    if registered is None:
        raise ValueError(f"'{command}' is not a batch command")
    if not 1 <= len(args) <= registered.most:
        raise ValueError(f"a batch of '{command}' has 1 to {registered.most} calls, not {len(args)}")
    calls = [
        _make_call(index, command, each, parts)
        for index, (each, parts) in enumerate(zip(args, chain(attachments, repeat(()))), 1)
    ]
    batch = CallBatch(registered, calls, Window())
    answers = Answers(DEFAULT_LIMITS)
    batch.accept(work.accept)
    with current_call(batch):
        if work.is_async and work.is_for_loop(registered):
            from ._calls.async_responder import execute_batch_async  # with asyncio: slow to import

            event_loop.run(execute_batch_async(batch, answers))
        else:
            work.execute_batch(batch, answers)
    return [each if isinstance(each, BaseException) else _result_value(each) for each in batch.outcomes()]


def _make_call(call_id: int, command: str, args: Mapping[str, Any], attachments: Sequence[bytes]) -> Call:
    parts = [memoryview(memoryview(part).tobytes()) for part in attachments]
    message = {"type": "call", "id": call_id, "command": command, **_encode_args(args, parts)}
    return Call(message, parts, LocalHost(), Window())


def _result_value(answer: Answer) -> Any:
    body, parts = answer
    return with_attachments(json.loads(b"".join(body))["value"], [bytes(part) for part in prepare(parts)])
