"""Remembers the last number that each session has sent."""

import os

import skep

worker = skep.Worker()
last = {}


@worker.command
def follow(number):
    """This process, and the number that came before."""
    session = skep.current().session
    before = last.get(session, 0)
    last[session] = number
    return [os.getpid(), before]


if __name__ == "__main__":
    worker.run()
