"""Calls without a pool: Worker.call(), and the fake tools of unit tests."""

import inspect
import json
from contextlib import contextmanager
from typing import Any, Callable, Dict, Iterator, List, Mapping, Optional, Sequence

from ._calls.call import Call, Host, current_call
from ._calls.event_loop import EventLoop
from ._calls.interrupts import Window
from ._calls.responder import Work
from ._calls.tools import encode_args
from ._process.diagnostics import type_name
from ._wire.arrays import Array, array, form, is_numpy_array
from ._wire.conversion import ResultEncoder, with_attachments
from ._wire.errors import HostError
from ._wire.json_rules import Rules
from ._wire.json_text import decode
from ._wire.messages import Answers
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
    parts = [memoryview(memoryview(part).tobytes()) for part in attachments]
    message = {"type": "call", "id": 1, "command": command, **_encode_args(args, parts)}
    call = Call(message, parts, LocalHost(), Window())
    answers = Answers(DEFAULT_LIMITS)
    registered = work.commands.get(command)
    with current_call(call):
        if registered is not None and work.is_async and work.is_for_loop(registered):
            from ._calls.async_responder import execute_async  # with asyncio, which is slow to import

            body, result_parts = event_loop.run(execute_async(work, call, answers))
        else:
            body, result_parts = work.execute(call, answers)
    return with_attachments(json.loads(b"".join(body))["value"], [bytes(part) for part in result_parts])
