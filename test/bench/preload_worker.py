"""A worker with a library that takes time to import, and a model of MODEL_MIB MiB."""

import os

import numpy

import skep

worker = skep.Worker()
model = numpy.ones(0)


@worker.on_preload
def load():
    global model
    model = numpy.ones(int(os.environ["MODEL_MIB"]) << 17)


@worker.command
def total():
    return float(model.sum())


if __name__ == "__main__":
    worker.run()
