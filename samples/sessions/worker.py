"""Counts the messages of each visitor in its own memory: fast, and lost with the process."""

import os
import signal

import skep

worker = skep.Worker()
said = {}


@worker.command
def say(text):
    """Returns the number of messages of this visitor to this process."""
    lines = said.setdefault(skep.current().session, [])
    lines.append(text)
    return len(lines)


@worker.command
def crash():
    os.kill(os.getpid(), signal.SIGKILL)


if __name__ == "__main__":
    worker.run()
