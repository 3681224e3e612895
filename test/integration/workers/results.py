"""A worker whose large results may lie in shared memory."""

import skep

worker = skep.Worker()


@worker.command
def reverse():
    return [bytes(view)[::-1] for view in skep.attachments()]


@worker.command
def blocks(count, size):
    for number in range(count):
        yield bytes([number % 256]) * size


@worker.command
def ask(size):
    return skep.call_host("size_of", data=b"x" * size)


worker.run()
