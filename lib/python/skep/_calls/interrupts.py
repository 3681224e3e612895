"""Windows that allow interrupts of a call, and the interrupts of the main thread, for cancelled calls and SIGTERM.

A signal handler runs on the main thread between any two bytecodes. So it may raise only inside a window. The main
thread opens a window around user code and around waiting for the next call. Outside of a window the interrupt stays
pending, and is raised when the next window opens.
"""

import os
import signal
import threading
from contextlib import contextmanager
from typing import Callable, Iterator, Optional, Set, Type

from .._process.exits import Terminate
from .._wire.errors import Cancelled


class Window:
    """The window of a thread: open while its call may be interrupted. This base class never interrupts."""

    thread = -1  # the id of the thread that runs the call
    may_block = True  # if true, blocking the thread delays this call only

    # Callback for an interrupt, on any thread and in signal handlers. A thread that waits with the window closed sets
    # the callback, and resets it afterwards.
    on_interrupt: Optional[Callable[[], None]] = None

    def open(self, call_id: Optional[int] = None) -> None:
        """Opens the window, of the main thread also without a call.

        Raises a pending interrupt: call close() in a try block that includes open().
        """

    def close(self) -> bool:
        """Closes the window. Returns true if it was open. In a call's thread, may raise an interrupt."""
        return False

    def is_cancelled(self, call_id: int) -> bool:
        """Returns true if an unanswered call has been cancelled."""
        return False

    def is_interrupted(self, call_id: int) -> bool:
        """Returns true if the call has been cancelled or must end for another reason."""
        return self.is_cancelled(call_id)

    def cancel(self, call_id: int) -> None:
        """Cancels the call or the batch of the window. Thread-safe."""

    def wake_waiter(self) -> None:
        """Wakes a thread that waits with the window closed, because of an interrupt."""
        on_interrupt = self.on_interrupt
        if on_interrupt is not None:
            on_interrupt()


class CallWindow(Window):
    """The window of one call among several. The call is interrupted at most once."""

    def begin(self) -> None:
        """Binds the call to the calling thread or task. Raises a pending interrupt."""

    def cancel(self, call_id: int) -> None:
        self.interrupt(Cancelled)

    def interrupt(self, kind: Type[BaseException]) -> None:
        """Interrupts the call, by an exception of this class if possible. Thread-safe."""
        raise NotImplementedError


# Interrupting a system call of the main thread takes a signal. A real-time signal collides with nothing: ordinary
# signals belong to user code and to Python, and libraries take real-time signals from either end of the range.
INTERRUPT_SIGNAL = signal.SIGRTMIN + 7


class Interrupts(Window):
    """The pending interrupts of the main thread, and its window."""

    def __init__(self) -> None:
        self.is_stopping = False  # if true, no further call is begun
        self.on_terminate: Callable[[], None] = lambda: None  # for a profile without a window; may be called twice
        self.on_stop: Callable[[], None] = lambda: None  # for SIGTERM with a handler of user code; on any thread
        self._has_sigterm = False
        self._is_terminated = False  # if true, the running call is interrupted
        self._is_installed = False
        self._is_restoring = False  # if true, the handler of SIGTERM is due for reinstallation
        self._is_open = False
        self._call_id: Optional[int] = None
        self._interrupted_call: Optional[int] = None
        self._last_finished_id = -1
        self._cancelled_ids: Set[int] = set()
        self.thread = threading.get_ident()
        self._wakeup, self._wakeup_sink = os.pipe()
        self._wakeup_lock = threading.Lock()
        self._fork_masks = threading.local()  # per thread: each thread has a signal mask, and may fork

    def install(self) -> None:
        """Installs handlers of SIGTERM and of the interrupt signal. On the main thread only."""
        os.set_blocking(self._wakeup, False)
        os.set_blocking(self._wakeup_sink, False)
        signal.set_wakeup_fd(self._wakeup_sink, warn_on_full_buffer=False)
        signal.signal(signal.SIGTERM, self._on_terminate)
        signal.signal(INTERRUPT_SIGNAL, self._on_interrupt)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGTERM, INTERRUPT_SIGNAL})
        self._is_installed = True

    def before_fork(self) -> None:
        """Blocks SIGTERM while a child still has the handler.

        The child would lose the signal, and the shared wakeup descriptor would report it to the worker.
        """
        self._fork_masks.mask = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM})

    def after_fork_in_parent(self) -> None:
        """Unblocks SIGTERM."""
        signal.pthread_sigmask(signal.SIG_SETMASK, self._fork_masks.mask)

    def after_fork_in_child(self) -> None:
        """Resets the signal handling of the child to the defaults."""
        if self._is_installed:  # false in a grandchild, because it inherits the reset handling
            self._is_installed = self._is_open = False
            signal.set_wakeup_fd(-1)
            os.close(self._wakeup)
            os.close(self._wakeup_sink)
            signal.signal(signal.SIGTERM, signal.SIG_DFL)
            signal.signal(INTERRUPT_SIGNAL, signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_SETMASK, self._fork_masks.mask)

    # --- main thread

    @contextmanager
    def window(self) -> Iterator[None]:
        """Opens the window for SIGTERM in a block."""
        try:
            self.open()
            yield
        finally:
            self.close()

    def open(self, call_id: Optional[int] = None) -> None:
        """Opens the window, for a call, or without an id for waiting."""
        self._call_id = call_id
        self._is_open = True
        if self._is_terminated or self._cancelled_ids:
            self._on_interrupt()

    def close(self) -> bool:
        was_open, self._is_open = self._is_open, False
        return was_open

    def finish(self, call_id: int) -> None:
        """Marks a call as answered. Later cancels of it, or of earlier calls, have no effect."""
        self._last_finished_id = call_id
        if self._cancelled_ids:
            self._cancelled_ids.discard(call_id)

    def finish_batch(self, batch_id: int) -> None:
        """Drops the cancellation of a batch. Precondition: its calls are finished."""
        self._cancelled_ids.discard(batch_id)

    def _on_terminate(self, *_: object) -> None:
        self._terminate()
        self._on_interrupt()

    def _on_interrupt(self, *_: object) -> None:
        if self._is_restoring:
            self._is_restoring = False
            signal.signal(signal.SIGTERM, self._on_terminate)
        if not self.is_due():
            return
        if self._is_terminated:
            self._is_open = False  # the unwinding of user code is not interrupted again
            raise Terminate
        self._interrupted_call = self._call_id
        raise Cancelled

    # --- any thread

    def is_due(self) -> bool:
        """Returns true if an interrupt is pending, the window is open, and the interrupt has not been raised yet."""
        return self._is_open and (
            self._is_terminated or (self._call_id in self._cancelled_ids and self._call_id != self._interrupted_call)
        )

    def is_cancelled(self, call_id: int) -> bool:
        return call_id in self._cancelled_ids

    def is_interrupted(self, call_id: int) -> bool:
        return self._is_terminated or call_id in self._cancelled_ids

    def cancel(self, call_id: int) -> None:
        """Cancels a running or a future call, or a running batch. No effect on a finished one."""
        self._cancelled_ids.add(call_id)
        if max(call_id, ~call_id) <= self._last_finished_id:  # checked after adding: finish() may run in between
            self._cancelled_ids.discard(call_id)
            return
        self.wake_waiter()
        if self.is_due():
            self.interrupt()

    def interrupt(self) -> None:
        """Makes the main thread raise a due interrupt, also out of a blocking system call.

        A signal that arrives just before a system call does not interrupt it. So the caller repeats this while the
        interrupt is_due().
        """
        signal.pthread_kill(self.thread, INTERRUPT_SIGNAL)

    def restore(self) -> None:
        """Reinstalls the handler of SIGTERM on the main thread if user code has left it ignored or at its default.

        asyncio leaves the default when code adds a handler and removes it. A handler of user code stays.
        """
        if self._is_installed and signal.getsignal(signal.SIGTERM) in (signal.SIG_DFL, signal.SIG_IGN):
            self._is_restoring = True
            self.interrupt()

    @property
    def wakeup(self) -> int:
        """A descriptor that becomes readable on signals, even while the main thread is about to block."""
        return self._wakeup

    def on_wakeup(self) -> None:
        """Reads the signals that the main thread may have missed."""
        with self._wakeup_lock:
            if not self._has_read_sigterm():
                return
            self._has_sigterm = self.is_stopping = True
        if self._is_taken_by_user_code():  # which decides about the running calls: an interrupt could hit its handler
            self.on_stop()
            self.interrupt()  # another thread may have got the signal while the main thread sleeps
        else:
            self._terminate()
            if self.is_due():
                self.interrupt()

    def is_terminated(self) -> bool:
        """Returns true if SIGTERM has arrived, also if a handler of user code has taken it."""
        self.on_wakeup()
        return self._has_sigterm

    def _terminate(self) -> None:
        self._has_sigterm = self._is_terminated = self.is_stopping = True
        self.on_terminate()
        self.wake_waiter()

    def _is_taken_by_user_code(self) -> bool:
        return signal.getsignal(signal.SIGTERM) not in (self._on_terminate, signal.SIG_DFL, signal.SIG_IGN, None)

    def _has_read_sigterm(self) -> bool:
        try:
            return signal.SIGTERM in os.read(self._wakeup, 4096)
        except BlockingIOError:  # another thread has read them
            return False
