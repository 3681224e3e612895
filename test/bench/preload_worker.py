"""A worker with a library that takes time to import, and a model of MODEL_MIB MiB. IMPORT_SECONDS more for the import."""

import os
import time

import numpy

import skep

time.sleep(float(os.environ["IMPORT_SECONDS"]))
worker = skep.Worker()
model = numpy.ones(0)


@worker.on_preload
def load():
    global model
    model = numpy.ones(int(os.environ["MODEL_MIB"]) << 17)


@worker.command
def total():
    return float(model.sum())


@worker.command
def spin():
    """Takes a millisecond."""
    end = time.monotonic() + 0.001
    while time.monotonic() < end:
        pass


if __name__ == "__main__":
    worker.run()
