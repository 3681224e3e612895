"""Interrupts the main thread, for a cancelled call or SIGTERM, and only where that is harmless.

A signal handler runs on the main thread between any two bytecodes, so raising from it is safe only inside a
window that the main thread opens: around user code, and around waiting for the next call. Outside a window
the request is just noted, and found when the next window opens.
"""

import os
import signal
import threading
from contextlib import contextmanager
from typing import Callable, Iterator, Optional, Set, Type

from .._process.exits import Terminate
from .._wire.errors import Cancelled


class Window:
    """What a thread opens while its call may be interrupted there. This one stands for code that never is."""

    thread = -1  # the one that it is about
    may_block = True  # whether nobody but the call suffers from that

    # Called, on any thread and in signal handlers, when an interrupt is asked for. Set by whoever waits with the window
    # closed, and reset afterwards.
    on_interrupt: Optional[Callable[[], None]] = None

    def open(self, call_id: int) -> None:
        """Opens the window; raises what was asked for before. Pair it with close() in a try block that catches what
        open() raises, too."""

    def close(self) -> bool:
        """Closes the window; whether it was open. Of a thread that is no main thread, this may be where the interrupt
        arrives."""
        return False

    def is_cancelled(self, call_id: int) -> bool:
        """Whether a call that is not answered has been cancelled."""
        return False

    def is_interrupted(self, call_id: int) -> bool:
        """Whether the call has been cancelled or is to end for another reason."""
        return self.is_cancelled(call_id)

    def wake_waiter(self) -> None:
        """An interrupt is asked for: wakes whoever waits with the window closed."""
        on_interrupt = self.on_interrupt
        if on_interrupt is not None:
            on_interrupt()


class CallWindow(Window):
    """The window of one call among several, which is interrupted once at most."""

    def begin(self) -> None:
        """The call begins where this is called; raises what was asked for before."""

    def interrupt(self, kind: Type[BaseException]) -> None:
        """Ends the call where it is, with an exception of that class if possible. On any thread."""
        raise NotImplementedError


# Raising in the main thread while it is blocked in a system call takes a signal. A real-time one collides with
# nothing: ordinary signals belong to user code and to Python, and libraries that use real-time signals take
# them from either end of the range.
INTERRUPT_SIGNAL = signal.SIGRTMIN + 7


class Interrupts(Window):
    """Who has asked for what, and whether the main thread may be interrupted now."""

    def __init__(self) -> None:
        self.is_stopping = False  # take no further call
        self.on_terminate: Callable[[], None] = lambda: None  # called, perhaps twice, where there is no window to open
        self._is_terminated = False  # and interrupt the one that runs
        self._is_installed = False
        self._is_restoring = False  # of the handler of SIGTERM
        self._is_open = False
        self._call_id: Optional[int] = None
        self._interrupted_call: Optional[int] = None
        self._last_finished_id = -1
        self._cancelled_ids: Set[int] = set()
        self.thread = threading.get_ident()
        self._wakeup, self._wakeup_sink = os.pipe()
        self._fork_masks = threading.local()  # any thread may fork, and each has a signal mask of its own

    def install(self) -> None:
        """Takes over SIGTERM and the interrupt signal; on the main thread only."""
        os.set_blocking(self._wakeup_sink, False)
        signal.set_wakeup_fd(self._wakeup_sink, warn_on_full_buffer=False)
        signal.signal(signal.SIGTERM, self._on_terminate)
        signal.signal(INTERRUPT_SIGNAL, self._on_interrupt)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGTERM, INTERRUPT_SIGNAL})
        self._is_installed = True

    def before_fork(self) -> None:
        """Holds SIGTERM back while a child still has our handler: it would be lost on the child, and reported
        to the worker through the wakeup descriptor that the two share."""
        self._fork_masks.mask = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM})

    def after_fork_in_parent(self) -> None:
        """Lets SIGTERM through again."""
        signal.pthread_sigmask(signal.SIG_SETMASK, self._fork_masks.mask)

    def after_fork_in_child(self) -> None:
        """Gives the child the signal handling of an ordinary process."""
        if self._is_installed:  # not in a child of the child, which has what the child has made of it
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
        """Lets SIGTERM interrupt the block."""
        try:
            self.open()
            yield
        finally:
            self.close()

    def open(self, call_id: Optional[int] = None) -> None:
        """Opens the window, for a call or, without one, for waiting."""
        self._call_id = call_id
        self._is_open = True
        if self._is_terminated or self._cancelled_ids:
            self._on_interrupt()

    def close(self) -> bool:
        was_open, self._is_open = self._is_open, False
        return was_open

    def finish(self, call_id: int) -> None:
        """The call is answered; a cancel for it, or for an earlier one, means nothing any more."""
        self._last_finished_id = call_id
        if self._cancelled_ids:
            self._cancelled_ids.discard(call_id)

    def _on_terminate(self, *_: object) -> None:
        self._is_terminated = self.is_stopping = True
        self.on_terminate()
        self.wake_waiter()
        self._on_interrupt()

    def _on_interrupt(self, *_: object) -> None:
        if self._is_restoring:
            self._is_restoring = False
            signal.signal(signal.SIGTERM, self._on_terminate)
        if not self.is_due():
            return
        if self._is_terminated:
            self._is_open = False  # what user code does while it unwinds is not interrupted again
            raise Terminate
        self._interrupted_call = self._call_id
        raise Cancelled

    # --- any thread

    def is_due(self) -> bool:
        """Whether the main thread is to be interrupted, may be, and has not been yet."""
        return self._is_open and (
            self._is_terminated or (self._call_id in self._cancelled_ids and self._call_id != self._interrupted_call)
        )

    def is_cancelled(self, call_id: int) -> bool:
        return call_id in self._cancelled_ids

    def is_interrupted(self, call_id: int) -> bool:
        return self._is_terminated or call_id in self._cancelled_ids

    def cancel(self, call_id: int) -> None:
        """Cancels a call that runs or is still to come; one that is finished is past caring."""
        self._cancelled_ids.add(call_id)
        if call_id <= self._last_finished_id:  # looked at after adding: finish() may run in between
            self._cancelled_ids.discard(call_id)
            return
        self.wake_waiter()
        if self.is_due():
            self.interrupt()

    def interrupt(self) -> None:
        """Makes the main thread look at what is due, also out of a blocking system call.

        A signal that lands just before the main thread enters a system call does not get it out of there, so
        this is repeated for as long as the interrupt is_due().
        """
        signal.pthread_kill(self.thread, INTERRUPT_SIGNAL)

    def restore(self) -> None:
        """Has the main thread take over SIGTERM again, if user code has left it ignored or at its default.

        asyncio does so where code adds a handler and removes it. A handler of the user's own stays.
        """
        if self._is_installed and signal.getsignal(signal.SIGTERM) in (signal.SIG_DFL, signal.SIG_IGN):
            self._is_restoring = True
            self.interrupt()

    @property
    def wakeup(self) -> int:
        """A descriptor that becomes readable on signals, even if the main thread is about to block."""
        return self._wakeup

    def on_wakeup(self) -> None:
        """Reads the signals that the main thread may have missed."""
        if signal.SIGTERM in os.read(self._wakeup, 4096):
            self._is_terminated = self.is_stopping = True
            self.on_terminate()
            self.wake_waiter()
            if self.is_due():
                self.interrupt()
