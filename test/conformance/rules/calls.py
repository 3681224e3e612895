"""Calls and their answers."""

import time

from hosting import Broken, NotApplicable

from .registry import rule

VALUES = [
    None, False, True, 0, -1, 1.5, 1e300, 2**53 - 1, "", "a\"b\\c\n\t\u0000\u001f\u007f", "gr\u00fc\u00df \U0001f41d \u2028",
    [], {}, [[], [None]], {"": {"value": 0}}, {"$attachment": "none"}, [0.1] * 50, {str(n): n for n in range(50)}, "x" * 70000,
]  # fmt: skip


@rule("answers a call with its result")
def result(stage):
    host = stage.ready()
    value = host.value("add", a=1, b=2)
    if value != 3:
        raise Broken(f"1 and 2 add up to {value!r}")


@rule("answers each call exactly once, and goes on")
def one_answer(stage):
    host = stage.ready()
    for number in range(3):
        host.value("add", a=number, b=1)
    host.serves()


@rule("sends back any JSON as it came")
def values(stage):
    host = stage.ready()
    for value in VALUES:
        came = host.value("echo", value=value)
        if came != value:
            raise Broken(f"echo of {value!r} gives {came!r}"[:300])


@rule("takes frames in whatever pieces they arrive")
def frames_in_pieces(stage):
    host = stage.ready()
    data = host.enter_call("add", a=20, b=22)
    for start in range(len(data)):
        host.send_raw(host.program.data, data[start : start + 1])
        time.sleep(0.001)  # or the kernel might hand over several at once
    if host.result(1).message["value"] != 42:
        raise Broken(f"20 and 22 add up to {host.result(1)}")


@rule("takes several frames that arrive as one piece")
def frames_together(stage):
    host = stage.ready()
    data = b"".join(host.enter_call("add", a=number, b=0) for number in range(20))
    host.send_raw(host.program.data, data)
    for number in range(20):
        if host.result(number + 1).message["value"] != number:
            raise Broken(f"{number} and 0 add up to {host.result(number + 1)}")
    host.serves()


@rule("begins calls in the order in which they come, no more than its capacity at once")
def order(stage):
    host = stage.ready()
    sent = [host.call("slow", ms=20) for _ in range(min(host.referee.capacity, 8) + 4)]
    while not all(host.referee.calls[call].answer for call in sent):
        busy = host.pong(host.ping())["in_flight"]
        if busy > host.referee.capacity:
            raise Broken(f"{busy} calls are in flight; its capacity is {host.referee.capacity}")


@rule("is at no more calls at once than the welcome allows, whatever its capacity")
def allowed_capacity(stage):
    host = stage.start()
    host.greet(capacity=1)
    if host.referee.hello.get("capacity", 1) == 1:
        raise NotApplicable("its capacity is 1")
    for _ in range(3):
        host.call("slow", ms=20)
    host.serves()


@rule("is at as many calls at once as its capacity says")
def capacity(stage):
    host = stage.ready()
    count = host.referee.capacity
    if count == 1:
        raise NotApplicable("its capacity is 1")
    count = min(count, 16)
    for _ in range(count):
        host.call("ask", name="wait", args={})
    host.tool_call(count)  # none of them is answered until all have asked
    for asked in host.referee.tool_calls:
        host.answer_tool(asked, asked.number)
    for call in list(host.referee.calls):
        host.result(call)


@rule("answers a command that it does not have with skep.UnknownCommand")
def unknown_command(stage):
    host = stage.ready()
    error = host.error(host.call("no_such_command"))
    if error["type"] != "skep.UnknownCommand":
        raise Broken(f"the type of the error is '{error['type']}'")
    host.serves()


@rule("answers a call whose arguments do not fit, and goes on")
def wrong_arguments(stage):
    host = stage.ready()
    host.answer(host.call("tokens", count={"not": "a number"}))
    host.answer(host.call("add"))
    host.serves()


@rule("answers a command that fails with an error, and goes on")
def failure(stage):
    host = stage.ready()
    error = host.error(host.call("fail", message="out of honey"))
    if "out of honey" not in error.get("message", ""):
        raise Broken(f"the message of the error is lost: {error}"[:300])
    host.serves()


@rule("ignores members of a call that it does not know")
def call_members(stage):
    host = stage.ready()
    more = {"moon": {"phase": [0.5]}, "session": "user-42", "correlation_id": "4bf9", "metadata": {"tenant": "x"}}
    host.result(host.call("add", a=1, b=2, more={**more, "released": [[1, 0]]}))  # no memory is shared
    host.serves()


@rule("answers its own health check")
def health_check(stage):
    host = stage.ready()
    command = host.referee.hello.get("health_check")
    if not command:
        raise NotApplicable("its hello names no health check")
    host.result(host.call(command))
    host.serves()


@rule("does a call whose deadline is ahead")
def deadline_ahead(stage):
    host = stage.ready()
    host.result(host.call("add", a=1, b=2, more={"deadline_ms": 60000}))
    host.result(host.call("add", a=1, b=2, more={"deadline_ms": 60000, "sent_ms": 0}))


@rule("answers a call whose time was over before it began, with skep.DeadlineExceeded or as any other")
def deadline_passed(stage):
    host = stage.ready()
    time.sleep(0.02)
    for more in ({"deadline_ms": 0}, {"deadline_ms": 1, "sent_ms": 0}):
        answer = host.answer(host.call("add", a=1, b=2, more=more)).message
        if answer["type"] == "error" and answer["error"]["type"] != "skep.DeadlineExceeded":
            raise Broken(f"the type of the error is '{answer['error']['type']}'")
    host.serves()
