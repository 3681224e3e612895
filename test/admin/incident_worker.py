"""A worker of a service in trouble: see incident.cpp."""

import ctypes
import logging
import time

import skep

worker = skep.Worker()
log = logging.getLogger("service")


@worker.command
def look_up(number):
    time.sleep(0.01)
    return number


@worker.command
def score(number):
    time.sleep(0.02)
    if number % 10 < 3:
        raise KeyError(f"no features of {number}")
    return number / 2


@worker.command
def rerank(number):
    log.warning("loading the reranker's model for the order %d", number)
    time.sleep(0.05)
    ctypes.string_at(0)


if __name__ == "__main__":
    worker.run()
