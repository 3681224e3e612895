"""The worker of the tests that make the same calls locally and through a node."""

import array
import os
import signal
import sys
import time

import skep

worker = skep.Worker()
cleaned = 0
last = {}


@worker.command
def echo(value):
    return value


@worker.command
def add(a, b=1):
    return a + b


@worker.command
def sizes():
    """The sizes of the attachments, and the attachments themselves."""
    received = [bytes(each) for each in skep.attachments()]
    return {"sizes": [len(each) for each in received], "back": received}


@worker.command
def double(x):
    values = memoryview(bytes(x.data)).cast("f").tolist()
    return {"doubled": skep.array(array.array("f", [2 * each for each in values])), "shape": list(x.shape)}


@worker.command
def zeros(count):
    return bytes(count)


@worker.command
def context():
    call = skep.current()
    return {"session": call.session, "correlation_id": call.correlation_id, "metadata": call.metadata,
            "has_deadline": call.remaining is not None}


@worker.command
def fail(message):
    raise ValueError(message)


@worker.command
def refuse(code, message, data=None):
    raise skep.Error(code, message, data)


@worker.command
def die(number=signal.SIGKILL):
    print("last words", flush=True)
    os.kill(os.getpid(), number)
    time.sleep(60)


@worker.command
def die_once(marker):
    if not os.path.exists(marker):
        touch(marker)
        die()
    return "lived"


@worker.command
def leave(status):
    sys.stderr.write("on the way out\n")
    sys.stderr.flush()
    os._exit(status)


@worker.command
def hang():
    time.sleep(1000)


@worker.command
def hang_until_cancelled(marker):
    """Leaves a file behind when it begins, and another when it is cancelled."""
    try:
        touch(marker + ".begun")
        time.sleep(1000)
    except skep.Cancelled:
        touch(marker + ".cancelled")
        raise


@worker.command
def follow(number):
    """The number that the session sent before."""
    session = skep.current().session
    before = last.get(session, 0)
    last[session] = number
    return before


@worker.command
def count(to):
    global cleaned
    try:
        for number in range(to):
            yield number
        return to
    finally:
        cleaned += 1


@worker.command
def cleanups():
    return cleaned


@worker.command
def blocks(sizes):
    for size in sizes:
        yield {"data": b"x" * size}


@worker.command
def fail_after(chunks):
    for number in range(chunks):
        yield number
    raise ValueError("enough")


@worker.command
def die_after(chunks):
    for number in range(chunks):
        yield number
    skep.call_host("received")  # once the chunks are with the consumer
    die()


@worker.command
def stall_after(chunks):
    for number in range(chunks):
        yield number
    time.sleep(1000)


@worker.command
def report(name):
    """Reports progress, and ends when the tool says that the report has come."""
    skep.progress(0.5, "half")
    return skep.call_host(name)


@worker.command
def ask(name, args):
    return skep.call_host(name, **args)


@worker.command
def ask_error(name):
    try:
        return skep.call_host(name)
    except skep.HostError as error:
        return {"type": error.type, "message": error.message, "code": error.code, "data": error.data}


@worker.command(batch=8)
def squares(calls):
    return [ValueError("negative") if call.args["x"] < 0 else call.args["x"] ** 2 for call in calls]


def touch(path):
    with open(path, "w", encoding="utf-8"):
        pass


worker.run()
