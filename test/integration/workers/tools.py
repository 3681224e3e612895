"""A worker whose commands ask their host for things."""

import os
import signal
import time

import skep

worker = skep.Worker()

_cleanups = 0


@worker.on_start
def announce():
    print("up")


@worker.command
def say_and_ask(text, name):
    """The tool may wait until the text has been heard."""
    print(text)
    return skep.call_host(name)


@worker.command
def ask(name, args):
    return skep.call_host(name, **args)


@worker.command
def ask_error(name):
    """What the tool fails with, as user code sees it."""
    try:
        skep.call_host(name)
    except skep.HostError as error:
        return {"type": error.type, "message": error.message, "code": error.code, "data": error.data}


@worker.command
def ask_and_die(name):
    skep.call_host(name)
    os.kill(os.getpid(), signal.SIGKILL)


@worker.command
def sum_by_host(to):
    total = 0
    for value in range(to):
        total = skep.call_host("add", a=total, b=value)
        yield total


@worker.command
def cleans_up(name):
    global _cleanups
    try:
        skep.call_host(name)
    finally:
        _cleanups += 1


@worker.command
def cleanups():
    return _cleanups


@worker.command
def train(epochs):
    for epoch in range(epochs):
        time.sleep(0.05)
        skep.progress((epoch + 1) / epochs, f"epoch {epoch + 1}")
    return skep.current().correlation_id


if __name__ == "__main__":
    worker.run()
