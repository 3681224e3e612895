"""A worker that takes and returns arrays, with numpy or without."""

import array

import skep

worker = skep.Worker()


def floats(values):
    return skep.array(array.array("f", values))


def numbers(received):
    """The elements of a float array as a list."""
    return memoryview(bytes(received.data)).cast("f").tolist()


@worker.command
def double(x):
    return {"doubled": floats([2 * each for each in numbers(x)]), "shape": list(x.shape), "raw": b"raw"}


@worker.command
def kind(x):
    return type(x).__name__


@worker.command
def back(x):
    return x


@worker.command
def zeros(count):
    return skep.array(bytes(count))


@worker.command
def blocks(count):
    for index in range(count):
        yield [floats([index] * 3)]


@worker.command
def ask(x):
    return skep.call_host("negate", x=x, factor=-1)


worker.run()
