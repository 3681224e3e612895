import skep

worker = skep.Worker()


@worker.command
def greet(name):
    return f"Hello, {name}"


worker.run()
