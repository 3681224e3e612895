"""Calls that nobody waits for any more."""

from hosting import Broken
from hosting.host import AMPLE

from .registry import rule


def slow_call(host):
    return host.call("slow", ms=int(host.patience * 4000))


@rule("ends a call that is cancelled soon, and answers it")
def cancel(stage):
    stage.need_control_channel()
    host = stage.ready()
    call = slow_call(host)
    host.until_busy()
    host.cancel(call)
    host.answer(call)
    host.serves()


@rule("answers a call that is cancelled before it begins")
def cancel_waiting(stage):
    stage.need_control_channel()
    host = stage.ready()
    running = [slow_call(host) for _ in range(host.referee.capacity)]
    waiting = host.call("add", a=1, b=2)
    host.cancel(waiting)
    for call in running:
        host.cancel(call)
    for call in [*running, waiting]:
        host.answer(call)
    host.serves()


@rule("answers a call whose cancel has come before it, over the other channel")
def cancel_overtakes(stage):
    stage.need_control_channel()
    host = stage.ready()
    host.cancel(1)
    host.pong(host.ping())
    call = slow_call(host)
    host.referee.calls[call].cancelled = True
    host.answer(call)
    host.serves()


@rule("ignores a cancel for a call that is over")
def cancel_late(stage):
    host = stage.ready()
    call = host.call("add", a=1, b=2)
    host.result(call)
    host.cancel(call)
    host.serves()


@rule("ends a stream that is cancelled while it waits for credit")
def cancel_stream(stage):
    host = stage.ready()
    call = host.call("tokens", count=1000, stream={**AMPLE, "chunks": 3})
    host.chunks(call, 3)
    host.cancel(call)
    host.answer(call)
    host.chunks(call, 3)
    host.serves()


@rule("a cancel is for one call only")
def cancel_one(stage):
    host = stage.ready()
    first = host.call("add", a=1, b=2)
    host.result(first)
    host.cancel(first)
    second = host.call("slow", ms=50)
    answer = host.answer(second).message
    if answer["type"] != "result":
        raise Broken(f"a call that nobody has cancelled is answered with {answer}")
