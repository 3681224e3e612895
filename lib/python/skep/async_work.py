"""Does what a call asks for on an event loop."""

from typing import Any, Awaitable, Callable, Optional

from .async_streams import collect_async, drive_async
from .call import Call
from .messages import Answer, Answers
from .work import Work, healthy


async def do_async(
    work: Work, call: Call, answers: Answers, send_chunk: Optional[Callable[[Any], Awaitable[None]]] = None
) -> Answer:
    """Work.do() for an async command, and for calls that run no user code but a health check."""
    command = work.accept(call)
    if command is None:
        return healthy(call, answers, None if work.health_check is None else await work.health_check.run_async())
    value = command.function(**call.args)
    if not command.yields:
        value = await value
    else:
        value = await (drive_async(value, send_chunk) if send_chunk else collect_async(value, command.name))
    return answers.result(call.id, command.name, value)
