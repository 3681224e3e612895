"""Several calls at once, each on a thread. The main thread receives them."""

import threading
import time
from queue import Empty
from typing import Any, List, Optional, Type

from .._calls.batch import CallBatch
from .._calls.call import Call, Running, set_context_call
from .._calls.interrupts import CallWindow
from .._calls.responder import Responder
from .._process.exits import Terminate
from .._process.interpreter import SimpleQueue
from .profile import ConcurrentProfile

set_async_exception: Any
no_exception: Any
try:
    import ctypes

    set_async_exception = ctypes.pythonapi.PyThreadState_SetAsyncExc
    set_async_exception.argtypes = (ctypes.c_ulong, ctypes.py_object)
    no_exception = ctypes.py_object()
except (ImportError, AttributeError):  # interrupts arrive only in waits for the host
    set_async_exception = None


class ThreadWindow(CallWindow):
    """The window of a call on a thread. The call is interrupted at most once.

    Python can raise an exception in another thread, between any two later bytecodes. The exception must not hit
    the SDK's own code or the next call. So an open window has one right to raise: the interrupting thread acquires it, and
    the closing thread removes it. A closing thread that comes too late waits for the exception, already on its way, and
    discards it if it has not been raised.

    A thread in a blocking system call is interrupted when the system call returns.
    """

    def __init__(self) -> None:
        self._exception: Optional[Type[BaseException]] = None
        self._is_open = False
        self._has_raised = False
        self._right: List[None] = []
        self._lock = threading.Lock()  # between interrupting threads
        self._raises: "SimpleQueue[None]" = SimpleQueue()

    # --- the thread that runs the call

    def begin(self) -> None:
        self.thread = threading.get_ident()

    def open(self, call_id: Optional[int] = None) -> None:
        if self._has_raised or self._is_open:
            return
        self._is_open = True
        self._right.append(None)
        if self._exception is not None:
            self.close()
            self._has_raised = True
            raise self._exception

    def close(self) -> bool:
        if not self._is_open:
            return False
        self._is_open = False  # first: an exception that is raised in here ends the closing
        try:
            self._right.pop()
        except IndexError:
            self._raises.get()
            set_async_exception(self.thread, no_exception)
        return True

    # --- any thread

    def is_cancelled(self, call_id: int) -> bool:
        return self._exception is not None

    def interrupt(self, kind: Type[BaseException]) -> None:
        with self._lock:
            if self._has_raised:
                return
            self._exception = kind
            self.wake_waiter()
            if set_async_exception is not None and self._acquire_right():
                self._has_raised = True
                set_async_exception(self.thread, kind)
                self._raises.put(None)

    def _acquire_right(self) -> bool:
        try:
            self._right.pop()
            return True
        except IndexError:
            return False


class CallThreads:
    """A pool of threads for calls and batches. It grows with their concurrency, up to the capacity."""

    def __init__(self, profile: ConcurrentProfile) -> None:
        self._profile = profile
        self._calls: "SimpleQueue[Optional[Running]]" = SimpleQueue()
        self._ends: "SimpleQueue[None]" = SimpleQueue()
        self._thread_count = 0
        self._lock = threading.Lock()
        self._idle = 0  # threads without a call; negative: calls without a thread

    def put(self, running: Running) -> None:
        """Runs a call or a batch on a thread. Raises RuntimeError if no thread starts. By one thread at a time."""
        if not self._reserve_thread():
            self._start()
        self._calls.put(running)

    def close(self) -> None:
        """Ends the threads after their calls. Queued calls do not begin."""
        for _ in range(self._thread_count):
            self._calls.put(None)

    def join(self, timeout: Optional[float] = None) -> None:
        """Waits until all threads have ended, for at most `timeout` seconds. The threads are daemons."""
        end = None if timeout is None else time.monotonic() + timeout
        try:
            while self._thread_count:
                self._ends.get(timeout=None if end is None else max(0.0, end - time.monotonic()))
                self._thread_count -= 1
        except Empty:
            pass

    def _reserve_thread(self) -> bool:
        """Counts a call. Returns true if a thread is idle, or if there are as many threads as allowed."""
        self._count(-1)
        return self._idle >= 0 or self._thread_count == self._profile.capacity

    def _start(self) -> None:
        """Starts a thread. If the process cannot have it, the call waits for another thread."""
        self._thread_count += 1
        try:
            threading.Thread(target=self._run, name=f"skep-call-{self._thread_count}", daemon=True).start()
            self._count(1)
        except RuntimeError:
            self._thread_count -= 1
            if self._thread_count == 0:
                self._count(1)
                raise

    def _count(self, change: int) -> None:
        with self._lock:
            self._idle += change

    def _run(self) -> None:
        responder = Responder(self._profile.work, self._profile.host)
        try:
            while True:
                running = self._calls.get()
                if running is None or self._profile.is_stopping:
                    break
                self._answer(running, responder)
                del running
                self._profile.host.release_attachments()
                self._count(1)
        except (Terminate, SystemExit):  # SIGTERM has arrived, and the main thread ends the worker
            pass
        finally:
            self._ends.put(None)

    def _answer(self, running: Running, responder: Responder) -> None:
        assert isinstance(running.window, ThreadWindow)
        running.window.begin()
        if not self._profile.begin(running):
            return
        set_context_call(running)
        if isinstance(running, CallBatch):
            answers = responder.respond_to_batch(running)
            self._end()
            self._profile.finish_batch(running, answers)
        elif isinstance(running, Call):
            answer = responder.respond(running)
            self._end()
            self._profile.finish(running, answer)

    def _end(self) -> None:
        set_context_call(None)
        if self._profile.checks is not None:
            self._profile.checks.look_for_libraries()


UNWIND_SECONDS = 1.0  # for terminated calls to clean up


class ThreadProfile(ConcurrentProfile):
    """The profile of a worker whose commands may run in several threads."""

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self._threads = CallThreads(self)

    def serve(self) -> None:
        try:
            self._serve_calls()
            self._threads.close()
            with self._interrupts.window():
                self._threads.join()
        except Terminate:
            self._threads.close()
            self.interrupt_all(Terminate)
            self._threads.join(UNWIND_SECONDS)
            raise

    def _serve_calls(self) -> None:
        while not self._interrupts.is_stopping:
            with self._interrupts.window():
                running = self.with_batch(self.receive_call())
            if running is not None:
                self._put(running)
            del running  # a frame may be large, and the next one far away
            self._host.release_attachments()

    def _put(self, running: Running) -> None:
        self.admit(running, ThreadWindow())
        try:
            self._threads.put(running)
        except RuntimeError as error:  # too many threads
            self.fail(running, error)
