"""Several calls at once, each on a thread; the main thread takes them from the host."""

from typing import Any, Optional

from .call import Call
from .call_threads import CallThreads
from .concurrent_profile import ConcurrentProfile
from .connection import leave_with_group
from .interrupts import Terminate
from .thread_window import ThreadWindow

UNWIND = 1.0  # seconds that terminated calls have to clean up


class ThreadProfile(ConcurrentProfile):
    """What a worker does whose commands may run beside each other."""

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self._threads = CallThreads(self, self._end)
        self._exit: Optional[SystemExit] = None

    def serve(self) -> None:
        try:
            self._take_calls()
            self._threads.close()
            with self._interrupts.window():
                self._threads.join()
        except Terminate:
            self._threads.close()
            self.interrupt_all(Terminate)
            self._threads.join(UNWIND)
            raise
        if self._exit is not None:
            raise self._exit

    def _take_calls(self) -> None:
        while not self._interrupts.stopping:
            with self._interrupts.window():
                frame = self._connection.receive()
            if frame is not None:
                window = ThreadWindow()
                call = Call(frame.message, frame.attachments, self.host, window)
                self.come(call, window)
                try:
                    self._threads.put(call)
                except RuntimeError as error:  # there are too many threads
                    self.fail(call, error)
                del call, window
            elif not self._interrupts.stopping:
                leave_with_group()
            del frame  # which may be large, and the next one may be long in coming

    def _end(self, exit: SystemExit) -> None:
        self._exit = exit
        self._interrupts.stopping = True
        self._connection.stop_receiving()
