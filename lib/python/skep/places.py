"""How error messages name a place in a value: result.items[3]"""

from typing import Any, Iterable

_LONGEST = 240


def place(root: str, keys: Iterable[Any]) -> str:
    """The place that keys and indices lead to, from a root of that name."""
    return shorten(root + "".join(map(_step, keys)))


def shorten(text: str) -> str:
    """The text, or its two ends: keys may be of any length."""
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST // 2]}...{text[-_LONGEST // 2 :]}"


def _step(key: Any) -> str:
    return f".{key}" if isinstance(key, str) and key.isidentifier() else f"[{key!r}]"
