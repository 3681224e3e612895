"""Calls of the worker to the host."""

from hosting import Broken, NotApplicable
from hosting.host import QUIET

from .registry import rule

UNKNOWN = {"type": "skep.UnknownTool", "message": "there is no tool 'lookup'"}
CANCELLED = {"type": "skep.Cancelled", "message": "the call was cancelled"}


def ask(host, **args):
    """A call that asks the host; the tool call."""
    count = len(host.referee.tool_calls)
    call = host.call("ask", name="lookup", args=args)
    return call, host.tool_call(count + 1)


@rule("asks the host, and takes its answer")
def tool_call(stage):
    host = stage.ready()
    call, asked = ask(host, key="honey")
    if asked.name != "lookup" or asked.args != {"key": "honey"}:
        raise Broken(f"it asks for '{asked.name}' with {asked.args} instead of 'lookup' with the key 'honey'")
    if asked.call != call:
        raise Broken(f"it asks for call {asked.call} instead of call {call}")
    host.answer_tool(asked, {"found": [1, None, "x"]})
    value = host.result(call).message["value"]
    if value != {"found": [1, None, "x"]}:
        raise Broken(f"the host's answer becomes {value!r}")
    host.serves()


@rule("numbers its tool calls upwards, over all calls")
def tool_numbers(stage):
    host = stage.ready()
    for number in range(3):
        call, asked = ask(host, number=number)  # the numbers are looked at as they come
        host.answer_tool(asked, number)
        host.result(call)


@rule("takes an error for an answer")
def tool_error(stage):
    host = stage.ready()
    for error in (UNKNOWN, {**UNKNOWN, "type": "Full", "code": "full", "data": {"room": 0}}):
        call, asked = ask(host)
        host.answer_tool(asked, error=error)
        host.error(call)
    host.serves()


@rule("takes answers of the host with attachments")
def tool_attachments(stage):
    host = stage.ready()
    call, asked = ask(host)
    host.answer_tool(asked, 7, attachments=[b"12345", b""])
    host.result(call)
    host.serves()


@rule("takes answers of the host in any order")
def tool_order(stage):
    host = stage.ready()
    call = host.call("ask_all", name="lookup", items=["a", "b", "c"])
    host.tool_call(3)
    for asked in reversed(host.referee.tool_calls):
        host.answer_tool(asked, asked.args.get("item"))
    value = host.result(call).message["value"]
    if value != ["a", "b", "c"]:
        raise Broken(f"the answers to 'a', 'b' and 'c' become {value!r}")
    host.serves()


@rule("leaves no more tool calls unanswered than limits.tool_calls")
def tool_limit(stage):
    host = stage.ready(tool_calls=2)
    call = host.call("ask_all", name="lookup", items=[1, 2, 3, 4, 5])
    host.tool_call()
    host.listen(QUIET)  # in which those would come that should wait
    answered = 0
    while True:
        host.wait_for(lambda: len(host.referee.tool_calls) > answered or host.referee.calls[call].answer, "tool call")
        if host.referee.calls[call].answer:
            break  # to refuse the third is as good as to wait
        host.answer_tool(host.referee.tool_calls[answered])
        answered += 1
    host.serves()


@rule("listens while it waits for the host's answer")
def ping_while_asking(stage):
    host = stage.ready()
    call, asked = ask(host)
    host.pong(host.ping())
    host.answer_tool(asked)
    host.result(call)


@rule("answers a call that is cancelled while it asks, once, whatever comes of the tool call")
def tool_cancelled(stage):
    host = stage.ready()
    for cancel_first in (True, False):
        call, asked = ask(host)
        if cancel_first:
            host.cancel(call)
        host.answer_tool(asked, error=CANCELLED)
        if not cancel_first:
            host.cancel(call)
        host.answer(call)
        host.serves()


@rule("ignores an answer of the host to a call that is over")
def tool_late(stage):
    host = stage.ready()
    call, asked = ask(host)
    host.answer_tool(asked, 1)
    host.result(call)
    host.answer_tool(asked, 2)
    host.answer_tool(asked, error=CANCELLED)
    host.serves()


@rule("asks for several calls at once, if its capacity is above 1")
def tools_at_once(stage):
    host = stage.ready()
    if host.referee.capacity == 1:
        raise NotApplicable("its capacity is 1")
    asked = [ask(host, number=number) for number in range(2)]
    for call, tool in reversed(asked):
        host.answer_tool(tool, call)
    for call, _ in asked:
        if host.result(call).message["value"] != call:
            raise Broken(f"call {call} has got the answer of another: {host.result(call)}")
