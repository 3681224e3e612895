"""Calls of tools on an event loop."""

import asyncio
from typing import Any, Mapping, Optional

from .call import Call
from .loop_mailbox import LoopMailbox
from .request import Request, value_in
from .tools import Tools
from .window import uninterrupted


async def call_async(tools: Tools, call: Call, name: str, timeout: Optional[float], args: Mapping[str, Any]) -> Any:
    """What a tool returns. The loop goes on meanwhile."""
    answers = LoopMailbox()
    request = Request(call, name, timeout, answers)
    request.cancelled = asyncio.CancelledError
    request.encode(args, tools.limits)
    try:
        with uninterrupted(call):
            tools.submit(request)
        while True:
            try:
                item = await asyncio.wait_for(answers.get(), request.left())
            except asyncio.TimeoutError:
                raise request.timed_out() from None
            if call.cancelled():  # which wait_for() forgets, before Python 3.12, where an answer comes at the same moment
                raise request.cancelled()
            with uninterrupted(call):
                if tools.is_answer(request, item):
                    return value_in(item)
    finally:
        with uninterrupted(call):
            tools.withdraw(request)
