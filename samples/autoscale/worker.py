"""Sleeps for a time, like a worker that waits for a database or a GPU."""

import time

import skep

worker = skep.Worker()


@worker.command
def work(seconds):
    time.sleep(seconds)
    return seconds


if __name__ == "__main__":
    worker.run()
