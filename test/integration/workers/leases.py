"""Counts in its memory how often it was called."""

import skep

worker = skep.Worker()
counted = 0


@worker.command
def count():
    global counted
    counted += 1
    return counted


@worker.command
def clear():
    global counted
    counted = 0


if __name__ == "__main__":
    worker.run()
