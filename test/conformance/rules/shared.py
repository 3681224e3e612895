"""Attachments in memory that the worker shares with its host."""

import os

from hosting import Broken, NotApplicable
from hosting.frames import frame

from .bad_frames import gives_up
from .cancels import slow_call
from .recalls import end
from .registry import rule

LARGE = 2 * 4096 + 5


def echo(host, attachments, expected, **more):
    """Requires that the call returns the attachments, wherever they lie."""
    answer = host.result(host.call("echo", attachments, more=more, value=None))
    if list(answer.attachments) != expected:
        sizes = [len(part) for part in answer.attachments]
        raise Broken(f"attachments of {[len(part) for part in expected]} bytes come back changed, with {sizes} bytes")


def echo_in_frame(host, times):
    """Has large attachments come back that were sent in the frame."""
    for _ in range(times):
        parts = [os.urandom(LARGE)]
        echo(host, parts, parts)


def is_released(host):
    host.wait_for(lambda: not host.memory.lent, "release of what is lent")


def with_results(stage):
    """A worker that has put a result into a region."""
    host = stage.sharing()
    echo_in_frame(host, 10)
    if not host.memory.holds:
        raise NotApplicable("it sends its results in the frame")
    return host


@rule("takes attachments that the host lends, and releases each once when it is done with them")
def lent_attachments(stage):
    host = stage.sharing()
    for _ in range(3):  # the second time in the same places
        parts = [os.urandom(LARGE), b"in the frame", os.urandom(4096)]
        lent = [host.memory.lend(parts[0]), parts[1], host.memory.lend(parts[2])]
        echo(host, lent, parts)
        is_released(host)
    host.serves()


@rule("releases what is lent to a call that makes no use of it, or fails")
def lent_unused(stage):
    host = stage.sharing()
    host.result(host.call("add", [host.memory.lend(bytes(LARGE))], a=1, b=2))
    is_released(host)
    host.error(host.call("fail", [host.memory.lend(bytes(LARGE))], message="on purpose"))
    is_released(host)
    host.serves()


@rule("releases what is lent to a call that it gives back")
def lent_recalled(stage):
    host = stage.sharing()
    if not host.referee.hello.get("recall"):
        raise NotApplicable("it gives back no calls")
    busy = [slow_call(host) for _ in range(host.referee.capacity)]
    waiting = host.call("echo", [host.memory.lend(bytes(LARGE))], value=None)
    host.recall(waiting)
    host.given_back(waiting)
    end(host, busy)  # a busy worker need not have read the call
    is_released(host)
    host.serves()


@rule("releases what is lent to a call that is cancelled")
def lent_cancelled(stage):
    host = stage.sharing()
    cancelled = host.call("slow", [host.memory.lend(bytes(LARGE))], ms=int(host.patience * 4000))
    host.until_busy()
    host.cancel(cancelled)
    host.answer(cancelled)
    is_released(host)
    host.serves()


@rule("puts results only into places that are not in use, before and after releases")
def result_places(stage):
    host = with_results(stage)
    for turn in range(40):
        parts = [os.urandom(LARGE), os.urandom(5000)]
        echo(host, parts, parts, **({"released": host.memory.release()} if turn % 20 == 19 else {}))
    host.memory.check_held()
    host.serves()


@rule("sends results in the frame if it is refused a region")
def refused_region(stage):
    host = stage.sharing()
    host.memory.grants = False
    echo_in_frame(host, 5)
    host.serves()


@rule("takes released places with a credit of nothing, while a call that is no stream waits for a tool")
def released_by_credit(stage):
    host = with_results(stage)
    asking = host.call("ask", name="lookup", args={})
    asked = host.tool_call()
    host.tell({"type": "credit", "id": asking, "credit": {"chunks": 0, "bytes": 0}, "released": host.memory.release()})
    host.answer_tool(asked, 7)
    if host.result(asking).message["value"] != 7:
        raise Broken(f"the tool's answer was 7, and the call's was {host.result(asking)}")
    echo_in_frame(host, 1)
    host.serves()


@rule("takes attachments in sealed memory, and skips memory that no message names")
def sealed_attachments(stage):
    host = stage.sharing()
    for _ in range(3):
        host.memory.seal(b"unused")
        parts = [os.urandom(LARGE), os.urandom(4096)]
        echo(host, [host.memory.seal(parts[0], at=5), host.memory.lend(parts[1])], parts)
        is_released(host)
    host.serves()


@rule("shares nothing if the welcome has no word of it")
def sharing_declined(stage):
    host = stage.offering()
    host.program.line.close()
    host.greet()
    echo_in_frame(host, 5)
    host.serves()


@rule("gives up on an attachment in memory that has not come")
def unknown_region(stage):
    host = stage.sharing()
    place = {"region": 9, "at": 0, "bytes": LARGE}
    gives_up(host, frame({"type": "call", "id": 1, "command": "echo", "args": {"value": 1}}, [place]))


@rule("gives up on an attachment outside of its region")
def place_outside(stage):
    host = stage.sharing()
    place = {**host.memory.lend(bytes(LARGE)), "at": 1 << 20}
    gives_up(host, frame({"type": "call", "id": 1, "command": "echo", "args": {"value": 1}}, [place]))
