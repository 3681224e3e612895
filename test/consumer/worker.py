"""The worker of the consumer test. Tells where the SDK came from."""

import skep

worker = skep.Worker()


@worker.command
def greet(name):
    return "hello " + name + " from " + skep.__file__


if __name__ == "__main__":
    worker.run()
