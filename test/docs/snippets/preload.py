"""The worker of the guide to preloading."""

import numpy

import skep

worker = skep.Worker()
model = numpy.ones(0)
connections = []


@worker.on_preload
def load():
    global model
    model = numpy.load("/srv/model/weights.npy")


@worker.on_start
def connect():
    connections.append(database.connect())


@worker.command
def score(row):
    return float(model @ row)


if __name__ == "__main__":
    worker.run()
