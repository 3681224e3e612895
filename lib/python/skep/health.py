"""The health check: what the host has an idle worker run, to see whether it would do its job."""

from typing import Any, Callable

from .errors import Unhealthy
from .returned import AWAITABLE, check_has_run, kind_of
from .signatures import is_async, is_generator, signature_of

# What the host calls. Names with this prefix are the SDK's own; scripts register none of them.
RESERVED_PREFIX = "skep."
HEALTH_CHECK = RESERVED_PREFIX + "health_check"


class HealthCheck:
    """A registered function, plain or async, that looks whether the worker is well."""

    __slots__ = ("name", "is_async", "_function")

    def __init__(self, function: Callable[[], Any]) -> None:
        name = getattr(function, "__name__", None) or repr(function)
        signature = signature_of("health check", name, function)
        if is_generator(function):
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
        self.is_async = is_async(function)
        self._function = function

    def run(self, wait: Callable[[Any], Any]) -> Any:
        """What the function returns, `wait`ed for if it is to be awaited; Unhealthy if that is False."""
        value = self._function()
        return self._well(wait(value) if kind_of(value) == AWAITABLE else value)

    async def run_async(self) -> Any:
        """The same on an event loop."""
        value = self._function()
        if kind_of(value) == AWAITABLE:
            value = await value
        return self._well(value)

    def _well(self, value: Any) -> Any:
        if value is False:
            raise Unhealthy("the health check returned False")
        return check_has_run(f"health check '{self.name}'", value)
