"""Squares numbers, and goes wrong on request, in each of the ways in which a worker can."""

import atexit
import ctypes
import os
import resource
import signal
import time

import skep

DATA_CHANNEL = int(os.environ["SKEP_DATA_FD"])

worker = skep.Worker()
leaked = []
leak_per_call = 0
is_ill = False


@worker.on_start
def prepare():
    atexit.register(time.sleep, 0.1)  # so that one can see it leave
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))  # a crash on purpose is not worth a core file


@worker.health_check
def feel():
    if is_ill:
        raise RuntimeError("I do not feel well")


@worker.command
def square(number):
    """The good call."""
    if leak_per_call:
        leaked.append(b"x" * leak_per_call)
    return number * number


@worker.command
def spring_a_leak(bytes_per_call):
    global leak_per_call
    leak_per_call = bytes_per_call


@worker.command
def freeze():
    os.kill(os.getpid(), signal.SIGSTOP)


@worker.command
def lie():
    """Writes past the SDK, where the pool expects an answer."""
    os.write(DATA_CHANNEL, b"\xff" * 64)


@worker.command
def parse(document):
    """Like a native library with a bug, which one input brings to light."""
    if document == "poison":
        ctypes.string_at(0)
    return len(document)


@worker.command
def hang():
    """A loop that tries for ever and swallows every exception, that of its own cancellation included."""
    while True:
        try:
            time.sleep(60)
        except BaseException:
            pass


@worker.command
def fall_ill():
    global is_ill
    is_ill = True


if __name__ == "__main__":
    worker.run()
