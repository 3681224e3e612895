"""A worker whose template gets ill as it forks. A file tells how: "PLACE ILLNESS", with "once" for one fork only.

PLACE is `template`, `between` (the process that forks the worker) or `worker`.
"""

import ctypes
import os
import pathlib
import resource
import signal
import sys
import time

import skep

worker = skep.Worker()
illness = pathlib.Path(sys.argv[1])
template = os.getpid()
hoard = []


def take_all_memory():
    resource.setrlimit(resource.RLIMIT_AS, (0, 0))
    for size in (1 << 16, 1 << 12, 1 << 9, 1 << 5):
        try:
            while True:
                hoard.append(b"x" * size)
        except MemoryError:
            pass


def forbid_processes():
    resource.setrlimit(resource.RLIMIT_NPROC, (0, 0))
    if os.getuid() == 0:  # whom the limit does not bind
        os.setresuid(65534, 65534, 65534)


ILLNESSES = {
    "killed": lambda: os.kill(os.getpid(), signal.SIGKILL),
    "stopped": lambda: os.kill(os.getpid(), signal.SIGSTOP),
    "frozen": lambda: time.sleep(1000),
    "crashed": lambda: ctypes.string_at(0),
    "no_memory": take_all_memory,
    "no_descriptors": lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (0, 0)),
    "no_processes": forbid_processes,
}


def fall_ill(place):
    try:
        words = illness.read_text().split()
    except FileNotFoundError:
        return
    if words[0] == place:
        if "once" in words:
            illness.unlink()
        illness.with_suffix(".pid").write_text(str(os.getpid()))
        ILLNESSES[words[1]]()


os.register_at_fork(
    before=lambda: fall_ill("template") if os.getpid() == template else None,
    after_in_child=lambda: fall_ill("between" if os.getppid() == template else "worker"),
)


@worker.command
def pid():
    return os.getpid()


worker.run()
