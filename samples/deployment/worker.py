import sys

import skep

worker = skep.Worker()


@worker.command
def greet(name):
    return f"Hello, {name}, from {sys.prefix}"


if __name__ == "__main__":
    worker.run()
