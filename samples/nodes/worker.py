"""Draws pictures, slowly, and counts."""

import os
import time

import skep

worker = skep.Worker()


@worker.command
def draw(seconds):
    time.sleep(seconds)
    return os.environ["NODE"]


@worker.command
def count(to):
    for number in range(1, to + 1):
        time.sleep(0.02)
        yield number
    return os.environ["NODE"]


if __name__ == "__main__":
    worker.run()
