"""Objections to a fork of this process: threads, devices, and descriptors that parent and child must not share."""

import contextlib
import os
import socket
import threading
import time
from typing import Collection, Iterator, List

_DEVICES = ("/dev/nvidia", "/dev/kfd")  # of GPUs; they do not work in a forked child
_POLLS = ("anon_inode:[eventpoll]", "anon_inode:[io_uring]")
_END_OF_THREADS = 0.5  # seconds that a joined thread has to leave the process


def find_objections(own: Collection[int]) -> List[str]:
    """Returns the objections to a fork, each with a remedy. `own` are descriptors of the SDK."""
    if not hasattr(os, "pidfd_open"):
        return ["launch.preload needs Python 3.9 or later"]
    threads = _names_of_threads()
    objections = [f"{_count(threads)}: {', '.join(threads)}; start them in on_start"] if threads else []
    return objections + list(dict.fromkeys(_objections_to_descriptors(own)))


def _count(threads: List[str]) -> str:
    return "1 thread" if len(threads) == 1 else f"{len(threads)} threads"


def _names_of_threads() -> List[str]:
    """Returns the names of the threads besides the main thread. Waits for threads that are about to end."""
    last_look = time.monotonic() + _END_OF_THREADS
    names = list(_other_threads())
    while names and time.monotonic() < last_look:
        time.sleep(0.01)
        names = list(_other_threads())
    return names


def _other_threads() -> Iterator[str]:
    names = {thread.native_id: thread.name for thread in threading.enumerate()}
    for task in map(int, os.listdir("/proc/self/task")):
        if task != os.getpid():
            with contextlib.suppress(OSError):  # the thread has ended
                with open(f"/proc/self/task/{task}/comm") as comm:
                    yield names.get(task) or comm.read().strip()


def _objections_to_descriptors(own: Collection[int]) -> Iterator[str]:
    for descriptor in map(int, os.listdir("/proc/self/fd")):
        with contextlib.suppress(OSError):  # the descriptor of the list itself
            target = os.readlink(f"/proc/self/fd/{descriptor}")
            if target.startswith(_DEVICES):
                yield f"{target} is open: use the device in on_start"
            elif target in _POLLS:
                yield f"descriptor {descriptor} is {target[11:]}, as of an event loop: create it in on_start"
            elif target.startswith("socket:") and descriptor > 2 and descriptor not in own:
                yield f"descriptor {descriptor} is a socket{_peer(descriptor)}: open it in on_start"


def _peer(descriptor: int) -> str:
    """Returns the address of a socket as the end of a text."""
    with contextlib.suppress(OSError):
        with socket.socket(fileno=os.dup(descriptor)) as copy:
            for preposition, find in (("to", copy.getpeername), ("at", copy.getsockname)):
                with contextlib.suppress(OSError):
                    address = find()
                    if address:
                        return f" {preposition} {_text(address)}"
    return ""


def _text(address: object) -> str:
    return ":".join(map(str, address[:2])) if isinstance(address, tuple) else str(address)
