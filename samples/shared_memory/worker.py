"""A worker that shares memory with its host: large arrays come and go without a copy."""

import numpy

import skep

WEIGHTS = numpy.linspace(0, 1, 4096, dtype="f4")

worker = skep.Worker()


@worker.command
def brightness(image):
    """Takes a view of the host's image. Returns the mean of its pixels."""
    return image.mean()


@worker.command
def run_model(rows):
    """Writes the output of a "model" where the host reads it: an array of `rows` x 4096 elements."""
    output = numpy.ndarray((rows, len(WEIGHTS)), "f4", skep.shared(rows * WEIGHTS.nbytes))
    return numpy.multiply.outer(numpy.arange(rows, dtype="f4"), WEIGHTS, out=output)


@worker.command
def largest(output):
    """Takes a view of another worker's output. Returns its largest element."""
    return output.max()


if __name__ == "__main__":
    worker.run()
