# A worker with type hints, for a header of typed functions.

from typing import Dict, Optional

import skep

print("loading")
worker = skep.Worker()


@worker.command
def predict(text: str, top: int = 3) -> Dict[str, float]:
    """Predicts labels and their
    probabilities.

    The rest."""
    return {text: float(top)}


@worker.command
def embed(image: skep.Array, mask: Optional[skep.Array] = None) -> skep.Array:
    return image


@worker.command
def numbers(count: int):
    yield from range(count)


@worker.command(name="new.delete")
def delete(class_: str, missing: Optional[int], limit=1.5, **others):
    return [class_, missing, limit, others]


if __name__ == "__main__":
    worker.run()
