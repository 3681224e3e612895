import socket

import skep

worker = skep.Worker()


@worker.command
def greet(name):
    return f"Hello, {name}, from {socket.gethostname()}"


if __name__ == "__main__":
    worker.run()
