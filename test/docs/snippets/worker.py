import dataclasses
import time

import skep

worker = skep.Worker()
model = {}


@dataclasses.dataclass
class Label:
    name: str
    score: float


@worker.on_start
def load():
    model.update(hello="greeting", bye="farewell")


@worker.on_stop
def close():
    print("closing the model")


@worker.command
def predict(text, top=1):
    return [Label(model.get(text, "unknown"), 0.5)][:top]


@worker.command("crop")
def crop_image(width):
    image = skep.attachments()[0]
    return {"width": width, "image": bytes(image[:width])}


@worker.command
def train(rounds):
    try:
        for _ in range(rounds):
            time.sleep(0.01)
    except skep.Cancelled:
        print("cancelled: putting the weights away")
        raise


if __name__ == "__main__":
    worker.run()
