"""What calls without a pool have for a host: tools that a unit test gives them."""

import inspect
from contextlib import contextmanager
from typing import Any, Callable, Iterator, Mapping, Optional

from .call import Call
from .convert import ResultEncoder
from .description import type_name
from .errors import HostError
from .host import Host
from .json_text import decode
from .limits import DEFAULT_LIMITS
from .placeholders import with_attachments
from .request import encode_args
from .rules import Rules

_fakes: Optional[Mapping[str, Callable[..., Any]]] = None


@contextmanager
def fake_tools(tools: Mapping[str, Callable[..., Any]]) -> Iterator[None]:
    """Stands in for the tools of the host while unit tests run commands with worker.call().

        with skep.fake_tools({"lookup_user": lambda id: {"name": "Ada"}}):
            assert worker.call("greet", user=42) == "Hello, Ada"

    In the block skep.call_host() calls these functions, on the thread that asks. Arguments and results are converted as
    on their way to a host and back. What a function raises is a skep.HostError with its type and message, unless it
    is one already. For all threads; a block inside another one hides its tools.
    """
    global _fakes
    before, _fakes = _fakes, tools
    try:
        yield
    finally:
        _fakes = before


class LocalHost(Host):
    """Nobody at the other end."""

    correlation = "local-"

    def call_tool(self, call: Call, name: str, timeout: Optional[float], args: Mapping[str, Any]) -> Any:
        return _as_received(name, _call_fake(name, args))

    async def call_tool_async(self, call: Call, name: str, timeout: Optional[float], args: Mapping[str, Any]) -> Any:
        value = _call_fake(name, args)
        return _as_received(name, await value if inspect.isawaitable(value) else value)


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


def _as_received(name: str, value: Any) -> Any:
    text, attachments = ResultEncoder(Rules(DEFAULT_LIMITS)).encode(value, name)
    return with_attachments(decode(text), [part.toreadonly() for part in attachments])
