"""Streams and their credit."""

from hosting import Broken, NotApplicable
from hosting.host import AMPLE, QUIET

from .registry import rule

MUCH = 1 << 30


@rule("answers a stream with its chunks, in order, and one result")
def stream(stage):
    host = stage.ready()
    call = host.call("tokens", count=50, stream=AMPLE)
    host.result(call)
    values = [chunk.message["value"] for chunk in host.chunks(call, 50)]
    if values != list(range(50)):
        raise Broken(f"the chunks are not the numbers from 0 to 49, but {values}"[:200])
    host.serves()


@rule("answers a stream that has no chunks")
def empty_stream(stage):
    host = stage.ready()
    call = host.call("tokens", count=0, stream=AMPLE)
    host.result(call)
    host.chunks(call, 0)


@rule("sends no more chunks than it has credit for, and goes on when more comes")
def credit_chunks(stage):
    host = stage.ready()
    call = host.call("tokens", count=10, stream={"chunks": 2, "bytes": MUCH})
    host.chunks(call, 2)
    for more, together in ((1, 3), (3, 6), (100, 10)):
        host.listen(QUIET / 2)
        host.grant(call, more, 0)
        host.chunks(call, together)
    host.result(call)
    host.serves()


@rule("begins a stream without credit, and waits for some")
def no_credit(stage):
    host = stage.ready()
    call = host.call("tokens", count=3, stream={"chunks": 0, "bytes": 0})
    host.listen(QUIET)
    host.grant(call, 3, MUCH)
    host.result(call)
    host.chunks(call, 3)


@rule("overdraws its credit of bytes by one chunk, and makes up for it before the next")
def credit_bytes(stage):
    host = stage.ready()
    call = host.call("tokens", count=10, stream={"chunks": 1000, "bytes": 1})
    host.chunks(call, 1)
    host.listen(QUIET / 2)
    debt = -host.referee.calls[call].credit[1]
    host.grant(call, 0, debt)
    host.listen(QUIET / 2)
    host.chunks(call, 1)
    host.grant(call, 0, 1)
    host.chunks(call, 2)
    host.grant(call, 0, MUCH)
    host.result(call)
    host.chunks(call, 10)


@rule("ignores credit for a call that is over")
def credit_late(stage):
    host = stage.ready()
    call = host.call("tokens", count=2, stream=AMPLE)
    host.result(call)
    host.grant(call, 5, 100)
    host.serves()


@rule("listens while a stream waits for credit")
def ping_while_waiting(stage):
    host = stage.ready()
    call = host.call("tokens", count=10, stream={**AMPLE, "chunks": 1})
    host.chunks(call, 1)
    host.pong(host.ping())
    host.grant(call, 100, 0)
    host.result(call)


@rule("goes on with other calls while a stream waits for credit, if its capacity is above 1")
def others_while_waiting(stage):
    host = stage.ready()
    if host.referee.capacity == 1:
        raise NotApplicable("its capacity is 1")
    waiting = host.call("tokens", count=10, stream={**AMPLE, "chunks": 1})
    host.chunks(waiting, 1)
    other = host.call("tokens", count=10, stream=AMPLE)
    host.result(other)
    host.grant(waiting, 100, 0)
    host.result(waiting)


@rule("sends no chunk for a call that is no stream")
def no_stream(stage):
    host = stage.ready()
    host.answer(host.call("tokens", count=5))
    host.serves()


@rule("answers a stream of a command that yields nothing as any call")
def plain_stream(stage):
    host = stage.ready()
    call = host.call("add", a=1, b=2, stream=AMPLE)
    host.result(call)
    host.chunks(call, 0)
