"""Commands that yield, for the tests of streams."""

import os
import time

import skep

worker = skep.Worker()
cleaned = 0


@worker.command
def count(to, delay=0):
    """Yields 0, 1, ... and returns how many there were."""
    global cleaned
    try:
        for number in range(to):
            if delay:
                time.sleep(delay)
            yield number
        return to
    finally:
        cleaned += 1


@worker.command
def blocks(sizes):
    for size in sizes:
        yield {"size": size, "data": os.urandom(size)}


@worker.command
def die_after(chunks):
    for number in range(chunks):
        yield number
    time.sleep(0.1)  # chunks may wait a millisecond for company
    os.abort()


@worker.command
def fail_after(chunks):
    for number in range(chunks):
        yield number
    raise ValueError("enough")


@worker.command
def cleanups():
    return cleaned


if __name__ == "__main__":
    worker.run()
