"""Names the language of a text."""

import sys

import numpy

import skep

SENTENCES = {
    "de": "das ist ein kurzer satz und der nächste ist auch nicht lang die sonne scheint heute über der stadt",
    "en": "this is a short sentence and the next one is not long either the sun shines over the city today",
    "es": "esta es una frase corta y la siguiente tampoco es larga el sol brilla hoy sobre la ciudad",
    "fr": "ceci est une phrase courte et la suivante n'est pas longue non plus le soleil brille sur la ville",
    "it": "questa è una frase breve e anche la prossima non è lunga oggi il sole splende sopra la città",
    "nl": "dit is een korte zin en de volgende is ook niet lang de zon schijnt vandaag boven de stad",
    "pt": "esta é uma frase curta e a próxima também não é longa o sol brilha hoje sobre a cidade",
    "sv": "det här är en kort mening och nästa är inte heller lång solen skiner över staden i dag",
}
FEATURES = 1 << 18  # 8 MiB of weights, enough to strain CPU caches

worker = skep.Worker()
model = {}


def features(text):
    """Counts each group of three letters, hashed."""
    counts = numpy.zeros(FEATURES, dtype=numpy.float32)
    padded = f"  {text.lower()}  "
    for start in range(len(padded) - 2):
        first, second, third = (ord(letter) for letter in padded[start : start + 3])
        counts[(first * 961 + second * 31 + third) % FEATURES] += 1
    return counts


@worker.on_start
def load():
    """Trains a naive Bayes classifier. A real service would load one from a file."""
    counts = numpy.array([features(text) for text in SENTENCES.values()])
    model["weights"] = numpy.log((counts + 0.1) / (counts + 0.1).sum(axis=1, keepdims=True))
    print(f"ready, Python {sys.version.split()[0]}, NumPy {numpy.__version__}")


@worker.command
def predict(text: str):
    scores = model["weights"] @ features(text)
    likely = numpy.exp(scores - scores.max())
    best = int(likely.argmax())
    return {"language": list(SENTENCES)[best], "share": float(likely[best] / likely.sum())}


if __name__ == "__main__":
    worker.run()
