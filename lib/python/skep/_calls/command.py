"""The functions of a script that the host calls, commands and the health check, and the kinds of their results."""

import difflib
import functools
import inspect
from types import FunctionType, MappingProxyType, MethodType
from typing import Any, AsyncGenerator, Awaitable, Callable, Dict, Generator, Iterable, List, Mapping, Optional, cast

from .._wire.errors import InvalidArguments, Unhealthy, UnknownCommand
from .._wire.json_rules import per_type


def unwrap_function(kind: str, target: Any) -> Callable[..., Any]:
    """Returns the function to register, without its staticmethod(). Raises TypeError if the target is not callable."""
    function = target.__func__ if isinstance(target, staticmethod) else target
    if not callable(function):
        raise TypeError(f"a {kind} is a function, not {function!r}")
    return cast(Callable[..., Any], function)


def find_signature(kind: str, name: str, function: Callable[..., Any]) -> inspect.Signature:
    """Returns the signature of a function. Raises TypeError if the function has none.

    The outermost function decides, since the SDK calls it: a wrapper may add arguments and provide others. The
    signature of a wrapped function counts only if the wrapper is written in C and has none, as lru_cache().
    """
    try:
        try:
            return _outermost_signature(function)
        except ValueError:
            if not wrapped_functions(function):
                raise
            return inspect.signature(function)
    except ValueError as error:
        raise TypeError(f"{kind} '{name}' has no signature to check arguments against: {error}") from None


def wrapped_functions(function: Callable[..., Any]) -> List[Callable[..., Any]]:
    """Returns the functions behind a wrapper that functools.wraps() has made, the innermost last."""
    functions: List[Callable[..., Any]] = []
    wrapped = _next_wrapped(function)
    while wrapped is not None and wrapped not in functions:
        functions.append(wrapped)
        wrapped = _next_wrapped(wrapped)
    return functions


def is_async(function: Callable[..., Any]) -> bool:
    """Returns true if a function declares that its result must be awaited, or iterated by `async for`."""
    return _declares(inspect.iscoroutinefunction, function) or _declares(inspect.isasyncgenfunction, function)


def is_generator(function: Callable[..., Any]) -> bool:
    """Returns true if a function declares that a call only creates a generator."""
    return _declares(inspect.isgeneratorfunction, function) or _declares(inspect.isasyncgenfunction, function)


def _declares(is_one: Callable[[Any], bool], function: Any) -> bool:
    while isinstance(function, functools.partial):
        function = function.func
    if is_one(function):
        return True
    is_object = not inspect.isroutine(function) and not inspect.isclass(function)
    return is_object and is_one(getattr(type(function), "__call__", None))


def _next_wrapped(function: Callable[..., Any]) -> Optional[Callable[..., Any]]:
    wrapped = getattr(function, "__wrapped__", None)
    return wrapped if callable(wrapped) else None


def _outermost_signature(function: Callable[..., Any]) -> inspect.Signature:
    declared = getattr(function, "__signature__", None)
    wrapped = wrapped_functions(function)
    if declared is not None and any(getattr(each, "__signature__", None) is declared for each in wrapped):
        function = _without_attributes(function)  # functools.wraps() has copied the signature
    return inspect.signature(function, follow_wrapped=False)


def _without_attributes(function: Any) -> Callable[..., Any]:
    """Returns a copy of a function without its attributes."""
    if isinstance(function, MethodType):
        return cast(Callable[..., Any], MethodType(_without_attributes(function.__func__), function.__self__))
    if inspect.isclass(function):
        return cast(Callable[..., Any], function)
    if not isinstance(function, FunctionType):
        return cast(Callable[..., Any], MethodType(type(function).__call__, function))
    copy = FunctionType(
        function.__code__, function.__globals__, function.__name__, function.__defaults__, function.__closure__
    )
    copy.__kwdefaults__ = function.__kwdefaults__
    return copy


# The types of most results.
DATA = frozenset((dict, list, str, int, float, bool, type(None), tuple, bytes))

AWAITABLE = "awaitable"
GENERATOR = "generator"
ASYNC_GENERATOR = "async generator"


def value_kind(value: Any) -> str:
    """Returns AWAITABLE, GENERATOR, ASYNC_GENERATOR, or an empty text for data. Generator-like objects count."""
    kind = _type_kind(type(value))
    # Awaitables of types.coroutine() have the type of generators.
    return AWAITABLE if kind == GENERATOR and inspect.isawaitable(value) else kind


@per_type
def _type_kind(type_of_value: type) -> str:
    if issubclass(type_of_value, Generator):
        return GENERATOR
    if issubclass(type_of_value, AsyncGenerator):
        return ASYNC_GENERATOR
    return AWAITABLE if issubclass(type_of_value, Awaitable) else ""


def refuse_generator(subject: str, value: Any) -> Any:
    """Returns the value. Raises TypeError for a generator: its code has not run, but the call would look successful."""
    kind = value_kind(value)
    if kind in (GENERATOR, ASYNC_GENERATOR):
        article = "an" if kind == ASYNC_GENERATOR else "a"
        raise TypeError(f"{subject} returned {article} {kind}, which has run none of its code")
    return value


class Command:
    """A registered function, plain or async, and its parameters."""

    __slots__ = (
        *("function", "name", "is_async", "wraps_async"),
        *("_parameter_names", "_required_names", "_signature", "_takes_any", "_wrapped_functions"),
    )

    def __init__(self, name: str, function: Callable[..., Any]) -> None:
        _check_dispatch(name, function)
        signature = find_signature("command", name, function)
        self._check_signature(name, signature)
        parameters = signature.parameters.values()
        named = [p for p in parameters if p.kind in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY)]
        self.name = name
        self.function = function
        self._wrapped_functions = wrapped_functions(function)
        self.is_async = is_async(function)
        self.wraps_async = not self.is_async and any(map(is_async, self._wrapped_functions))
        self._parameter_names = frozenset(p.name for p in named)
        self._required_names = frozenset(p.name for p in named if p.default is p.empty)
        self._takes_any = any(p.kind is p.VAR_KEYWORD for p in parameters)
        self._signature = _signature_text(signature)

    def _check_signature(self, name: str, signature: inspect.Signature) -> None:
        """Raises TypeError if the SDK cannot call a function with this signature."""
        for parameter in signature.parameters.values():
            if parameter.kind is parameter.POSITIONAL_ONLY:
                raise TypeError(
                    f"command '{name}' has the positional-only parameter '{parameter.name}'; "
                    "arguments come by name"
                )

    def check(self, args: Dict[str, Any]) -> None:
        """Raises InvalidArguments unless the function accepts these arguments."""
        names = args.keys()
        if not names >= self._required_names or not (self._takes_any or names <= self._parameter_names):
            raise InvalidArguments(self._mismatch(names))

    def mismatch(self, error: TypeError) -> Optional[InvalidArguments]:
        """Returns the error for the caller if a wrapper could not pass the arguments to the function that it wraps."""
        if not self._wrapped_functions:
            return None
        function = self._wrapped_functions[-1]
        text = str(error)
        names = (getattr(function, name, None) for name in ("__name__", "__qualname__"))
        if not any(name and text.startswith(f"{name}() ") for name in names):
            return None
        if _has_run(function, error):
            return None
        return InvalidArguments(f"{text}; it takes {_signature_text(inspect.signature(function))}")

    def _mismatch(self, names: Iterable[str]) -> str:
        problems = []
        missing = self._required_names.difference(names)
        if missing:
            problems.append("is missing " + _argument_list(missing))
        unexpected = () if self._takes_any else frozenset(names) - self._parameter_names
        if unexpected:
            problems.append("does not take " + _argument_list(unexpected))
        return f"{self.name}() {' and '.join(problems)}; it takes {self._signature}"


class BatchCommand(Command):
    """A function, plain or async, that gets a list of calls and returns as many results.

    Args:
        most: limit of the calls in a batch.
        wait_ms: how long the host may wait for more calls.
        is_split: if true, the halves of a batch that fails run again.
    """

    __slots__ = ("most", "wait_ms", "is_split")

    def __init__(
        self, name: str, function: Callable[..., Any], most: int, wait_ms: float = 0, is_split: bool = False
    ) -> None:
        if is_generator(function):
            raise TypeError(f"batch command '{name}' is a generator; it returns a sequence of results")
        super().__init__(name, function)
        self.most = most
        self.wait_ms = wait_ms
        self.is_split = is_split

    def _check_signature(self, name: str, signature: inspect.Signature) -> None:
        check_one_argument(f"batch command '{name}'", "a list of calls", signature)

    def check(self, args: Dict[str, Any]) -> None:
        """Accepts all arguments: the function reads them in its calls."""


class EngineCommand(Command):
    """A function that serves up to `slots` calls at once, step by step."""

    __slots__ = ("slots",)

    def __init__(self, name: str, function: Callable[..., Any], slots: int) -> None:
        if is_generator(function) or is_async(function):
            raise TypeError(f"engine '{name}' is a plain function that iterates over its argument")
        super().__init__(name, function)
        self.slots = slots

    def _check_signature(self, name: str, signature: inspect.Signature) -> None:
        check_one_argument(f"engine '{name}'", "a skep.Engine", signature)

    def check(self, args: Dict[str, Any]) -> None:
        """Accepts all arguments: the function reads them in its calls."""


def check_one_argument(subject: str, argument: str, signature: inspect.Signature) -> None:
    """Raises TypeError unless a function with this signature can be called with one positional argument."""
    try:
        signature.bind(None)
    except TypeError:
        raise TypeError(f"{subject} is called with one argument, {argument}; it takes {signature}") from None


def find_command(commands: Mapping[str, Command], name: str) -> Command:
    """Returns the command of a name. Raises UnknownCommand, with similar names, if there is none."""
    command = commands.get(name)
    if command is None:
        raise UnknownCommand(_unknown_command_text(name, sorted(commands)))
    return command


def _check_dispatch(name: str, function: Callable[..., Any]) -> None:
    if isinstance(getattr(function, "registry", None), MappingProxyType):  # functools.singledispatch()
        raise TypeError(
            f"command '{name}' chooses an implementation by its first positional argument; arguments come by name"
        )


def _signature_text(signature: inspect.Signature) -> str:
    """Returns the parameters of a signature without their types."""
    parameters = [p.replace(annotation=p.empty) for p in signature.parameters.values()]
    return str(signature.replace(parameters=parameters, return_annotation=signature.empty))


def _has_run(function: Callable[..., Any], error: BaseException) -> bool:
    """Returns true if code of the function is in the error's traceback."""
    entry, code = error.__traceback__, getattr(function, "__code__", None)
    while entry is not None and entry.tb_frame.f_code is not code:
        entry = entry.tb_next
    return entry is not None


def _unknown_command_text(name: str, known_names: List[str]) -> str:
    if not known_names:
        return f"unknown command '{name}'; this worker has no commands"
    similar = difflib.get_close_matches(name, known_names)
    suggestion = f"; did you mean {' or '.join(map(repr, similar))}?" if similar else ";"
    return f"unknown command '{name}'{suggestion} this worker knows {', '.join(known_names)}"


def _argument_list(names: Iterable[str]) -> str:
    text = ", ".join(map(repr, sorted(names)))
    return ("arguments " if "," in text else "argument ") + text


# The name by which the host calls the health check. Names with this prefix are reserved for the SDK.
RESERVED_PREFIX = "skep."
HEALTH_CHECK = RESERVED_PREFIX + "health_check"


class HealthCheck:
    """A registered function, plain or async, that checks whether the worker is healthy."""

    __slots__ = ("name", "is_async", "_function")

    def __init__(self, function: Callable[[], Any]) -> None:
        name = getattr(function, "__name__", None) or repr(function)
        signature = find_signature("health check", name, function)
        if is_generator(function):
            # The code of a generator would not run, but the check would look successful.
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
        """Returns the function's result, passed to `wait` if awaitable. Raises Unhealthy if the result is False."""
        value = self._function()
        return self._check_result(wait(value) if value_kind(value) == AWAITABLE else value)

    async def run_async(self) -> Any:
        """Returns the function's result on an event loop. Raises Unhealthy if the result is False."""
        value = self._function()
        if value_kind(value) == AWAITABLE:
            value = await value
        return self._check_result(value)

    def _check_result(self, value: Any) -> Any:
        if value is False:
            raise Unhealthy("the health check returned False")
        return refuse_generator(f"health check '{self.name}'", value)
