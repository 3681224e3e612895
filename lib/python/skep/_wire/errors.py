"""What can go wrong with a call.

The public ones claim to be of the module `skep`: that is where user code finds them, and what tracebacks and
remote errors name.
"""

from typing import Any, Optional

_MAX_CODE_BYTES = 128


class Error(Exception):
    """Raised by user code to say that the caller is at fault, not the worker.

        raise skep.Error("bad_image", "not an image", data={"size": 3})

    The caller gets the code, for programs to tell errors apart, the message, for people to read, and the data,
    converted like a result but without attachments. Data that cannot be sent is left out, and the message says
    so. No traceback travels. A subclass travels under its own name, and its code with it.
    Raises TypeError for a code that is not text, ValueError for one that is empty or takes more than 128 bytes
    in UTF-8.
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
    """The code of an Error as plain text; TypeError or ValueError if it cannot be one."""
    if not isinstance(code, str):
        raise TypeError(f"the code of an error is text, not {code!r}")
    if not 0 < len(code.encode()) <= _MAX_CODE_BYTES:
        raise ValueError(f"the code of an error takes 1 to {_MAX_CODE_BYTES} bytes in UTF-8: {code!r} does not")
    return str.__str__(code)  # a member of an enumeration of texts is one, too


class Cancelled(BaseException):
    """Raised inside a command when its caller has cancelled the call.

    A BaseException, so that `except Exception` in user code does not swallow it. Clean up and let it pass; a
    command that catches it and returns has answered all the same.
    """

    __module__ = "skep"


class HostError(Exception):
    """Raised by skep.call_host() when the host answers with an error.

    `type` and `message` are always there: "skep.UnknownTool" where the host has no such tool. `code` and `data` are
    those that the tool has given, or None.
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
    """What the SDK itself answers a call with. The message says it all: no traceback travels."""


class UnknownCommand(CallError):
    """The worker has no command of that name."""

    __module__ = "skep"


class InvalidArguments(CallError):
    """The command cannot be called with these arguments."""

    __module__ = "skep"


class DeadlineExceeded(CallError):
    """The caller's deadline passed before the command started."""

    __module__ = "skep"


class UnserializableResult(CallError):
    """What a command has returned cannot be sent: `reason` says why, and where in it."""

    __module__ = "skep"

    def __init__(self, command: str, reason: str) -> None:
        super().__init__(command, reason)
        self.command = command
        self.reason = reason

    def __str__(self) -> str:
        return f"result of '{self.command}' cannot be sent: {self.reason}"


class ResultTooLarge(CallError):
    """What a command has returned takes a longer frame than the host accepts."""

    __module__ = "skep"


class Unhealthy(CallError):
    """The health check has found that the worker is not well."""

    __module__ = "skep"


class ProtocolError(Exception):
    """The host sent something that the protocol does not allow."""
