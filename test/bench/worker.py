"""The worker of the benchmarks."""

import time

import skep
from reading import go_through
from tokens import tokens

worker = skep.Worker(thread_safe=True)
memory = []
results = []


@worker.command
def echo(value):
    return value


@worker.command
def echo_bytes():
    return skep.attachments()[0]


@worker.command
def make_bytes(size):
    """Bytes that the worker has already."""
    if len(results) != 1 or len(results[0]) != size:
        results[:] = [b"x" * size]
    return results[0]


@worker.command
def look_at_bytes():
    return len(skep.attachments()[0])


@worker.command
def read_bytes():
    return go_through(skep.attachments()[0])


worker.command(tokens)


@worker.command
def read_memory(mebibytes):
    """Microseconds that it takes to go through so much memory, the same in every call, as a model does."""
    if not memory:
        memory.append(b"a" * (mebibytes << 20))
    began = time.perf_counter()
    memory[0].find(b"x")
    return (time.perf_counter() - began) * 1e6


@worker.command
def work(microseconds):
    """Computes for a short time, sleeps for a long time: there are fewer processors than workers."""
    span = microseconds / 1e6
    if span > 1e-3:
        time.sleep(span)
        return
    end = time.perf_counter() + span
    while time.perf_counter() < end:
        pass


worker.run()
