"""What a command yields, where nobody takes it piece by piece."""

from typing import Any, List

from .errors import ResultTooLarge

_MOST = 10_000


class Collected:
    """A list that does not grow for ever."""

    def __init__(self, command: str) -> None:
        self.values: List[Any] = []
        self._command = command

    def add(self, value: Any) -> None:
        """Appends a value; ResultTooLarge if there are too many."""
        if len(self.values) == _MOST:
            raise ResultTooLarge(f"'{self._command}' yields more than {_MOST} values; call it as a stream")
        self.values.append(value)
