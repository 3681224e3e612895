"""A worker of a host that is about to be killed, with a child of its own."""

import contextlib
import os
import signal
import subprocess
import sys
import time

import skep

worker = skep.Worker()
subprocess.Popen(["sleep", "30"])


def leave_segment():
    """In /dev/shm, to be removed by multiprocessing's resource_tracker, once that is up."""
    from multiprocessing import resource_tracker, shared_memory

    segment = shared_memory.SharedMemory(f"{os.environ['DOOMED']}.{os.getpid()}", create=True, size=4096)
    tracker = resource_tracker._resource_tracker._pid
    ignored = 0
    while not ignored >> (signal.SIGTERM - 1) & 1:
        time.sleep(0.01)
        with open(f"/proc/{tracker}/status") as status:
            ignored = int(next(line.split()[1] for line in status if line.startswith("SigIgn")), 16)
    return segment


def stray():
    """Neither the group nor an end of file nor SIGTERM is to end this process."""
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    os._exit = lambda status: time.sleep(30)
    with contextlib.suppress(PermissionError):  # a process that leads a session cannot leave its group
        os.setpgid(0, os.getpgid(os.getppid()))


@worker.on_start
def prepare():
    global kept
    if "plain" in sys.argv:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
    elif "segments" in sys.argv:
        kept = leave_segment()
    elif "stray" in sys.argv:
        stray()
    if "preload" in sys.argv:  # the nursery finds it
        subprocess.Popen(["sleep", "30"], start_new_session=True)


@worker.command
def spin(seconds):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        pass


@worker.command
def echo():
    return skep.attachments()


worker.run()
