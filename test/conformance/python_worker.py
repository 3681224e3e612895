#!/usr/bin/env python3
"""A worker by the Python SDK, with the commands that the conformance program wants.

SKEP_THREADS=4 in its environment has it run them in threads; async_worker.py has async ones.
"""

import contextvars
import time
from concurrent.futures import ThreadPoolExecutor

import skep

worker = skep.Worker(thread_safe=True)


@worker.command
def add(a, b):
    return a + b


@worker.command
def echo(value):
    parts = skep.attachments()
    return {"value": value, "attachments": parts} if parts else value


@worker.command
def fail(message):
    raise ValueError(message)


@worker.command
def tokens(count):
    yield from range(count)


@worker.command
def slow(ms):
    end = time.monotonic() + ms / 1000
    while time.monotonic() < end:
        time.sleep(0.005)  # in a thread, a cancellation has to wait for what blocks


@worker.command
def big(bytes):
    return "x" * bytes


@worker.command
def ask(name, args):
    return skep.call_host(name, **args)


@worker.command
def ask_all(name, items):
    contexts = [contextvars.copy_context() for _ in items]  # by which the threads know the call that they work for
    with ThreadPoolExecutor(len(items)) as threads:
        return list(threads.map(lambda context, item: context.run(skep.call_host, name, item=item), contexts, items))


@worker.command
def report(steps):
    for step in range(steps):
        skep.progress((step + 1) / steps, f"step {step + 1}")


if __name__ == "__main__":
    worker.run()
