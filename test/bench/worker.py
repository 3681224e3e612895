"""The worker of the benchmarks."""

import skep

worker = skep.Worker()


@worker.command
def echo(value):
    return value


worker.run()
