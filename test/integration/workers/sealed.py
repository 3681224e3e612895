"""A worker whose large attachments are passed on without a copy."""

import skep

worker = skep.Worker()
kept = []


@worker.command
def make(size, fill):
    memory = skep.shared(size)
    memory[:] = bytes([fill]) * size
    return memory


@worker.command
def make_all(count, size):
    for number in range(count):
        memory = skep.shared(size)
        memory[:] = bytes([number % 256]) * size
        yield memory


@worker.command
def echo(begin=0):
    return skep.attachments()[0][begin:]


@worker.command
def change():
    """Writes to a copy, and returns the attachment as it was."""
    copy = skep.attachments(writable=True)[0]
    copy[:] = bytes(len(copy))
    return skep.attachments()[0]


@worker.command
def keep():
    kept.append(skep.attachments()[0])


@worker.command
def take():
    return kept.pop()


worker.run()
