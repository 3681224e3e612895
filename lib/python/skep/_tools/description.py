"""The description of a worker: its commands with their parameters and types, as data and as text."""

import collections.abc
import inspect
import typing
from typing import Any, Callable, Dict, List, NamedTuple

from .._calls.command import BatchCommand, Command, EngineCommand, find_signature, is_generator


_NO_HINT = inspect.Signature.empty


class Parameter(NamedTuple):
    """A parameter of a command. `type` is the type hint, `type_text` its text; both are empty without a hint."""

    name: str
    type: Any
    type_text: str
    is_required: bool
    default: str  # as in the source; empty without one


class Description(NamedTuple):
    """A command. `takes_any` is true if it accepts arguments beyond its parameters.

    `batch` is the limit of calls in a batch, `slots` that of calls at once of an engine. Both are 0 for other commands.
    """

    name: str
    parameters: List[Parameter]
    takes_any: bool
    is_stream: bool
    type: Any
    type_text: str
    text: str  # the docstring
    batch: int = 0
    slots: int = 0

    @property
    def summary(self) -> str:
        """The first paragraph of the docstring, in one line."""
        return " ".join(self.text.partition("\n\n")[0].split())


def describe_command(command: Command) -> Description:
    """Returns the description of a command.

    The arguments of a batch's or an engine's calls are unknown: the function reads them in its calls.
    """
    if isinstance(command, EngineCommand):
        text = inspect.getdoc(command.function) or ""
        return Description(command.name, [], True, True, _NO_HINT, "", text, slots=command.slots)
    description = _describe_function(command.name, command.function)
    if isinstance(command, BatchCommand):
        hint = _item_of(description.type)
        text = "" if hint is _NO_HINT else _type_text(hint)
        return description._replace(parameters=[], takes_any=True, type=hint, type_text=text, batch=command.most)
    return description


def _item_of(hint: Any) -> Any:
    """Returns the type of one result of a batch, from the hint of all results."""
    inner = typing.get_args(hint)
    is_sequence = typing.get_origin(hint) in (list, collections.abc.Sequence)
    return inner[0] if is_sequence and inner else _NO_HINT


def _describe_function(name: str, function: Callable[..., Any]) -> Description:
    signature = find_signature("command", name, function)
    hints = _type_hints(function)
    parameters = [
        Parameter(
            each.name,
            hints.get(each.name, each.empty),
            _type_text(each.annotation),
            each.default is each.empty,
            "" if each.default is each.empty else repr(each.default),
        )
        for each in signature.parameters.values()
        if each.kind in (each.POSITIONAL_OR_KEYWORD, each.KEYWORD_ONLY)
    ]
    return Description(
        name,
        parameters,
        any(each.kind is each.VAR_KEYWORD for each in signature.parameters.values()),
        is_generator(function),
        hints.get("return", signature.empty),
        _type_text(signature.return_annotation),
        inspect.getdoc(function) or "",
    )


def to_json(commands: List[Description]) -> List[Dict[str, Any]]:
    """Returns the descriptions as JSON. A type is the text of its hint, null without one."""
    return [
        {
            "name": each.name,
            "parameters": [
                {
                    "name": parameter.name,
                    "type": parameter.type_text or None,
                    "required": parameter.is_required,
                    **({} if parameter.is_required else {"default": parameter.default}),
                }
                for parameter in each.parameters
            ],
            "takes_any": each.takes_any,
            "stream": each.is_stream,
            **({"batch": each.batch} if each.batch else {}),
            **({"slots": each.slots} if each.slots else {}),
            "returns": each.type_text or None,
            "doc": each.text,
        }
        for each in commands
    ]


def to_text(commands: List[Description]) -> str:
    """Returns the descriptions for people: a line per command, and the summary of its docstring."""
    lines = []
    for each in commands:
        lines.append(_line(each))
        if each.summary:
            lines.append(f"    {each.summary}")
    return "".join(f"{line}\n" for line in lines) or "this worker has no commands\n"


def _line(command: Description) -> str:
    parts = [_parameter_text(each) for each in command.parameters] + ["**"] * command.takes_any
    result = f" -> {command.type_text}" if command.type_text else ""
    kind = f"batch of {command.batch} " if command.batch else "stream " if command.is_stream else ""
    return f"{kind}{command.name}({', '.join(parts)}){result}"


def _parameter_text(parameter: Parameter) -> str:
    text = f"{parameter.name}: {parameter.type_text}" if parameter.type_text else parameter.name
    return text if parameter.is_required else f"{text} = {parameter.default}"


def _type_hints(function: Any) -> Dict[str, Any]:
    """Returns the type hints; empty if one of them cannot be evaluated, such as a name for type checkers only."""
    try:
        return typing.get_type_hints(inspect.unwrap(function))
    except Exception:
        return {}


def _type_text(annotation: Any) -> str:
    if annotation is inspect.Signature.empty:
        return ""
    if isinstance(annotation, str):
        return annotation
    return inspect.formatannotation(annotation).replace("typing.", "")
