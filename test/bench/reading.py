"""What a model does with its input: goes through all bytes."""

import zlib

try:
    import numpy
except ImportError:
    numpy = None


def go_through(view):
    return zlib.adler32(view) if numpy is None else int(numpy.frombuffer(view, dtype=numpy.uint64).sum()) & 0xFFFF
