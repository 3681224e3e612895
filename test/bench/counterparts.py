"""What users of Python have for the same purpose, each at its best: counterparts.py MODE KEY=VALUE...

Prints one line of JSON, as skep_bench does.
"""

import collections
import concurrent.futures
import json
import multiprocessing
import os
import statistics
import subprocess
import sys
import time
from multiprocessing import shared_memory

from reading import go_through

segments = {}  # of a worker, by name


def echo(value):
    return value


def go_through_segment(name):
    if name not in segments:
        segments[name] = shared_memory.SharedMemory(name)
    return go_through(segments[name].buf)


def median_call_us(call, span):
    """The median time of call() from a tenth of `span` on."""
    samples = []
    call()
    warm = time.perf_counter() + span / 10
    end = warm + span
    before = time.perf_counter()
    while before < end or len(samples) < 3:
        call()
        after = time.perf_counter()
        if before >= warm:
            samples.append((after - before) * 1e6)
        before = after
    return statistics.median(samples)


def calls_per_second(submit, wait, in_flight, span):
    """Awaits every result, oldest first, with so many calls in flight at any time."""
    pending = collections.deque(submit() for _ in range(in_flight))

    def exchange(end):
        answered = 0
        while time.perf_counter() < end:
            if wait(pending.popleft()) != "hello":
                raise RuntimeError("it does not echo")
            answered += 1
            pending.append(submit())
        return answered

    exchange(time.perf_counter() + span / 4)
    begin = time.perf_counter()
    answered = exchange(begin + span)
    rate = answered / (time.perf_counter() - begin)
    for each in pending:
        wait(each)
    return rate


def multiprocessing_throughput(workers, callers, span):
    with multiprocessing.Pool(int(workers)) as pool:
        rate = calls_per_second(
            lambda: pool.apply_async(echo, ("hello",)), lambda result: result.get(), int(callers), float(span)
        )
        pool.close()
        pool.join()
    return {"calls_per_s": rate}


def executor_throughput(workers, callers, span):
    with concurrent.futures.ProcessPoolExecutor(int(workers)) as pool:
        rate = calls_per_second(
            lambda: pool.submit(echo, "hello"), lambda future: future.result(), int(callers), float(span)
        )
    return {"calls_per_s": rate}


def pool_call_us(call, span):
    with multiprocessing.Pool(1) as pool:
        took = median_call_us(lambda: call(pool), float(span))
        pool.close()
        pool.join()
    return {"call_us": took}


def multiprocessing_payload(bytes, span):
    value = "x" * int(bytes)
    return pool_call_us(lambda pool: pool.apply(echo, (value,)), span)


def multiprocessing_attachments(bytes, span):
    value = b"x" * int(bytes)
    return pool_call_us(lambda pool: pool.apply(echo, (value,)), span)


def multiprocessing_read(bytes, span):
    value = b"x" * int(bytes)
    return pool_call_us(lambda pool: pool.apply(go_through, (value,)), span)


def segment_read(bytes, span):
    """One segment for all calls, with a copy into it for each."""
    value = b"x" * int(bytes)
    segment = shared_memory.SharedMemory(create=True, size=len(value))

    def call(pool):
        segment.buf[:] = value
        pool.apply(go_through_segment, (segment.name,))

    try:
        return pool_call_us(call, span)
    finally:
        segment.close()
        segment.unlink()


def interpreters(count, sdk):
    """Starts so many interpreters that import the SDK, two at a time, and waits for their end."""
    environment = dict(os.environ, PYTHONPATH=sdk)
    numbers = "\n".join(map(str, range(int(count))))
    command = ["xargs", "-P2", "-n1", sys.executable, "-c", "import skep"]
    begin = time.perf_counter()
    subprocess.run(command, input=numbers, text=True, env=environment, check=True)
    return {"ms": (time.perf_counter() - begin) * 1e3}


MODES = {
    "multiprocessing-throughput": multiprocessing_throughput,
    "executor-throughput": executor_throughput,
    "multiprocessing-payload": multiprocessing_payload,
    "multiprocessing-attachments": multiprocessing_attachments,
    "multiprocessing-read": multiprocessing_read,
    "segment-read": segment_read,
    "interpreters": interpreters,
}

if __name__ == "__main__":
    print(json.dumps(MODES[sys.argv[1]](**dict(pair.split("=", 1) for pair in sys.argv[2:]))))
