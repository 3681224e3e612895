"""Simulates a model: sleeps, logs, and sometimes fails."""

import logging
import random
import time

import skep

worker = skep.Worker()
log = logging.getLogger("model")


@worker.on_start
def load():
    with skep.span("model.load", {"model": "small"}):
        time.sleep(random.uniform(0.05, 0.2))
    print("the model is loaded")


@worker.command
def predict(seed):
    """A usual command: 20 ms, sometimes much more."""
    time.sleep(min(0.5, random.lognormvariate(-4, 0.7)))
    if seed % 97 == 0:
        raise ValueError(f"no answer is known to {seed}")
    return seed * 2


@worker.command
def embed(seed):
    """A short command that logs warnings."""
    time.sleep(0.005)
    if seed % 50 == 0:
        log.warning("the text of %d is empty", seed)
    return [seed / 7, seed / 11]


@worker.command
def train(seed):
    """A long command that reports its progress."""
    began = time.monotonic()
    for epoch in range(5):
        time.sleep(0.1)
        skep.progress((epoch + 1) / 5, f"epoch {epoch + 1}")
    took = round(time.monotonic() - began, 3)
    skep.emit("model.trained", {"seconds": took, "epochs": 5}, {"seed": seed})


if __name__ == "__main__":
    worker.run()
