"""Does what a call asks for on an event loop."""

from typing import Any, Awaitable, Callable, Optional

from .async_streams import collect_async, drive_async
from .call import Call
from .messages import Answer, Answers
from .returned import ASYNC_GENERATOR, AWAITABLE, GENERATOR, kind_of
from .work import Work, healthy


async def do_async(
    work: Work, call: Call, answers: Answers, send_chunk: Optional[Callable[[Any], Awaitable[None]]] = None
) -> Answer:
    """Work.do() for a command of the loop, and for calls that run no user code but a health check."""
    command = work.accept(call)
    if command is None:
        return healthy(call, answers, None if work.health_check is None else await work.health_check.run_async())
    try:
        value = command.function(**call.args)
        while kind_of(value) == AWAITABLE:
            value = await value
        if kind_of(value) in (GENERATOR, ASYNC_GENERATOR):
            value = await (drive_async(value, send_chunk) if send_chunk else collect_async(value, command.name))
    except TypeError as error:
        mismatch = command.mismatch(error)
        if mismatch is None:
            raise
        raise mismatch from error
    return answers.result(call.id, command.name, value)
