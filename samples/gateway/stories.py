"""Tells stories word by word: a Markov chain over the documentation that ships with Python."""

import asyncio
import collections
import random
import re
from pydoc_data import topics

import skep

MOST_WORDS = 2000
MOST_VISITORS = 10_000

worker = skep.Worker(concurrency=1000)
followers = collections.defaultdict(list)
last_words = collections.OrderedDict()  # by session: the last word of each visitor's story in this worker


@worker.on_start
def learn():
    words = re.findall(r"[A-Za-z']+|[.,;]", " ".join(topics.topics.values()))
    for word, following in zip(words, words[1:]):
        followers[word].append(following)
    print(f"ready, {len(followers):,} words are known")


@worker.command
async def generate(prompt: str = "", words: int = 50, pause_ms: float = 20):
    """Continues the prompt or, without a prompt, the visitor's last story."""
    if not 1 <= words <= MOST_WORDS or not 0 <= pause_ms <= 1000:
        raise skep.Error("bad_length", f"words must be 1..{MOST_WORDS}, pause_ms 0..1000")
    session = skep.current().session
    word = prompt.split()[-1] if prompt.split() else last_words.get(session, "Python")
    for _ in range(words):
        await asyncio.sleep(pause_ms / 1000)  # the computing time of a model
        word = random.choice(followers.get(word) or ["Python"])
        remember(session, word)
        yield word


def remember(session, word):
    last_words[session] = word
    last_words.move_to_end(session)
    if len(last_words) > MOST_VISITORS:
        last_words.popitem(last=False)


if __name__ == "__main__":
    worker.run()
