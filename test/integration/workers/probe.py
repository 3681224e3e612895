"""Looks at its process from inside, and ends it in ways that a plain command does not."""

import os
import subprocess
import sys
import threading
import time

import skep

worker = skep.Worker()


@worker.command
def pid():
    return os.getpid()


@worker.command
def sleep(seconds):
    time.sleep(seconds)


@worker.command
def sleep_until_cancelled(marker):
    """Leaves a file behind when it begins, and one when it is interrupted."""
    try:
        with open(marker + ".sleeps", "w", encoding="utf-8"):
            pass
        time.sleep(1000)
    except skep.Cancelled:
        with open(marker, "w", encoding="utf-8"):
            pass
        raise


@worker.command
def leave_later(seconds, status):
    """Ends the process by itself, while no call runs."""
    timer = threading.Timer(seconds, os._exit, (status,))
    timer.daemon = True
    timer.start()


@worker.command
def mutter(text):
    """Prints no line end."""
    sys.stdout.write(text)
    sys.stdout.flush()


@worker.command
def write_bytes(descriptor, values):
    os.write(descriptor, bytes(values))


@worker.command
def all_variables():
    """The names in this process's environment."""
    return sorted(os.environ)


@worker.command
def variables_of_child():
    """The names in the environment of a process that this one starts."""
    text = subprocess.run(["env"], stdout=subprocess.PIPE, check=True).stdout.decode()
    return sorted(line.split("=", 1)[0] for line in text.splitlines() if "=" in line)


@worker.command
def path_of_sdk():
    return os.path.dirname(skep.__file__)


worker.run()
