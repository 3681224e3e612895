"""Squares numbers, and fails on request, in each way in which a worker can fail."""

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
    atexit.register(time.sleep, 0.1)  # to make its end visible
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))  # no core files of intended crashes


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
    """Writes to the protocol's channel, where the pool expects an answer."""
    os.write(DATA_CHANNEL, b"\xff" * 64)


@worker.command
def parse(document):
    """Crashes, like a native library with a bug that one input triggers."""
    if document == "poison":
        ctypes.string_at(0)
    return len(document)


@worker.command
def hang():
    """Loops for ever and swallows every exception, its own cancellation included."""
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
