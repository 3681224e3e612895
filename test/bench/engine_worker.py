"""The worker of the benchmark of engines: a row of the model, and a short string, per step of each stream."""

import batch_model
import skep

worker = skep.Worker()


@worker.engine("tokens", slots=64)
def tokens(engine):
    streams = set()
    for step in engine:
        streams.update(step.new)
        streams.difference_update(step.gone)
        growing = streams.difference(step.stalled)
        if growing:
            batch_model.run(len(growing))
        for call in growing:
            engine.send(call, "token")


worker.run()
