"""Waits, like code that uses a database or computes in native code without the GIL."""

import time

import skep

worker = skep.Worker(thread_safe=True)


@worker.command
def wait(seconds):
    time.sleep(seconds)
    return skep.current().id


if __name__ == "__main__":
    worker.run()
