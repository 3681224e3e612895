"""A model of two dense layers: numbers in, as many numbers out."""

import numpy

import skep

WIDTH = 1024

worker = skep.Worker()
random = numpy.random.default_rng(1)
first, second = random.standard_normal((2, WIDTH, WIDTH), dtype="f4") / 32


@worker.command(batch=32)
def embed(calls):
    """Takes one attachment per call. Two products of matrices serve all calls."""
    rows = numpy.stack([numpy.frombuffer(call.attachments[0], "f4") for call in calls])
    return list(numpy.maximum(rows @ first, 0) @ second)


if __name__ == "__main__":
    worker.run()
