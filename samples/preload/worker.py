"""Answers from a model that takes two seconds to load. The pool loads it once, and forks its workers."""

import os
import signal
import sys
import time

import skep

worker = skep.Worker()
model = None


@worker.on_preload
def load():
    global model
    time.sleep(2)  # imports torch, say, and reads gigabytes
    with open(sys.argv[1]) as file:
        model = {"version": file.read().strip(), "loaded_by": os.getpid()}


@worker.command
def describe():
    return f"model {model['version']}, loaded by process {model['loaded_by']}"


@worker.command
def crash():
    os.kill(os.getpid(), signal.SIGSEGV)


if __name__ == "__main__":
    worker.run()
