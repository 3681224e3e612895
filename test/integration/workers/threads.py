"""A worker that runs its commands in threads beside each other."""

import sys
import threading

import skep

worker = skep.Worker(thread_safe="--not-thread-safe" not in sys.argv)

_barriers = {}
_lock = threading.Lock()
_cleanups = 0


@worker.command
def meet(count, at=""):
    """Returns when as many calls are here as are to meet; how many they are."""
    with _lock:
        barrier = _barriers.setdefault(at, threading.Barrier(count))
    barrier.wait(20)
    return count


@worker.command
def wait_for_ever():
    global _cleanups
    try:
        skep.progress(0)
        return skep.call_host("wait")
    finally:
        with _lock:
            _cleanups += 1


@worker.command
def cleanups():
    return _cleanups


@worker.command
def count_together(to, count):
    """Counts no faster than the others that count."""
    for value in range(to):
        meet(count, at=f"count {value}")
        yield value


if __name__ == "__main__":
    worker.run()
