"""What the benchmarks of streams stream, whoever carries it."""

import itertools

WORDS = ("the", "old", "keeper", "sees", "a", "storm", ".")


def tokens():
    """Short strings without end, as a language model yields them."""
    for word in itertools.cycle(WORDS):
        yield word
