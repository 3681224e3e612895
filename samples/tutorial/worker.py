"""The worker of the tutorial: a translator. Each step names the commands that it uses."""

import time

import skep

worker = skep.Worker()
WORDS = {"the": "la", "bee": "abeja", "sees": "ve", "a": "una", "flower": "flor"}


@worker.command
def translate(word):
    if word not in WORDS:
        raise skep.Error("unknown_word", f"no translation of '{word}' is known")
    return WORDS[word]


@worker.command
def ponder(seconds):
    time.sleep(seconds)
    return "an answer that took its time"


@worker.command
def read(text):
    words = text.split()
    try:
        for word in words:
            time.sleep(0.05)
            yield translate(word)
        return len(words)
    finally:
        print("the reading has ended")


lessons = {}  # by session; in the memory of this process


@worker.command
def learn(word):
    learned = lessons.setdefault(skep.current().session, [])
    learned.append(word)
    return learned


@worker.command
def look_up(word):
    return WORDS.get(word) or skep.call_host("dictionary", word=word)


if __name__ == "__main__":
    worker.run()
