"""What the host would not take must become an error, not a broken connection."""

from hosting import Broken

from .registry import rule

SMALL = 1 << 16


def refuses(host, what, call):
    answer = host.answer(call).message
    if answer["type"] != "error":
        raise Broken(f"{what} should have become an error")
    host.serves()


@rule("answers with an error where the frame would be beyond limits.frame_bytes")
def frame_bytes(stage):
    host = stage.ready(frame_bytes=SMALL)
    host.result(host.call("big", bytes=SMALL // 2))
    refuses(host, f"a text of {2 * SMALL} bytes", host.call("big", bytes=2 * SMALL))


@rule("answers with an error where the JSON would be beyond limits.json_bytes")
def json_bytes(stage):
    host = stage.ready(json_bytes=SMALL)
    host.result(host.call("big", bytes=SMALL // 2))
    refuses(host, f"a text of {2 * SMALL} bytes", host.call("big", bytes=2 * SMALL))


@rule("answers with an error where the result would be nested beyond limits.json_depth")
def json_depth(stage):
    host = stage.ready(json_depth=16)
    deep = 0
    for _ in range(20):
        deep = [deep]
    refuses(host, "a result of 21 levels", host.call("echo", value=deep))


@rule("answers with an error where the result would be beyond limits.tree_bytes")
def tree_bytes(stage):
    host = stage.ready(tree_bytes=SMALL)
    refuses(host, "a list of 10,000 numbers", host.call("echo", value=[1] * 10000))
    refuses(host, "a list of 2,000 empty lists", host.call("echo", value=[[]] * 2000))


@rule("answers with an error where there would be more than limits.attachments")
def most_attachments(stage):
    host = stage.ready(attachments=2)
    refuses(host, "a result with three attachments", host.call("echo", value=None, attachments=[b"1", b"2", b"3"]))


@rule("answers with an error where a tool call would be beyond limits.tool_call_bytes")
def tool_call_bytes(stage):
    host = stage.ready(tool_call_bytes=SMALL)
    refuses(host, f"a call whose tool call has {2 * SMALL} bytes", host.call("ask", name="lookup", args={"text": "x" * 2 * SMALL}))


@rule("cuts an error that would be beyond the limits")
def long_error(stage):
    host = stage.ready(frame_bytes=SMALL, json_bytes=SMALL)
    host.error(host.call("fail", message="\x01" * 9000))  # each takes six bytes; with a traceback, perhaps twice
    host.serves()
