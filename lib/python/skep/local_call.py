"""Runs a command in this process, without a host, and yet as one would have it: what Worker.call() does."""

import json
from typing import Any, Mapping, Sequence

from .call import Call, running
from .event_loop import EventLoop
from .json_text import decode
from .limits import DEFAULT_LIMITS
from .local_host import LocalHost
from .messages import Answers
from .placeholders import with_attachments
from .window import Window
from .work import Work


def call_locally(
    work: Work, event_loop: EventLoop, command: str, args: Mapping[str, Any], attachments: Sequence[bytes]
) -> Any:
    """The result as a host gets it, with `bytes` for attachments; what the command raises comes through."""
    message = {"type": "call", "id": 1, "command": command, "args": decode(json.dumps(args, allow_nan=False).encode())}
    parts = [memoryview(memoryview(part).tobytes()) for part in attachments]
    call = Call(message, parts, LocalHost(), Window())
    answers = Answers(DEFAULT_LIMITS)
    known = work.commands.get(command)
    with running(call):
        if known is not None and work.is_async and work.is_for_loop(known):
            from .async_work import do_async  # with asyncio, which takes longer to import than all of this

            body, sent = event_loop.run(do_async(work, call, answers))
        else:
            body, sent = work.do(call, answers)
    return with_attachments(json.loads(b"".join(body))["value"], [bytes(part) for part in sent])
