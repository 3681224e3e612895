"""A small language model that writes many texts at once, one token of each per step."""

import os

import numpy

import skep

WIDTH = 1024
VOCABULARY = 1024

worker = skep.Worker()
random = numpy.random.default_rng(1)
recurrent = random.standard_normal((WIDTH, WIDTH), dtype="f4") / 32
meanings = random.standard_normal((VOCABULARY, WIDTH), dtype="f4")
output = random.standard_normal((WIDTH, VOCABULARY), dtype="f4")


class Text:
    """A text that grows."""

    def __init__(self, call):
        self.call = call
        self.state = numpy.zeros(WIDTH, dtype="f4")
        self.token = call.args["prompt"]
        self.left = call.args["tokens"]
        if not 0 <= self.token < VOCABULARY or self.left < 1:
            raise skep.Error("bad_text", f"prompt is 0 to {VOCABULARY - 1}, tokens is 1 or more")


def advance(texts):
    """Appends a token to each text. Two products of matrices serve all texts."""
    states = numpy.stack([text.state for text in texts])
    states = numpy.tanh(states @ recurrent + meanings[[text.token for text in texts]])
    tokens = (states @ output).argmax(axis=1)
    for text, state, token in zip(texts, states, tokens.tolist()):
        text.state, text.token = state, token
        text.left -= 1


@worker.engine("write", slots=int(os.environ.get("SLOTS", "32")))
def write(engine):
    """Yields the tokens of each text to its caller."""
    texts = {}
    for step in engine:
        for call in step.new:
            try:
                texts[call] = Text(call)
            except Exception as error:  # of this call alone
                engine.fail(call, error)
        for call in step.gone:
            texts.pop(call, None)
        growing = [text for call, text in texts.items() if call not in step.stalled]
        if not growing:
            continue
        advance(growing)
        for text in growing:
            engine.send(text.call, text.token)
            if text.left == 0:
                engine.finish(text.call)
                del texts[text.call]


if __name__ == "__main__":
    worker.run()
