#!/usr/bin/env python3
"""A worker by the Python SDK with async commands, the ones that the conformance program wants."""

import asyncio

import skep

worker = skep.Worker(concurrency=8)


@worker.command
async def add(a, b):
    return a + b


@worker.command
async def echo(value):
    parts = skep.attachments()
    return {"value": value, "attachments": parts} if parts else value


@worker.command
async def fail(message):
    raise ValueError(message)


@worker.command
async def tokens(count):
    for token in range(count):
        yield token


@worker.command
async def slow(ms):
    await asyncio.sleep(ms / 1000)


@worker.command
async def big(bytes):
    return "x" * bytes


@worker.command
async def ask(name, args):
    return await skep.call_host_async(name, **args)


@worker.command
async def ask_all(name, items):
    return await asyncio.gather(*(skep.call_host_async(name, item=item) for item in items))


@worker.command
async def report(steps):
    for step in range(steps):
        skep.progress((step + 1) / steps, f"step {step + 1}")


if __name__ == "__main__":
    worker.run()
