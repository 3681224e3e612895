"""Shows what all threads are doing, on a signal, even while one of them keeps the GIL for ever."""

import signal
from typing import Optional

_STDERR = 2  # not sys.stderr, which user code may have replaced, and which may be None


def dump_on_signal() -> Optional[int]:
    """Has a signal print the stacks of all threads to stderr; returns which, None if there is none to be had.

    It is SIGUSR2, or SIGUSR1 if that is taken. faulthandler's handler is C code that needs no GIL. Forked
    children inherit it, and may set what they like; a program that is executed starts without it.
    """
    try:
        import faulthandler

        for number in (signal.SIGUSR2, signal.SIGUSR1):
            if _is_free(number):
                faulthandler.register(number, file=_STDERR, all_threads=True, chain=False)
                return int(number)
    except Exception:  # whatever it is that this platform lacks, a worker can do without
        pass
    return None


def _is_free(number: int) -> bool:
    """Whether nobody handles or ignores the signal. The kernel is asked, too: the signal module does not know
    of what C code has installed, and faulthandler is C code."""
    if signal.getsignal(number) != signal.SIG_DFL:
        return False
    with open("/proc/self/status", "rb") as status:
        masks = [int(line.split()[1], 16) for line in status if line.startswith((b"SigIgn:", b"SigCgt:"))]
    return len(masks) == 2 and not any(mask >> (number - 1) & 1 for mask in masks)
