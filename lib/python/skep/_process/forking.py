"""How a template forks a worker: by a process in between, which ends at once, so that the template is no parent."""

import fcntl
import os
import signal
from typing import Callable, NamedTuple, NoReturn, Optional

from .exits import EXIT_FAILED
from .interpreter import fork

_FIRST_SPARE_DESCRIPTOR = 3
_SET_UP = b"\0"  # the report of a worker after its set-up; the text of its error otherwise


class WorkerEnds(NamedTuple):
    """The descriptors of a worker: its channels, its output, both ends of its leash, and the line for shared memory."""

    data: int
    control: int
    stdout: int
    stderr: int
    leash_host: int
    leash_guard: int
    regions: Optional[int] = None

    def close(self) -> None:
        for descriptor in self:
            if descriptor is not None:
                os.close(descriptor)


def out_of_the_way(descriptor: int) -> int:
    """Returns the descriptor, moved if it has the number of stdin, stdout or stderr."""
    if descriptor >= _FIRST_SPARE_DESCRIPTOR:
        return descriptor
    copy = fcntl.fcntl(descriptor, fcntl.F_DUPFD_CLOEXEC, _FIRST_SPARE_DESCRIPTOR)
    os.close(descriptor)
    return copy


def enter_session(ends: WorkerEnds) -> None:
    """Gives this process the session, the leash and the output of a worker that a pool has started."""
    os.setsid()
    for end in (ends.leash_host, ends.leash_guard):
        _arm_leash(end)
        os.close(end)
    null = os.open(os.devnull, os.O_RDONLY)
    for descriptor, number in ((null, 0), (ends.stdout, 1), (ends.stderr, 2)):
        if descriptor != number:  # os.open() may return 0
            os.dup2(descriptor, number)
            os.close(descriptor)


def _arm_leash(end: int) -> None:
    """Makes the kernel kill the group of this process when the leash is pulled."""
    fcntl.fcntl(end, fcntl.F_SETOWN, -os.getpid())
    fcntl.fcntl(end, fcntl.F_SETSIG, signal.SIGKILL)
    fcntl.fcntl(end, fcntl.F_SETFL, os.O_RDWR | os.O_ASYNC)


def fork_worker(
    set_up: Callable[[], None], report_worker: Callable[[int, int], None], report_failure: Callable[[str], None]
) -> bool:
    """Forks a worker. Returns true in the worker, after set_up(), and false in this process, after a report.

    Reports the worker's pid and pidfd. The worker is the child of the nearest subreaper above this process.
    """
    try:
        middle = fork()
    except OSError as error:
        report_failure(f"fork: {error.strerror}")
        return False
    if middle == 0:
        try:
            _fork_from_middle(set_up, report_worker, report_failure)
        except BaseException:  # the script must not see the end of this process
            os._exit(EXIT_FAILED)
        return True
    try:
        end = os.waitid(os.P_PID, middle, os.WEXITED)  # lint: allow process because this is no host
    except ChildProcessError:  # the script ignores SIGCHLD
        return False
    if end is None or end.si_status != 0:
        report_failure(f"the process that forks the worker has ended: {end}")
    return False


def _fork_from_middle(
    set_up: Callable[[], None], report_worker: Callable[[int, int], None], report_failure: Callable[[str], None]
) -> None:
    """Forks the worker, reports, and ends this process. Returns in the worker."""
    try:
        result, reported = os.pipe()
        worker = fork()
    except OSError as error:
        _end(report_failure, f"fork: {error.strerror}")
    if worker == 0:
        os.close(result)
        _set_up(set_up, reported)
        return
    os.close(reported)
    problem = os.read(result, 4096)
    if problem != _SET_UP:
        _end(report_failure, problem.decode(errors="replace") or "the worker has ended at once")
    try:
        pidfd = getattr(os, "pidfd_open")(worker)  # since Python 3.9
    except OSError as error:
        os.kill(worker, signal.SIGKILL)
        _end(report_failure, f"pidfd_open: {error.strerror}")
    _end(report_worker, worker, pidfd)


def _set_up(set_up: Callable[[], None], reported: int) -> None:
    try:
        set_up()
    except BaseException as error:
        os.write(reported, f"the worker: {error}"[:1000].encode(errors="replace"))
        os._exit(EXIT_FAILED)
    os.write(reported, _SET_UP)
    os.close(reported)


def _end(report: Callable[..., None], *values: object) -> NoReturn:
    """Reports, and ends this process without anything that belongs to the template."""
    status = EXIT_FAILED
    try:
        report(*values)
        status = 0
    finally:
        os._exit(status)
