"""One call at a time, on the main thread, in the cheapest way there is: read, run, write."""

from .answering import Answering
from .call import Call, set_running
from .connection import leave_with_group
from .health import HEALTH_CHECK
from .profile import Profile


class ProcessProfile(Profile):
    """What a worker does that knows nothing of others."""

    def serve(self) -> None:
        interrupts, receive = self._interrupts, self._connection.receive
        answering = Answering(self._work, self._host)
        while not interrupts.stopping:
            try:
                interrupts.open()
                frame = receive()
            finally:
                interrupts.close()
            if frame is not None:
                self._answer(Call(frame.message, frame.attachments, self._host, interrupts), answering)
            elif not interrupts.stopping:
                leave_with_group()
            del frame  # which may be large, and the next one may be long in coming

    def cancel(self, call_id: int) -> None:
        self._interrupts.cancel(call_id)

    def _answer(self, call: Call, answering: Answering) -> None:
        self.in_flight = 1
        set_running(call)
        answer = answering.answer_to(call)
        set_running(None)
        self.in_flight = 0
        if call.command != HEALTH_CHECK:
            self.completed += 1
        self._interrupts.finish(call.id)
        self._host.answer(call, answer)
