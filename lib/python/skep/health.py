"""The health check: what the host has an idle worker run, to see whether it would do its job."""

import inspect
from typing import Any, Callable

from .command import signature_of
from .errors import Unhealthy

# What the host calls. Names with this prefix are the SDK's own; scripts register none of them.
RESERVED_PREFIX = "skep."
HEALTH_CHECK = RESERVED_PREFIX + "health_check"


class HealthCheck:
    """A registered function, plain or async, that looks whether the worker is well."""

    __slots__ = ("name", "is_async", "_function")

    def __init__(self, function: Callable[[], Any]) -> None:
        name = getattr(function, "__name__", None) or repr(function)
        signature = signature_of("health check", name, function)
        if inspect.isgeneratorfunction(function) or inspect.isasyncgenfunction(function):
            # Calling it would run none of its code, and look like success.
            raise TypeError(f"health check '{name}' is a generator; health checks return what they find")
        for parameter in signature.parameters.values():
            if parameter.default is parameter.empty and parameter.kind not in (
                parameter.VAR_POSITIONAL,
                parameter.VAR_KEYWORD,
            ):
                raise TypeError(
                    f"health check '{name}' has the required parameter '{parameter.name}'; "
                    "it is called without arguments"
                )
        self.name = name
        self.is_async = inspect.iscoroutinefunction(function)
        self._function = function

    def run(self) -> Any:
        """What the function returns; Unhealthy if that is False."""
        return _well(self._function())

    async def run_async(self) -> Any:
        """The same on an event loop."""
        value = self._function()
        return _well(await value if self.is_async else value)


def _well(value: Any) -> Any:
    if value is False:
        raise Unhealthy("the health check returned False")
    return value
