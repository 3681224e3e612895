"""Tells stories word by word, as a language model does."""

import random
import time

import skep

worker = skep.Worker()

FOLLOWS = {
    "": ["the", "a", "one"],
    "the": ["old", "young", "bee", "keeper", "hive"],
    "a": ["bee", "keeper", "storm", "flower"],
    "one": ["bee", "morning", "keeper"],
    "old": ["keeper", "hive", "oak"],
    "young": ["bee", "keeper", "queen"],
    "bee": ["finds", "sees", "leaves", "guards"],
    "keeper": ["finds", "sees", "leaves", "opens"],
    "queen": ["leaves", "guards", "sees"],
    "hive": ["opens", "sleeps"],
    "storm": ["finds", "leaves"],
    "flower": ["opens", "sleeps"],
    "morning": ["finds", "opens"],
    "oak": ["sleeps", "guards"],
    "finds": ["the", "a"],
    "sees": ["the", "a"],
    "leaves": ["the", "a"],
    "guards": ["the", "one"],
    "opens": ["the", "."],
    "sleeps": ["."],
    ".": ["the", "a", "one"],
}


@worker.command
def tell(seed, words, pause):
    """Yields one word after the other, and returns the number of sentences."""
    chance = random.Random(seed)
    word, sentences, told = "", 0, 0
    try:
        for told in range(1, words + 1):
            word = chance.choice(FOLLOWS[word])
            sentences += word == "."
            time.sleep(pause)
            skep.progress(told / words, str(told))
            yield word
        return {"sentences": sentences}
    finally:
        print(f"the story ends after {told} of {words} words")


if __name__ == "__main__":
    worker.run()
