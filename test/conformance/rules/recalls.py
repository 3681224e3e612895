"""Calls that the host wants back."""

from hosting.outcome import NotApplicable

from .cancels import slow_call
from .registry import rule


def recalling(stage):
    """A worker that offers to give calls back."""
    host = stage.ready()
    if not host.referee.hello.get("recall"):
        raise NotApplicable("its hello does not offer it")
    return host


def end(host, calls):
    for call in calls:
        host.cancel(call)
    for call in calls:
        host.answer(call)


@rule("gives back a call that is recalled before it begins, and does not run it")
def recall(stage):
    host = recalling(stage)
    running = [slow_call(host) for _ in range(host.referee.capacity)]
    waiting = [host.call("add", a=1, b=2) for _ in range(2)]
    for call in reversed(waiting):
        host.recall(call)
        host.given_back(call)
    end(host, running)
    host.serves()


@rule("gives back a call whose recall has come before it, over the other channel")
def recall_overtakes(stage):
    host = recalling(stage)
    host.recall(1)
    host.given_back(1)
    host.call("add", a=1, b=2)
    host.serves()


@rule("answers a recalled call that has begun, and ignores a recall of a call that is over")
def recall_late(stage):
    host = recalling(stage)
    call = host.call("slow", ms=host.noticeable)
    host.until_busy()
    host.recall(call)
    host.result(call)
    host.recall(call)
    host.serves()


@rule("a recalled call that is cancelled as well gets no answer")
def recall_cancelled(stage):
    host = recalling(stage)
    running = [slow_call(host) for _ in range(host.referee.capacity)]
    waiting = host.call("add", a=1, b=2)
    host.recall(waiting)
    host.given_back(waiting)
    host.cancel(waiting)
    end(host, running)
    host.serves()
