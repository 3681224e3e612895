"""Remembers its visitors, and dies of some of them."""

import os

import skep

worker = skep.Worker()
visits = {}  # by session


@worker.command
def visit():
    """Who has been here, and how often."""
    session = skep.current().session
    visits[session] = visits.get(session, 0) + 1
    return [os.getpid(), visits[session]]


@worker.command
def count(to):
    for _ in range(to):
        yield os.getpid()


@worker.command
def ask(number):
    return [os.getpid(), skep.call_host("twice", number=number)]


@worker.command
def step():
    """The same for everybody; but what it finds in the memory of some sessions is too much for it."""
    if (skep.current().session or "").startswith("doomed"):
        os.abort()
    return os.getpid()


worker.run()
