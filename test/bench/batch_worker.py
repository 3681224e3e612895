"""The worker of the benchmarks of batches: computes, and echoes the value of each call."""

import batch_model
import skep

worker = skep.Worker()


@worker.command(batch=32)
def echo(calls):
    batch_model.run(len(calls))
    return [call.args["value"] for call in calls]


worker.run()
