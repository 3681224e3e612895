"""Waits, as code does that talks to a database or computes in native code that lets go of the GIL."""

import time

import skep

worker = skep.Worker(thread_safe=True)


@worker.command
def wait(seconds):
    time.sleep(seconds)
    return skep.current().id


if __name__ == "__main__":
    worker.run()
