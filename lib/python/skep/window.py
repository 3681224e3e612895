"""Where a call may be interrupted."""

import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING, Callable, Iterator, Optional, Type

if TYPE_CHECKING:
    from .call import Call


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

    def tell_of_interrupt(self) -> None:
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


_NO_WINDOW = Window()


def window_here(call: "Call") -> Window:
    """The window of the thread that runs this: threads that user code has started are not interrupted."""
    return call.window if call.window.thread == threading.get_ident() else _NO_WINDOW


@contextmanager
def uninterrupted(call: "Call") -> Iterator[None]:
    """Closes the window of the call while the block runs, which is not to be left half done.

    One that was closed stays so: signal handlers and finalizers come here from the middle of what is not to be interrupted.
    """
    window = window_here(call)
    was_open = window.close()
    try:
        yield
    finally:
        if was_open:
            window.open(call.id)
