"""A worker that gets ill on demand: it grows, hangs, crashes, and fails its health check while a file exists."""

import ctypes
import os
import pathlib
import signal
import time

import skep

worker = skep.Worker()
ballast = []
illness = pathlib.Path(os.environ.get("ILLNESS", "/nonexistent"))
starts = os.environ.get("STARTS", "")

if starts == "frozen":
    try:
        illness.touch(exist_ok=False)
        os.kill(os.getpid(), signal.SIGSTOP)
    except FileExistsError:
        pass  # the first process only


@worker.command
def echo(value):
    return value


@worker.command
def pid():
    return os.getpid()


@worker.command
def grow(mebibytes):
    ballast.append(b"x" * (mebibytes << 20))
    return len(ballast)


@worker.command
def hoard(first, then):
    """Takes so much, and a moment later so much more; and never ends."""
    ballast.append(b"x" * (first << 20))
    time.sleep(0.5)
    ballast.append(b"x" * (then << 20))
    time.sleep(600)


@worker.command
def crash(value):
    ctypes.string_at(0)


@worker.command
def stumble(value):
    """Fails while it is ill, in another way each time."""
    if illness.exists():
        raise [ValueError, KeyError, OSError, RuntimeError][value % 4]("ill")
    return value


@worker.command
def spin():
    while True:
        pass


@worker.health_check
def check():
    return not illness.exists()


worker.run()
