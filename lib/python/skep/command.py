"""A function that the host may call by name."""

import difflib
import inspect
from typing import Any, Callable, Dict, Iterable, List, Mapping

from .errors import InvalidArguments, UnknownCommand


class Command:
    """A registered function, plain or async, and what it takes."""

    __slots__ = ("function", "name", "is_async", "yields", "_accepted", "_required", "_signature", "_takes_any")

    def __init__(self, name: str, function: Callable[..., Any]) -> None:
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
        self.yields = inspect.isasyncgenfunction(function)  # as an async function
        self.is_async = self.yields or inspect.iscoroutinefunction(function)
        self._accepted = frozenset(p.name for p in named)
        self._required = frozenset(p.name for p in named if p.default is p.empty)
        self._takes_any = any(p.kind is p.VAR_KEYWORD for p in parameters)
        self._signature = str(
            signature.replace(
                parameters=[p.replace(annotation=p.empty) for p in parameters],
                return_annotation=signature.empty,
            )
        )

    def check(self, args: Dict[str, Any]) -> None:
        """Raises InvalidArguments unless the function can be called with these arguments."""
        given = args.keys()
        if not given >= self._required or not (self._takes_any or given <= self._accepted):
            raise InvalidArguments(self._mismatch(given))

    def _mismatch(self, given: Iterable[str]) -> str:
        problems = []
        missing = self._required.difference(given)
        if missing:
            problems.append("is missing " + _arguments(missing))
        unexpected = () if self._takes_any else frozenset(given) - self._accepted
        if unexpected:
            problems.append("does not take " + _arguments(unexpected))
        return f"{self.name}() {' and '.join(problems)}; it takes {self._signature}"


def signature_of(kind: str, name: str, function: Callable[..., Any]) -> inspect.Signature:
    """The parameters of a function; TypeError if it has none to look at."""
    try:
        return inspect.signature(function)
    except ValueError as error:
        raise TypeError(f"{kind} '{name}' has no signature to check arguments against: {error}") from None


def find(commands: Mapping[str, Command], name: str) -> Command:
    """The command of that name, or UnknownCommand with what the caller may have meant."""
    command = commands.get(name)
    if command is None:
        raise UnknownCommand(_unknown(name, sorted(commands)))
    return command


def _unknown(name: str, known: List[str]) -> str:
    if not known:
        return f"unknown command '{name}'; this worker has no commands"
    similar = difflib.get_close_matches(name, known)
    suggestion = f"; did you mean {' or '.join(map(repr, similar))}?" if similar else ";"
    return f"unknown command '{name}'{suggestion} this worker knows {', '.join(known)}"


def _arguments(names: Iterable[str]) -> str:
    listed = ", ".join(map(repr, sorted(names)))
    return ("arguments " if "," in listed else "argument ") + listed
