"""Yields numbers, and keeps a tally of the generators that have begun and been cleaned up, in a file that outlives it."""

import functools
import os

import skep

worker = skep.Worker()


@worker.on_start
def open_tally():
    global write
    tally = os.open(os.path.join(os.environ["TALLY"], str(os.getpid())), os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    # A function in C, which a cancellation cannot interrupt: nor can it come between `finally` and the call of one.
    write = functools.partial(os.write, tally)


@worker.command
def count(to, size):
    text = "x" * size
    try:
        write(b"b")
        for number in range(to):
            yield [number, text]
        return to
    finally:
        write(b"c")


worker.run()
