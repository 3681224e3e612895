"""A C++ header of typed functions for the commands of a worker."""

import re
import typing
from typing import Any, Iterator, List, Set, Tuple, Union

from .._process.diagnostics import printable
from .._wire.arrays import Array, is_numpy_array
from .description import Description, Parameter

_KEYWORDS = frozenset(
    "alignas alignof and and_eq asm auto bitand bitor bool break case catch char char8_t char16_t char32_t class compl "
    "concept const consteval constexpr constinit const_cast continue co_await co_return co_yield decltype default delete "
    "do double dynamic_cast else enum explicit export extern false float for friend goto if inline int long mutable "
    "namespace new noexcept not not_eq nullptr operator or or_eq private protected public register reinterpret_cast "
    "requires return short signed sizeof static static_assert static_cast struct switch template this thread_local throw "
    "true try typedef typeid typename union unsigned using virtual void volatile wchar_t while xor xor_eq".split()
)
_ANY = "boost::json::value"
_PLAIN = {str: "std::string", bool: "bool", int: "std::int64_t", float: "double"}
_HEAD = """\
// Made by `skep describe --cpp {script}`: make it again when the commands change.
// clang-format off

#pragma once

#include <skep/call_interface.hpp>

#include <boost/asio/awaitable.hpp>
#include <boost/json/value.hpp>

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

/// Calls of {script}. An empty optional leaves its argument out.
namespace {namespace} {{
"""


def to_cpp(commands: List[Description], script: str, namespace: str) -> str:
    """Returns the header: a function per command, in a namespace. `script` is the name of the script's file.

    A namespace in another one has the form `outer::inner`.
    """
    names: Set[str] = set()
    space = "::".join(_identifier(part, set()) for part in namespace.split("::"))
    line = printable(script).replace("\n", "\\n")
    parts = [_HEAD.format(script=line, namespace=space)]
    parts += ["\n" + "\n".join(_function(each, names)) + "\n" for each in commands]
    return "".join(parts) + f"\n}} // namespace {space}\n"


def _function(command: Description, functions: Set[str]) -> Iterator[str]:
    """Yields the lines of the function of a command."""
    function = _identifier(command.name, functions)
    names: Set[str] = {"pool", "call"}
    # A parameter with a default follows all others.
    parameters = sorted(command.parameters, key=lambda each: not each.is_required)
    arguments = [(each, _identifier(each.name, names)) for each in parameters]
    listed = ["skep::call_interface& pool", *(_declaration(each, name) for each, name in arguments)]
    if command.takes_any:
        listed.append(f"boost::json::object {_identifier('others', names)} = {{}}")
    result = "skep::reply_stream" if command.is_stream else _result_type(command.type)
    if command.summary:
        yield f"/// {printable(command.summary)}".rstrip("\\")
    yield f"inline boost::asio::awaitable<{result}> {function}("
    yield ",\n".join(f"    {each}" for each in listed) + ") {"
    yield f"    skep::request call({_literal(command.name)}{', std::move(others)' if command.takes_any else ''});"
    for each, name in arguments:
        yield from _passing(each, name)
    operation = "stream" if command.is_stream else "execute" if result == "skep::reply" else f"execute<{result}>"
    yield f"    return pool.{operation}(std::move(call));"
    yield "}"


def _declaration(parameter: Parameter, name: str) -> str:
    kind = _cpp_type(parameter.type, is_argument=True)
    if parameter.is_required:
        return f"const {kind}& {name}"
    return f"const {kind if _is_optional(kind) else f'std::optional<{kind}>'}& {name} = {{}}"


def _passing(parameter: Parameter, name: str) -> Iterator[str]:
    is_optional = _is_optional(_cpp_type(parameter.type, is_argument=True))
    if parameter.is_required and not is_optional:
        yield f'    call.arg({_literal(parameter.name)}, {name});'
        return
    yield f"    if ({name}) {{"
    yield f'        call.arg({_literal(parameter.name)}, *{name});'
    if parameter.is_required:
        yield "    } else {"
        yield f'        call.arg({_literal(parameter.name)}, nullptr);'
    yield "    }"


def _is_optional(kind: str) -> bool:
    return kind.startswith("std::optional<")


def _result_type(hint: Any) -> str:
    """Returns the type of a result. A reply is the type of what has no type of its own, such as attachments."""
    kind = _cpp_type(hint, is_argument=False)
    return "skep::reply" if kind == _ANY else kind


def _cpp_type(hint: Any, is_argument: bool) -> str:
    """Returns the C++ type of a type hint; a JSON value for every other type, and without a hint."""
    if hint in (Array, typing.Any) or is_numpy_array(hint):
        return "skep::ndarray" if is_argument and hint is not typing.Any else _ANY
    if isinstance(hint, type) and hint in _PLAIN:
        return _PLAIN[hint]
    origin, inner = typing.get_origin(hint), typing.get_args(hint)
    if origin is list:
        return _container("std::vector<{}>", inner[:1], is_argument)
    if origin is dict and inner[:1] == (str,):
        return _container("std::map<std::string, {}>", inner[1:], is_argument)
    is_union = origin is Union or type(hint).__name__ == "UnionType"
    if is_union and len(inner) == 2 and inner[1] is type(None):
        return _container("std::optional<{}>", inner[:1], is_argument)
    return _ANY


def _container(form: str, inner: Tuple[Any, ...], is_argument: bool) -> str:
    """Returns the type of a container. `inner` is empty for a hint without parameters, such as List."""
    kind = _cpp_type(inner[0], is_argument) if inner else _ANY
    is_array_in_object = "skep::ndarray" in kind and form.startswith("std::map")
    return _ANY if kind == _ANY or is_array_in_object else form.format(kind)


def _literal(text: str) -> str:
    """Returns a C++ string literal."""
    return '"' + "".join(map(_literal_part, text)) + '"'


def _literal_part(character: str) -> str:
    if character in '"\\':
        return "\\" + character
    if character.isprintable():
        return character
    # Unlike a hexadecimal escape, an octal one ends after three digits.
    return "".join(f"\\{byte:03o}" for byte in character.encode("utf-8", "surrogatepass"))


def _identifier(name: str, taken: Set[str]) -> str:
    """Returns a C++ identifier for a name. Adds the identifier to `taken`."""
    text = re.sub(r"\W|^(?=\d)", "_", name, flags=re.ASCII)
    while not text or text in _KEYWORDS or text in taken:
        text += "_"
    taken.add(text)
    return text
