"""How a worker is at its calls, by what its script says and what its pool wants."""

from .connection import Connection
from .event_loop import EventLoop
from .interrupts import Interrupts
from .patched import replacement_of_threads
from .pool_host import PoolHost
from .process_profile import ProcessProfile
from .profile import Profile
from .thread_profile import ThreadProfile
from .work import Work

EXIT_UNSUITABLE = 78


class Unsuitable(Exception):
    """The script cannot do what its pool wants of it."""


def check_threads() -> None:
    """Raises Unsuitable if user code has replaced the threads of the standard library."""
    reason = replacement_of_threads()
    if reason is not None:
        raise Unsuitable(reason)


def choose_profile(
    work: Work, event_loop: EventLoop, connection: Connection, interrupts: Interrupts, host: PoolHost
) -> Profile:
    """The profile for that work; Unsuitable says why there is none."""
    threads = _threads(connection.threads)
    if threads > 1 and not work.thread_safe:
        raise Unsuitable(
            f"the pool wants {threads} calls at once in threads of one process (threads_per_worker), and the script "
            "does not say that its commands may run beside each other: if so, create the worker by "
            "skep.Worker(thread_safe=True)"
        )
    if work.is_async:
        if work.plain_commands and not work.thread_safe:
            raise Unsuitable(
                f"the script has async commands and plain ones ({', '.join(work.plain_commands)}): plain ones run in "
                "threads beside the event loop. If they may, create the worker by skep.Worker(thread_safe=True); "
                "otherwise make them async, too"
            )
        from .async_profile import AsyncProfile  # with asyncio, which takes longer to import than all of this

        return AsyncProfile(connection, work, interrupts, host, work.concurrency, event_loop=event_loop)
    if threads > 1:
        return ThreadProfile(connection, work, interrupts, host, threads)
    return ProcessProfile(connection, work, interrupts, host)


def _threads(text: str) -> int:
    if not text.isascii() or not text.isdigit() or int(text) == 0:
        raise Unsuitable(f"SKEP_THREADS is {text!r} instead of a number of threads")
    return int(text)
