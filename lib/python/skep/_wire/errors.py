"""Errors of calls.

The public classes name `skep` as their module: user code finds them there, and tracebacks and remote errors name it.
"""

from typing import Any, Optional

_MAX_CODE_BYTES = 128


class Error(Exception):
    """Raised by user code to blame the caller and not the worker.

        raise skep.Error("bad_image", "not an image", data={"size": 3})

    Data that cannot be sent is left out, and the message says so. No traceback travels. A subclass travels under
    its own name, together with its code.

    Args:
        code: distinguishes errors for programs; 1 to 128 bytes in UTF-8.
        message: for people.
        data: converted like a result, but without attachments.
    Raises:
        TypeError: the code is not text.
        ValueError: the code is empty or too long.
    """

    __module__ = "skep"

    def __init__(self, code: str, message: str = "", data: Any = None) -> None:
        super().__init__(code, message, data)
        self.code = validate_code(code)
        self.message = message
        self.data = data

    def __str__(self) -> str:
        return str(self.message or self.code)


def validate_code(code: Any) -> str:
    """Returns the code of an Error as plain text. Raises TypeError or ValueError for an invalid code."""
    if not isinstance(code, str):
        raise TypeError(f"the code of an error is text, not {code!r}")
    if not 0 < len(code.encode()) <= _MAX_CODE_BYTES:
        raise ValueError(f"the code of an error takes 1 to {_MAX_CODE_BYTES} bytes in UTF-8: {code!r} does not")
    return str.__str__(code)  # a member of an enumeration of texts is a str, too


class Cancelled(BaseException):
    """Raised inside a command when its caller has cancelled the call.

    A BaseException, so that `except Exception` in user code does not swallow it. Clean up and let it pass; a command
    that catches it and returns has answered the call.
    """

    __module__ = "skep"


class HostError(Exception):
    """Raised by skep.call_host() when the host answers with an error.

    `type` and `message` are always set; the type is "skep.UnknownTool" if the host has no such tool. `code` and `data`
    come from the tool, or are None.
    """

    __module__ = "skep"

    def __init__(self, type: str, message: str, code: Optional[str] = None, data: Any = None) -> None:
        super().__init__(type, message, code, data)
        self.type = type
        self.message = message
        self.code = code
        self.data = data

    def __str__(self) -> str:
        return f"{self.type}: {self.message}"


class CallError(Exception):
    """Base of the errors that the SDK itself answers a call with. Such errors travel without a traceback."""


class UnknownCommand(CallError):
    """The worker has no command of that name."""

    __module__ = "skep"


class InvalidArguments(CallError):
    """The command cannot be called with these arguments."""

    __module__ = "skep"


class DeadlineExceeded(CallError):
    """The caller's deadline passed before the command started, or while an engine served the call."""

    __module__ = "skep"


class UnserializableResult(CallError):
    """The result of a command cannot be sent; `reason` says why, with the place in the result."""

    __module__ = "skep"

    def __init__(self, command: str, reason: str) -> None:
        super().__init__(command, reason)
        self.command = command
        self.reason = reason

    def __str__(self) -> str:
        return f"result of '{self.command}' cannot be sent: {self.reason}"


class ResultTooLarge(CallError):
    """The result of a command takes a longer frame than the host accepts."""

    __module__ = "skep"


class Unhealthy(CallError):
    """The health check returned False."""

    __module__ = "skep"


class ProtocolError(Exception):
    """The host sent something that the protocol does not allow."""
