"""Interrupts a thread that runs a call, and only where that is harmless.

Python can raise an exception in another thread, between any two bytecodes from now on. So that it never hits the SDK's
own code, or the next call, two race for a right that exists once per open window: who interrupts has to take it first,
and who closes the window takes it away. If the latter comes too late, he waits for the exception, which is then at
hand, and discards it if it has not been raised by then.
"""

import threading
from typing import Any, List, Optional, Type

from .originals import SimpleQueue
from .window import CallWindow

set_async_exception: Any
no_exception: Any
try:
    import ctypes

    set_async_exception = ctypes.pythonapi.PyThreadState_SetAsyncExc
    set_async_exception.argtypes = (ctypes.c_ulong, ctypes.py_object)
    no_exception = ctypes.py_object()
except (ImportError, AttributeError):  # calls are interrupted only where they wait for the host
    set_async_exception = None


class ThreadWindow(CallWindow):
    """Where one call may be interrupted, once, on the thread that runs it.

    A thread in a blocking system call is interrupted when it comes back from there.
    """

    def __init__(self) -> None:
        self._due: Optional[Type[BaseException]] = None
        self._is_open = False
        self._was_raised = False
        self._right: List[None] = []
        self._interrupting = threading.Lock()  # between those who interrupt
        self._interrupted: "SimpleQueue[None]" = SimpleQueue()

    # --- the thread that runs the call

    def begin(self) -> None:
        self.thread = threading.get_ident()

    def open(self, call_id: int) -> None:
        if self._was_raised or self._is_open:
            return
        self._is_open = True
        self._right.append(None)
        if self._due is not None:
            self.close()
            self._was_raised = True
            raise self._due

    def close(self) -> bool:
        if not self._is_open:
            return False
        self._is_open = False  # first: if the exception is raised in here, there is nothing left to be done
        try:
            self._right.pop()
        except IndexError:
            self._interrupted.get()
            set_async_exception(self.thread, no_exception)
        return True

    # --- any thread

    def is_cancelled(self, call_id: int) -> bool:
        return self._due is not None

    def interrupt(self, kind: Type[BaseException]) -> None:
        with self._interrupting:
            if self._was_raised:
                return
            self._due = kind
            self.tell_of_interrupt()
            if set_async_exception is not None and self._take_right():
                self._was_raised = True
                set_async_exception(self.thread, kind)
                self._interrupted.put(None)

    def _take_right(self) -> bool:
        try:
            self._right.pop()
            return True
        except IndexError:
            return False
