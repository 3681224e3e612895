"""The well-behaved worker of the tests."""

import hashlib
import logging
import os
import signal
import subprocess
import sys
import time

import skep

worker = skep.Worker()


@worker.command
def echo(value):
    return value


@worker.command
def add(a, b=1):
    return a + b


@worker.command
def repeat(text, times):
    return text * times


@worker.command
def log(logger, level, text):
    logging.getLogger(logger).log(logging.getLevelName(level), text)


@worker.command
def pid():
    return os.getpid()


@worker.command
def sleep(seconds):
    time.sleep(seconds)
    return seconds


@worker.command
def spin(seconds):
    """Computes in Python code, which lets other threads run."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        pass
    return seconds


@worker.command
def hold_gil():
    """Computes in C code that never lets other threads run; takes longer than any test."""
    import re

    return bool(re.match(r"(a+)+$", "a" * 64 + "b"))


@worker.command
def fail(message):
    raise ValueError(message)


@worker.command
def refuse(code, message, data=None):
    raise skep.Error(code, message, data)


@worker.command
def die(number=signal.SIGKILL):
    os.kill(os.getpid(), number)
    time.sleep(60)


@worker.command
def heritage():
    return [worker.slot, worker.previous_exit]


@worker.command
def leave(status):
    raise SystemExit(status)


@worker.command
def say(text, stream="stdout"):
    print(text, file=getattr(sys, stream))


@worker.command
def environment(name):
    return os.environ.get(name)


@worker.command
def directory():
    return os.getcwd()


@worker.command
def descriptors():
    """What this process has open, by number."""
    return {name: os.readlink("/proc/self/fd/" + name) for name in os.listdir("/proc/self/fd")
            if os.path.exists("/proc/self/fd/" + name)}


@worker.command
def signals():
    """The ignored and blocked signals, as in /proc/self/status."""
    with open("/proc/self/status") as status:
        lines = dict(line.split(":", 1) for line in status)
    return {name: lines[name].strip() for name in ("SigIgn", "SigBlk")}


@worker.command
def grandchild():
    """A process of this worker's group that would live for long."""
    return subprocess.Popen(["sleep", "1000"]).pid


@worker.command
def forked_child():
    """A copy of this process, with the channels to the host, that would live for long."""
    child = os.fork()
    if child == 0:
        time.sleep(1000)
    return child


@worker.command
def segment():
    """A segment in /dev/shm, which a process of this worker's group is to remove once this one has ended."""
    from multiprocessing import resource_tracker, shared_memory

    segments.append(shared_memory.SharedMemory(create=True, size=4096))
    while not ignores_sigterm(resource_tracker._resource_tracker._pid):
        time.sleep(0.01)
    return segments[-1].name


segments = []


def ignores_sigterm(process):
    with open(f"/proc/{process}/status") as status:
        ignored = next(line.split()[1] for line in status if line.startswith("SigIgn"))
    return int(ignored, 16) >> (signal.SIGTERM - 1) & 1 == 1


@worker.command
def parent_of(child):
    with open(f"/proc/{child}/stat") as stat:
        return int(stat.read().rpartition(")")[2].split()[1])


@worker.command
def join_host():
    try:
        os.setpgid(0, os.getpgid(os.getppid()))
    except OSError as error:
        return type(error).__name__
    return "joined"


@worker.command
def swell(mebibytes):
    global ballast
    ballast = bytearray(b"x") * (mebibytes << 20)


kept = bytearray(b"kept")


def nested(depth):
    value = []
    for _ in range(depth - 1):
        value = [value]
    return value


@worker.command
def evaluate(expression):
    return eval(expression)


@worker.command
def remaining():
    return skep.current().remaining


@worker.command
def reverse():
    """The call's attachments, each reversed."""
    return [bytes(attachment)[::-1] for attachment in skep.attachments()]


@worker.command
def mirror():
    """What the call's attachment is like, and the same bytes."""
    data = skep.attachments()[0]
    return {"sha256": hashlib.sha256(data).hexdigest(), "data": data}


@worker.command
def zeros(count):
    return bytes(count)


@worker.command
def context():
    call = skep.current()
    return {"session": call.session, "correlation_id": call.correlation_id, "metadata": call.metadata,
            "has_deadline": call.remaining is not None}


worker.run()
