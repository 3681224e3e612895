"""The model of the benchmarks of batches: two dense layers. batch_model.py rows=N span=S measures it alone.

Prints one line of JSON, as skep_bench does.
"""

import json
import os
import sys
import time

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # as the pool sets it for its workers

import numpy  # noqa: E402

WIDTH = 1024

_random = numpy.random.default_rng(1)
_first, _second = _random.standard_normal((2, WIDTH, WIDTH), dtype="f4") / 32
_inputs = _random.standard_normal((256, WIDTH), dtype="f4")
_next = 0


def run(count):
    """Computes so many rows, other ones each time. Returns a number for each."""
    global _next
    _next = (_next + count) % (len(_inputs) - count)
    rows = _inputs[_next : _next + count]
    return (numpy.maximum(rows @ _first, 0) @ _second).argmax(axis=1)


def measure(rows, span):
    calls = 0
    run(rows)
    begin = time.perf_counter()
    end = begin + span
    while time.perf_counter() < end:
        run(rows)
        calls += rows
    took = time.perf_counter() - begin
    return {"calls_per_s": calls / took, "call_us": took * 1e6 / calls}


if __name__ == "__main__":
    args = dict(pair.split("=", 1) for pair in sys.argv[1:])
    print(json.dumps(measure(int(args["rows"]), float(args["span"]))))
