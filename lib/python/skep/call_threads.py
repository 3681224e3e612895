"""The threads that calls run on."""

import threading
import time
from queue import Empty
from typing import Callable, Optional

from .answering import Answering
from .call import Call, set_running_here
from .concurrent_profile import ConcurrentProfile
from .forked import leave
from .interrupts import Terminate
from .originals import SimpleQueue
from .thread_window import ThreadWindow


class CallThreads:
    """Does calls on threads, of which there are as many as there have been calls at once, up to a limit."""

    def __init__(self, profile: ConcurrentProfile, exit: Callable[[SystemExit], None]) -> None:
        self._profile = profile
        self._exit = exit  # what is done when a command wants to end the process
        self._calls: "SimpleQueue[Optional[Call]]" = SimpleQueue()
        self._ended: "SimpleQueue[None]" = SimpleQueue()
        self._started = 0
        self._lock = threading.Lock()
        self._idle = 0  # threads without a call; less than 0: calls that wait for a thread

    def put(self, call: Call) -> None:
        """Has a call done; RuntimeError if there is no thread and none can be started. By one thread at a time."""
        if not self._find_thread():
            self._start()
        self._calls.put(call)

    def close(self) -> None:
        """There are no more calls. Those that have not begun are left alone."""
        for _ in range(self._started):
            self._calls.put(None)

    def join(self, timeout: Optional[float] = None) -> None:
        """Waits for all threads to end, some seconds at most; daemon threads do not keep the process from its end."""
        end = None if timeout is None else time.monotonic() + timeout
        try:
            while self._started:
                self._ended.get(timeout=None if end is None else max(0.0, end - time.monotonic()))
                self._started -= 1
        except Empty:
            pass

    def _find_thread(self) -> bool:
        """Whether a thread is idle, or there are to be no more threads."""
        self._count(-1)
        return self._idle >= 0 or self._started == self._profile.capacity

    def _start(self) -> None:
        """A thread more. If the process cannot have it, the call waits for another one."""
        self._started += 1
        try:
            threading.Thread(target=self._run, name=f"skep-call-{self._started}", daemon=True).start()
            self._count(1)
        except RuntimeError:
            self._started -= 1
            if self._started == 0:
                self._count(1)
                raise

    def _count(self, change: int) -> None:
        with self._lock:
            self._idle += change

    def _run(self) -> None:
        answering = Answering(self._profile.work, self._profile.host)
        try:
            while True:
                call = self._calls.get()
                if call is None or self._profile.is_stopping:
                    break
                self._answer(call, answering)
                del call
                self._count(1)
        except Terminate:
            pass
        except SystemExit as end:
            if self._profile.host.is_gone:
                leave(end)
            self._exit(end)
        finally:
            self._ended.put(None)

    def _answer(self, call: Call, answering: Answering) -> None:
        assert isinstance(call.window, ThreadWindow)
        call.window.begin()
        set_running_here(call)
        self._profile.begin()
        answer = answering.answer_to(call)
        set_running_here(None)
        if self._profile.checks is not None:
            self._profile.checks.look_for_libraries()
        self._profile.finish(call, answer)
