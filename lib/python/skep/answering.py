"""From a call to its answer, where both are made on one thread."""

from typing import Tuple

from .call import Call
from .errors import Cancelled, Error
from .forked import leave
from .interrupts import Terminate
from .messages import Answer, Answers
from .outlet import Outlet
from .pool_host import PoolHost
from .work import Work


class Answering:
    """Does what calls ask for and makes their answers; for one thread."""

    def __init__(self, work: Work, host: PoolHost) -> None:
        self._work = work
        self._host = host
        self._answers = Answers(host.limits)

    def answer_to(self, call: Call) -> Answer:
        """The answer to a call, with its window open while user code runs. Only Terminate and SystemExit come through,
        and a forked child that comes back from user code ends here."""
        host, window = self._host, call.window
        try:
            try:
                # Converting the result, or the data of an error, runs user code too: to_dict() and the like.
                window.open(call.id)
                credit = call.credit
                answer = self._work.do(call, self._answers) if credit is None else self._stream(call, credit)
            except Error as error:
                if host.is_gone:
                    leave(error)
                answer = self._answers.error(call.id, error)
            finally:
                window.close()
        except (Terminate, SystemExit):
            raise
        except BaseException as error:
            if host.is_gone:
                leave(error)
            if issubclass(type(error), Cancelled):  # which may have left things half done in there
                self._answers = Answers(host.limits)
            answer = self._answers.error(call.id, error)
        if host.is_gone:
            leave()
        return answer

    def _stream(self, call: Call, credit: Tuple[int, int]) -> Answer:
        outlet = Outlet(call, credit, self._answers, self._host)
        try:
            return self._work.do(call, self._answers, outlet.send)
        finally:
            outlet.close()
