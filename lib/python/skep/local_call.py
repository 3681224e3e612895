"""Runs a command in this process, without a host, and yet as one would have it: what Worker.call() does."""

import json
import time
from typing import Any, Dict, List, Mapping, Sequence

from .call import Call, running
from .json_text import decode
from .limits import DEFAULT_LIMITS
from .messages import Answers
from .work import Work


def call_locally(work: Work, command: str, args: Mapping[str, Any], attachments: Sequence[bytes]) -> Any:
    """The result as a host gets it, with `bytes` for attachments; what the command raises comes through."""
    message = {"id": 1, "command": command, "args": decode(json.dumps(args, allow_nan=False).encode())}
    parts = [memoryview(memoryview(part).tobytes()) for part in attachments]
    call = Call(message, parts, lambda _: False, time.monotonic())
    with running(call):
        body, sent = work.do(call, Answers(DEFAULT_LIMITS))
    return _received(b"".join(body), [bytes(part) for part in sent])


def _received(body: bytes, attachments: List[bytes]) -> Any:
    def put_back(members: Dict[str, Any]) -> Any:
        index = members.get("$attachment")
        if len(members) == 1 and type(index) is int and 0 <= index < len(attachments):
            return attachments[index]
        return members

    return json.loads(body, object_hook=put_back)["value"]
