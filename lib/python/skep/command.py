"""A function that the host may call by name."""

import difflib
import inspect
from types import MappingProxyType
from typing import Any, Callable, Dict, Iterable, List, Mapping, Optional

from .errors import InvalidArguments, UnknownCommand
from .signatures import is_async, signature_of, wrapped_functions


class Command:
    """A registered function, plain or async, and what it takes."""

    __slots__ = (
        *("function", "name", "is_async", "wraps_async"),
        *("_accepted", "_required", "_signature", "_takes_any", "_wrapped"),
    )

    def __init__(self, name: str, function: Callable[..., Any]) -> None:
        _check_dispatch(name, function)
        signature = signature_of("command", name, function)
        parameters = signature.parameters.values()
        for parameter in parameters:
            if parameter.kind is parameter.POSITIONAL_ONLY:
                raise TypeError(
                    f"command '{name}' has the positional-only parameter '{parameter.name}'; "
                    "arguments come by name"
                )
        named = [p for p in parameters if p.kind in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY)]
        self.name = name
        self.function = function
        self._wrapped = wrapped_functions(function)
        self.is_async = is_async(function)
        self.wraps_async = not self.is_async and any(map(is_async, self._wrapped))
        self._accepted = frozenset(p.name for p in named)
        self._required = frozenset(p.name for p in named if p.default is p.empty)
        self._takes_any = any(p.kind is p.VAR_KEYWORD for p in parameters)
        self._signature = _text(signature)

    def check(self, args: Dict[str, Any]) -> None:
        """Raises InvalidArguments unless the function can be called with these arguments."""
        given = args.keys()
        if not given >= self._required or not (self._takes_any or given <= self._accepted):
            raise InvalidArguments(self._mismatch(given))

    def mismatch(self, error: TypeError) -> Optional[InvalidArguments]:
        """What an error says of the arguments, if a wrapper raised it that could not call what it wraps with them."""
        if not self._wrapped:
            return None
        function = self._wrapped[-1]
        text = str(error)
        names = (getattr(function, name, None) for name in ("__name__", "__qualname__"))
        if not any(name and text.startswith(f"{name}() ") for name in names):
            return None
        if _has_run(function, error):
            return None
        return InvalidArguments(f"{text}; it takes {_text(inspect.signature(function))}")

    def _mismatch(self, given: Iterable[str]) -> str:
        problems = []
        missing = self._required.difference(given)
        if missing:
            problems.append("is missing " + _arguments(missing))
        unexpected = () if self._takes_any else frozenset(given) - self._accepted
        if unexpected:
            problems.append("does not take " + _arguments(unexpected))
        return f"{self.name}() {' and '.join(problems)}; it takes {self._signature}"


def find(commands: Mapping[str, Command], name: str) -> Command:
    """The command of that name, or UnknownCommand with what the caller may have meant."""
    command = commands.get(name)
    if command is None:
        raise UnknownCommand(_unknown(name, sorted(commands)))
    return command


def _check_dispatch(name: str, function: Callable[..., Any]) -> None:
    if isinstance(getattr(function, "registry", None), MappingProxyType):  # functools.singledispatch()
        raise TypeError(
            f"command '{name}' chooses an implementation by its first positional argument; arguments come by name"
        )


def _text(signature: inspect.Signature) -> str:
    """The parameters without their types."""
    parameters = [p.replace(annotation=p.empty) for p in signature.parameters.values()]
    return str(signature.replace(parameters=parameters, return_annotation=signature.empty))


def _has_run(function: Callable[..., Any], error: BaseException) -> bool:
    """Whether code of the function led to the error."""
    entry, code = error.__traceback__, getattr(function, "__code__", None)
    while entry is not None and entry.tb_frame.f_code is not code:
        entry = entry.tb_next
    return entry is not None


def _unknown(name: str, known: List[str]) -> str:
    if not known:
        return f"unknown command '{name}'; this worker has no commands"
    similar = difflib.get_close_matches(name, known)
    suggestion = f"; did you mean {' or '.join(map(repr, similar))}?" if similar else ";"
    return f"unknown command '{name}'{suggestion} this worker knows {', '.join(known)}"


def _arguments(names: Iterable[str]) -> str:
    listed = ", ".join(map(repr, sorted(names)))
    return ("arguments " if "," in listed else "argument ") + listed
