"""A worker that computes with arrays of numpy."""

import numpy

import skep

worker = skep.Worker()


@worker.command
def brighten(image, factor):
    """Takes an image of height x width x 3 bytes. Returns the brighter image and the mean of each color."""
    brighter = numpy.clip(image * factor, 0, 255).astype("u1")
    return {"image": brighter, "means": brighter.mean(axis=(0, 1))}


@worker.command
def samples(count, block):
    """Sends more samples than a message may hold, block by block."""
    for start in range(0, count, block):
        yield numpy.arange(start, min(start + block, count), dtype="f4")


if __name__ == "__main__":
    worker.run()
