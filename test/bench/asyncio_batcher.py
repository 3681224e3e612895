"""Batches as Ray Serve and LitServe make them, rebuilt in plain asyncio: asyncio_batcher.py KEY=VALUE...

A server puts requests into a queue. For each of workers= processes, a task takes the first request, waits up to wait_ms=
for others until it has batch= of them, sends them through a pipe, and answers them when the results are back. callers=
tasks of the same process make one request after the other for span= seconds. Prints one line of JSON, as skep_bench does.
"""

import asyncio
import json
import multiprocessing
import statistics
import sys
import time

import batch_model


def serve(pipe):
    """Runs in a worker process: computes, and echoes the values."""
    while True:
        values = pipe.recv()
        batch_model.run(len(values))
        pipe.send(values)


class Batcher:
    """The server with its queue."""

    def __init__(self, workers, most, wait):
        self._most = most
        self._wait = wait
        self._queue = asyncio.Queue()
        self._processes = []
        self._tasks = [asyncio.ensure_future(self._feed(self._start())) for _ in range(workers)]

    async def call(self, value):
        answer = asyncio.get_running_loop().create_future()
        self._queue.put_nowait((value, answer))
        return await answer

    def stop(self):
        for task in self._tasks:
            task.cancel()
        for process in self._processes:
            process.kill()
            process.join()

    def _start(self):
        own, other = multiprocessing.Pipe()
        process = multiprocessing.Process(target=serve, args=(other,), daemon=True)
        process.start()
        other.close()
        self._processes.append(process)
        return own

    async def _feed(self, pipe):
        """Gives one worker batch after batch."""
        loop = asyncio.get_running_loop()
        has_answer = asyncio.Event()
        loop.add_reader(pipe.fileno(), has_answer.set)
        while True:
            batch = await self._next_batch()
            pipe.send([value for value, _ in batch])
            while not pipe.poll():
                has_answer.clear()
                await has_answer.wait()
            for result, (_, answer) in zip(pipe.recv(), batch):
                answer.set_result(result)

    async def _next_batch(self):
        batch = [await self._queue.get()]
        end = time.monotonic() + self._wait
        while len(batch) < self._most:
            if not self._queue.empty():
                batch.append(self._queue.get_nowait())
                continue
            left = end - time.monotonic()
            if left <= 0:
                break
            try:
                batch.append(await asyncio.wait_for(self._queue.get(), left))
            except asyncio.TimeoutError:
                break
        return batch


async def measure(workers, callers, batch, wait_ms, span):
    batcher = Batcher(int(workers), int(batch), float(wait_ms) / 1000)
    span = float(span)
    times = []
    warm = time.perf_counter() + span / 4
    end = warm + span

    async def keep_calling():
        while True:
            began = time.perf_counter()
            if began >= end:
                return
            if await batcher.call("hello") != "hello":
                raise RuntimeError("it does not echo")
            ended = time.perf_counter()
            if warm <= ended < end:
                times.append(ended - began)

    try:
        await asyncio.gather(*(keep_calling() for _ in range(int(callers))))
    finally:
        batcher.stop()
    return {"calls_per_s": len(times) / span, "p50_us": statistics.median(times) * 1e6}


if __name__ == "__main__":
    print(json.dumps(asyncio.run(measure(**dict(pair.split("=", 1) for pair in sys.argv[1:])))))
