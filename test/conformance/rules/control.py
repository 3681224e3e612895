"""Pings."""

import time

from hosting import Broken
from hosting.host import QUIET

from .registry import rule


@rule("answers each ping exactly once")
def ping(stage):
    host = stage.ready()
    sent = [host.ping() for _ in range(100)]
    for seq in sent:
        host.pong(seq)
    host.serves()


@rule("answers pings while it is at a call")
def ping_while_busy(stage):
    stage.need_control_channel()
    host = stage.ready()
    call = host.call("slow", ms=int(host.patience * 1000))
    host.until_busy()
    for _ in range(3):
        host.pong(host.ping())
    if host.referee.calls[call].answer:
        raise Broken("the pongs came no sooner than the answer")


@rule("answers pings while the host leaves its answer unread")
def ping_while_unread(stage):
    stage.need_control_channel()
    host = stage.ready()
    call = host.call("big", bytes=8 << 20)
    host.unread = [host.program.data]
    for _ in range(3):
        time.sleep(QUIET / 2)
        host.pong(host.ping())
    host.unread = []
    host.result(call)


@rule("says in pongs how many calls it is at and how many it has answered")
def pong_counts(stage):
    host = stage.ready()
    before = host.pong(host.ping())
    host.value("add", a=1, b=2)
    host.value("add", a=1, b=2)
    until = time.monotonic() + host.patience
    while True:
        after = host.pong(host.ping())
        if after["in_flight"] == 0 and after["completed"] - before["completed"] == 2:
            return
        if time.monotonic() > until:
            raise Broken(f"after two calls, a pong has changed from {before} to {after}")
