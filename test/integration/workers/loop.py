"""A worker whose commands are async: many at once on one event loop."""

import asyncio

import skep

worker = skep.Worker(concurrency=100)

_here = 0
_all_here = None
_cleanups = 0


@worker.on_start
async def prepare():
    global _all_here
    _all_here = asyncio.Event()


@worker.command
async def meet(count):
    """Returns when as many calls are here as are to meet; how many they are."""
    global _here
    _here += 1
    if _here == count:
        _all_here.set()
    await asyncio.wait_for(_all_here.wait(), 20)
    return _here


@worker.command
async def wait_for_ever():
    global _cleanups
    try:
        skep.progress(0)
        await asyncio.Event().wait()
    finally:
        await asyncio.sleep(0)
        _cleanups += 1


@worker.command
async def count_for_ever():
    global _cleanups
    try:
        value = 0
        while True:
            yield value
            value += 1
    finally:
        await asyncio.sleep(0)
        _cleanups += 1


@worker.command
async def cleanups():
    return _cleanups


@worker.command
async def sum_by_host(count):
    sums = await asyncio.gather(*(skep.call_host_async("add", a=n, b=n) for n in range(count)))
    return sum(sums)


if __name__ == "__main__":
    worker.run()
