"""Says something on stderr, in whatever state user code has left that, and in text that does nothing to a terminal."""

import contextlib
import os
import re
import sys

_STDERR = 2
# Controls but for tabs and newlines, marks of direction, separators, annotations: those that the host escapes.
_HARMFUL = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u206f\ufeff\ufff9-\ufffb]"
)


def say(text: str) -> None:
    """Writes to sys.stderr, or to the descriptor if that is None, closed or broken."""
    try:
        sys.stderr.write(text)
        sys.stderr.flush()
    except Exception:
        with contextlib.suppress(OSError):
            os.write(_STDERR, text.encode("utf-8", "backslashreplace"))


def script_name() -> str:
    """What to call the worker's script."""
    arguments = getattr(sys, "argv", None)
    return os.path.basename(arguments[0] if arguments else "") or "this script"


def printable(text: str) -> str:
    """A text of somebody else's as a terminal may show it; what is escaped in JSON text stays the same JSON."""
    return _HARMFUL.sub(lambda match: f"\\u{ord(match[0]):04x}", text)
