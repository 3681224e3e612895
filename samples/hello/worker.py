import skep

worker = skep.Worker()


@worker.command
def greet(name):
    return f"Hello, {name}"


if __name__ == "__main__":
    worker.run()
