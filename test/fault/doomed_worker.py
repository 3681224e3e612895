"""A worker of a host that is about to be killed, with a child of its own."""

import signal
import subprocess
import sys
import time

import skep

worker = skep.Worker()
subprocess.Popen(["sleep", "30"])


@worker.on_start
def prepare():
    if "plain" in sys.argv:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)


@worker.command
def spin(seconds):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        pass


worker.run()
