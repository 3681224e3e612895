"""What lib/python/README.md quotes of batches and engines."""

import skep

worker = skep.Worker(thread_safe=True)
model = scheduler = None


@worker.command(batch=32)
def embed(calls):
    vectors = model.encode([call.args["text"] for call in calls])
    return list(vectors)


@worker.engine("generate", slots=64)
def generate(engine):
    for step in engine:
        for call in step.new:
            scheduler.add(call, call.args["prompt"])
        for call in step.gone:
            scheduler.remove(call)
        for call, token, is_last in scheduler.step(without=step.stalled):
            engine.send(call, token)
            if is_last:
                engine.finish(call)
