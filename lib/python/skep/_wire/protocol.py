"""The versions of the SDK and of the protocol, and a welcome's limits. The host kills a worker that exceeds them."""

import sys
from typing import Any, Dict, NamedTuple

__version__ = "0.1.0"
PROTOCOL_VERSION = 1

DEFAULT_FRAME_LIMIT = 64 * 1024 * 1024
_NO_LIMIT = sys.maxsize


class Limits(NamedTuple):
    """The limits of every frame that a worker sends. An older host sends the first limit only."""

    frame_bytes: int
    json_bytes: int = _NO_LIMIT  # of the JSON object in a frame
    json_depth: int = _NO_LIMIT  # of that object: {} has 1, {"value":[]} has 2
    tree_bytes: int = _NO_LIMIT  # the cost of the object in the host's memory, by the formula of the protocol
    attachments: int = _NO_LIMIT
    tool_calls: int = 16  # of one call, unanswered at a time
    message_bytes: int = _NO_LIMIT  # of the JSON object of a message that is neither an answer nor a tool call
    tool_call_bytes: int = _NO_LIMIT  # of the frame of a tool call
    places: int = 0  # attachments of a message that may lie in shared memory

    @classmethod
    def from_welcome(cls, limits: Dict[str, Any]) -> "Limits":
        """Returns the limits of a welcome. Raises KeyError or TypeError if they are malformed."""
        known = {name: limits[name] for name in cls._fields if name in limits}
        if not all(type(limit) is int for limit in known.values()):
            raise TypeError(f"limits are integers, not {known}")
        return cls(**{"frame_bytes": limits["frame_bytes"], **known})


# The limits of a pool with the default configuration.
MAX_MESSAGE_BYTES = 128 * 1024
DEFAULT_LIMITS = Limits(
    DEFAULT_FRAME_LIMIT, DEFAULT_FRAME_LIMIT, 512, 96 * 1024 * 1024, 65536, 16, MAX_MESSAGE_BYTES, 8 * 1024 * 1024
)
