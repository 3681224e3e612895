"""What lib/python/README.md quotes, and is no program of its own."""

import numpy
import skep

worker = skep.Worker(concurrency=200)  # calls at once; 100 without it
database = model = session = state = None


@worker.health_check
def connected():
    return database.ping()  # False or an exception: not well


@worker.on_start
def resume():
    if worker.previous_exit not in ("segfault", "out_of_memory"):
        state.load(f"/var/cache/model/{worker.slot}")


@worker.command
def generate(prompt):
    for token in model.tokens(prompt):
        yield token
    return {"finish": "length"}


@worker.command
def gradient(height, width):
    """Returns an image of height x width numbers, whose memory the service gets without a copy."""
    image = numpy.ndarray((height, width), "f4", skep.shared(height * width * 4))
    image[:] = numpy.arange(width)
    return image


@worker.command
def decode(image):
    raise skep.Error("bad_image", "not an image", data={"size": 3})


@worker.command
def greet(user: int) -> str:
    skep.progress(0.1, "looking for the user")
    try:
        return "Hello, " + skep.call_host("lookup_user", id=user)["name"]
    except skep.HostError as error:  # with type, message, code and data
        return f"Hello, whoever you are ({error.type})"


@worker.command
async def fetch(url: str) -> str:
    async with session.get(url) as response:
        return await response.text()
