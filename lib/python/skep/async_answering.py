"""From a call to its answer, on an event loop."""

import asyncio
from typing import Tuple

from .async_streams import AsyncOutlet
from .async_work import do_async
from .call import Call
from .errors import Cancelled
from .forked import leave
from .loop_window import LoopWindow
from .messages import Answer, Answers
from .pool_host import PoolHost
from .work import Work


class AsyncAnswering:
    """Does what calls ask for and makes their answers."""

    def __init__(self, work: Work, host: PoolHost) -> None:
        self._work = work
        self._host = host
        self._answers = Answers(host.limits)

    async def answer_to(self, call: Call, window: LoopWindow) -> Answer:
        """The answer to a call. Only SystemExit comes through, and a forked child that comes back from user code ends
        here. Once it has been made there is nothing left to be cancelled."""
        try:
            window.begin()
            credit = call.credit
            if credit is None:
                answer = await do_async(self._work, call, self._answers)
            else:
                answer = await self._stream(call, window, credit)
        except SystemExit:
            raise
        except BaseException as error:
            if self._host.is_gone:
                leave(error)
            answer = self._error(call, error)
        if self._host.is_gone:
            leave()
        return answer

    async def _stream(self, call: Call, window: LoopWindow, credit: Tuple[int, int]) -> Answer:
        outlet = AsyncOutlet(call, window, credit, self._answers, self._host)
        try:
            return await do_async(self._work, call, self._answers, outlet.send)
        finally:
            outlet.close()

    def _error(self, call: Call, error: BaseException) -> Answer:
        if issubclass(type(error), asyncio.CancelledError) and call.cancelled():
            error = Cancelled().with_traceback(error.__traceback__)
        return self._answers.error(call.id, error)
