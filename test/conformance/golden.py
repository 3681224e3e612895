#!/usr/bin/env python3
"""Writes the golden frames: what each message of the protocol looks like as bytes, and what is none.

    test/conformance/golden.py            writes frames/*.bin and frames/index.json
    test/conformance/golden.py --check    says whether they are as they would be written; exit status 1 if not

index.json lists the frames, for the tests of decoders in any language. Each has a file, the direction it travels in and
the channel. A good one has the `message` that it decodes to and the lengths of its `attachments`. A bad one has the rule
that it `violates` and the `layer` that sees it: `frame` (lengths), `json` (the text) or `message` (what it says). The
decoders are to hold them to the `limits` of the index.
"""

import json
import sys
from pathlib import Path

from hosting.frames import HEADER, frame, raw_frame

FOLDER = Path(__file__).parent / "frames"

LIMITS = {"frame_bytes": 4096, "json_bytes": 2048, "json_depth": 16, "tree_bytes": 8192, "attachments": 16,
          "message_bytes": 512, "tool_calls": 4, "tool_call_bytes": 1024}

TO_WORKER, TO_HOST = "host_to_worker", "worker_to_host"

HELLO = {"type": "hello", "protocol": 1, "token": "c0ffee", "pid": 4711}
CALL = {"type": "call", "id": 1, "command": "add", "args": {"a": 1, "b": 2}}
ERROR = {"type": "ValueError", "message": "no such model"}

# name, direction, channel, message, attachments
GOOD = [
    ("hello", TO_HOST, "data", HELLO, []),
    ("hello_full", TO_HOST, "data", {
        **HELLO, "sdk": "mine/1.0", "capacity": 4, "control": True, "commands": ["add", "gr\u00fc\u00dfen"],
        "health_check": "skep.health_check", "own_health_check": False, "stack_signal": 12, "recall": True,
        "shared": 1}, []),
    ("welcome", TO_WORKER, "control", {
        "type": "welcome", "worker": "default/0#1", "pool": "default",
        "heartbeat": {"enabled": True, "interval_ms": 2000, "timeout_ms": 10000},
        "limits": LIMITS, "capacity": 1, "correlation": "7f3a9c1b-", "records": True,
        "log_level": "info", "previous_exit": "segfault",
        "shared": {"least": 32768, "bytes": 268435456, "regions": 64}}, []),
    ("ready", TO_HOST, "data", {"type": "ready"}, []),
    ("call", TO_WORKER, "data", CALL, []),
    ("call_full", TO_WORKER, "data", {
        **CALL, "deadline_ms": 1500, "sent_ms": 20, "session": "user-42", "correlation_id": "4bf92f35",
        "metadata": {"tenant": "x"}, "stream": {"chunks": 64, "bytes": 1048576}}, [b"abc", b"", b"\x00\xff"]),
    ("call_unknown_members", TO_WORKER, "data", {**CALL, "moon": {"phase": [0.5, None]}}, []),
    ("result", TO_HOST, "data", {"type": "result", "id": 1, "value": 3}, []),
    ("result_null", TO_HOST, "data", {"type": "result", "id": 1, "value": None}, []),
    ("result_values", TO_HOST, "data", {"type": "result", "id": 2, "value": [
        True, False, 0, -1, 1.5, 1e300, 2**63 - 1, 2**64 - 1, -(2**63), "", "\"\\\n\u0000\u001f", "\U0001f41d \u2028", {}, [], {"": [[]]}]}, []),
    ("result_attachments", TO_HOST, "data", {"type": "result", "id": 2, "value": {"image": {"$attachment": 1}}}, [b"", b"\x89PNG"]),
    ("result_unknown_members", TO_HOST, "data", {"type": "result", "id": 1, "value": 3, "moon": {"phase": 1}}, []),
    ("error", TO_HOST, "data", {"type": "error", "id": 3, "error": {**ERROR, "traceback": "Traceback ..."}}, []),
    ("error_bare", TO_HOST, "data", {"type": "error", "id": 3, "error": {"type": "skep.Cancelled"}}, []),
    ("error_code", TO_HOST, "data", {"type": "error", "id": 3, "error": {**ERROR, "code": "bad_image", "data": {"size": 3}}}, []),
    ("chunk", TO_HOST, "data", {"type": "chunk", "id": 4, "value": "tok"}, []),
    ("chunk_attachments", TO_HOST, "data", {"type": "chunk", "id": 4, "value": None}, [b"12345"]),
    ("credit", TO_WORKER, "control", {"type": "credit", "id": 4, "credit": {"chunks": 32, "bytes": 2048}}, []),
    ("credit_released", TO_WORKER, "control", {
        "type": "credit", "id": 4, "released": [[4, 0], [4, 8192]], "credit": {"chunks": 32, "bytes": 2048}}, []),
    ("progress", TO_HOST, "data", {"type": "progress", "id": 4, "fraction": 0.4, "text": "epoch 4"}, []),
    ("progress_done", TO_HOST, "data", {"type": "progress", "id": 4, "fraction": 1}, []),
    ("tool_call", TO_HOST, "data", {"type": "tool_call", "id": 4, "tool_call": 1, "name": "lookup", "args": {"key": "x"}}, []),
    ("tool_call_attachments", TO_HOST, "data", {"type": "tool_call", "id": 4, "tool_call": 2, "name": "store", "args": {}}, [b"ab", b"c"]),
    ("tool_result", TO_WORKER, "control", {"type": "tool_result", "tool_call": 1, "value": {"found": True}}, []),
    ("tool_result_attachments", TO_WORKER, "control", {"type": "tool_result", "tool_call": 2, "value": None}, [b"xyz"]),
    ("tool_error", TO_WORKER, "control", {"type": "tool_error", "tool_call": 1, "error": {
        "type": "skep.UnknownTool", "message": "there is no tool 'lookup'"}}, []),
    ("ping", TO_WORKER, "control", {"type": "ping", "seq": 7}, []),
    ("pong", TO_HOST, "control", {"type": "pong", "seq": 7, "in_flight": 1, "completed": 12}, []),
    ("recalled", TO_HOST, "control", {"type": "recalled", "id": 4}, []),
    ("release", TO_HOST, "control", {"type": "release", "region": 3, "at": 4096}, []),
    ("region", TO_HOST, "control", {"type": "region", "bytes": 4194304}, []),
    ("event", TO_HOST, "control", {"type": "event", "name": "model.loaded", "measurements": {"duration_ms": 812.5},
                                   "metadata": {"model": "small"}, "correlation_id": "4bf92f35", "dropped": 2}, []),
    ("event_bare", TO_HOST, "control", {"type": "event", "name": "x"}, []),
    ("log", TO_HOST, "control", {"type": "log", "level": "warning", "logger": "model", "text": "a weight is missing",
                                 "correlation_id": "4bf92f35"}, []),
    ("cancel", TO_WORKER, "control", {"type": "cancel", "id": 4}, []),
    ("recall", TO_WORKER, "control", {"type": "recall", "id": 4}, []),
    ("shutdown", TO_WORKER, "control", {"type": "shutdown", "grace_ms": 5000}, []),
]  # fmt: skip


def text_frame(text, payload=b""):
    return raw_frame(text if type(text) is bytes else text.encode(), payload)


def bad(message, **changes):
    """A frame of that message with other members; those that become None are left out."""
    return frame({key: value for key, value in {**message, **changes}.items() if value is not None})


RESULT = {"type": "result", "id": 1, "value": 1}
EVENT = {"type": "event", "name": "x"}
LOG = {"type": "log", "level": "info", "text": "x"}
PONG = {"type": "pong", "seq": 1, "in_flight": 0, "completed": 0}
TOOL_CALL = {"type": "tool_call", "id": 4, "tool_call": 1, "name": "lookup", "args": {}}
PROGRESS = {"type": "progress", "id": 4, "fraction": 0.5}
DEEP = "[" * 16 + "]" * 16

# name, direction, channel, layer, rule, bytes
BAD = [
    # Both sides cut frames alike.
    *[(f"bad_{name}_{short}", direction, "data", "frame", rule, data)
      for direction, short in ((TO_HOST, "host"), (TO_WORKER, "worker"))
      for name, rule, data in (
          ("frame_too_long", "frame_length is beyond limits.frame_bytes", HEADER.pack(4097, 2) + b"{}"),
          ("frame_too_short", "frame_length has no room for json_length", HEADER.pack(3, 0)),
          ("json_too_long", "json_length is beyond the frame", HEADER.pack(6, 3) + b"{}"),
      )],
    ("bad_json_limit", TO_HOST, "data", "frame", "json_length is beyond limits.json_bytes", text_frame(b"{%2047b}" % b"")),
    # Both sides read JSON alike.
    *[(f"bad_{name}_{short}", direction, "data", "json", rule, text_frame(text))
      for direction, short in ((TO_HOST, "host"), (TO_WORKER, "worker"))
      for name, rule, text in (
          ("no_json", "the JSON is cut off", '{"type":"ready"'),
          ("empty_json", "there is no JSON", ""),
          ("array", "the JSON is no object", '[{"type":"ready"}]'),
          ("two_values", "there is more than one value", '{"type":"ready"}{"type":"ready"}'),
          ("not_utf8", "the text is not UTF-8", b'{"type":"ready","x":"\xff"}'),
          ("nan", "NaN is not JSON", '{"type":"result","id":1,"value":NaN}'),
          ("infinity", "Infinity is not JSON", '{"type":"result","id":1,"value":[-Infinity]}'),
          ("single_quotes", "text stands in double quotes", "{'type':'ready'}"),
          ("comma", "there is no value behind the last comma", '{"type":"ready",}'),
      )],
    ("bad_huge_float", TO_HOST, "data", "json", "a number is not finite", text_frame('{"type":"result","id":1,"value":1e999}')),
    ("bad_huge_integer", TO_HOST, "data", "json", "an integer does not fit into 64 bits",
     text_frame('{"type":"result","id":1,"value":18446744073709551616}')),
    ("bad_low_integer", TO_HOST, "data", "json", "an integer does not fit into 64 bits",
     text_frame('{"type":"result","id":1,"value":-9223372036854775809}')),
    ("bad_surrogate", TO_HOST, "data", "json", "half a surrogate pair is no text", text_frame('{"type":"result","id":1,"value":"\\ud800"}')),
    ("bad_key_twice", TO_HOST, "data", "json", "a key comes twice", text_frame('{"type":"result","id":1,"id":2,"value":1}')),
    ("bad_depth", TO_HOST, "data", "json", "nesting is beyond limits.json_depth",
     text_frame('{"type":"result","id":1,"value":%s}' % DEEP)),
    ("bad_tree", TO_HOST, "data", "json", "the message counts for more than limits.tree_bytes",
     text_frame('{"type":"result","id":1,"value":[%s[]]}' % ("[]," * 150))),
    # What a worker says.
    ("bad_type_missing", TO_HOST, "data", "message", "a message has a type", text_frame('{"id":1}')),
    ("bad_type_unknown", TO_HOST, "data", "message", "a message is of a known type", text_frame('{"type":"moon"}')),
    ("bad_type_number", TO_HOST, "data", "message", "a type is text", text_frame('{"type":1}')),
    ("bad_hello_token", TO_HOST, "data", "message", "a hello has a token", bad(HELLO, token=None)),
    ("bad_hello_protocol", TO_HOST, "data", "message", "the protocol is a number", bad(HELLO, protocol="1")),
    ("bad_hello_pid", TO_HOST, "data", "message", "a hello has a process id", bad(HELLO, pid=None)),
    ("bad_hello_capacity", TO_HOST, "data", "message", "the capacity is at least 1", bad(HELLO, capacity=0)),
    ("bad_hello_commands", TO_HOST, "data", "message", "commands are texts", bad(HELLO, commands=["add", 1])),
    ("bad_hello_health_check", TO_HOST, "data", "message", "a name takes at most 256 bytes", bad(HELLO, health_check="x" * 257)),
    ("bad_hello_stack_signal", TO_HOST, "data", "message", "the signal for stacks is 10 or 12", bad(HELLO, stack_signal=9)),
    ("bad_hello_recall", TO_HOST, "data", "message", "recall is true or false", bad(HELLO, recall=1)),
    ("bad_result_id", TO_HOST, "data", "message", "a result has an id", bad(RESULT, id=None)),
    ("bad_result_id_negative", TO_HOST, "data", "message", "an id is a number from 1 on", bad(RESULT, id=-1)),
    ("bad_result_id_text", TO_HOST, "data", "message", "an id is a number", bad(RESULT, id="1")),
    ("bad_result_value", TO_HOST, "data", "message", "a result has a value", bad(RESULT, value=None)),
    ("bad_chunk_value", TO_HOST, "data", "message", "a chunk has a value", bad({**RESULT, "type": "chunk"}, value=None)),
    ("bad_error_missing", TO_HOST, "data", "message", "an error has an error", bad({"type": "error", "id": 1})),
    ("bad_error_text", TO_HOST, "data", "message", "an error is an object", bad({"type": "error", "id": 1, "error": "no"})),
    ("bad_error_type", TO_HOST, "data", "message", "an error names a type", bad({"type": "error", "id": 1, "error": {"message": "x"}})),
    ("bad_error_type_empty", TO_HOST, "data", "message", "an error names a type", bad({"type": "error", "id": 1, "error": {**ERROR, "type": ""}})),
    ("bad_pong", TO_HOST, "control", "message", "a pong has counts", bad(PONG, in_flight=None)),
    ("bad_pong_seq", TO_HOST, "control", "message", "a pong has the number of its ping", bad(PONG, seq=1.5)),
    ("bad_recalled", TO_HOST, "control", "message", "a recalled names a call", text_frame('{"type":"recalled"}')),
    ("bad_release", TO_HOST, "control", "message", "a release names a region", text_frame('{"type":"release","at":0}')),
    ("bad_release_at", TO_HOST, "control", "message", "a release names a place",
     text_frame('{"type":"release","region":1,"at":-1}')),
    ("bad_region", TO_HOST, "control", "message", "a request for a region names its bytes",
     text_frame('{"type":"region","region":1}')),
    ("bad_region_result", TO_HOST, "data", "message", "a result has no attachment in shared memory",
     text_frame('{"type":"result","id":1,"value":1,"attachments":[{"region":1,"at":0,"bytes":5}]}')),
    ("bad_event", TO_HOST, "control", "message", "an event has a name", bad(EVENT, name=None)),
    ("bad_event_measurement", TO_HOST, "control", "message", "measurements are numbers", bad(EVENT, measurements={"a": "1"})),
    ("bad_event_metadata", TO_HOST, "control", "message", "metadata are an object", bad(EVENT, metadata=[1])),
    ("bad_event_nested", TO_HOST, "control", "message", "metadata are flat", bad(EVENT, metadata={"a": [1]})),
    ("bad_event_members", TO_HOST, "control", "message", "metadata are few", bad(EVENT, metadata={str(n): n for n in range(65)})),
    ("bad_event_size", TO_HOST, "control", "message", "an event is not long", bad(EVENT, metadata={"a": "x" * 20000})),
    ("bad_log", TO_HOST, "control", "message", "a log record has a text", bad(LOG, text=None)),
    ("bad_log_level", TO_HOST, "control", "message", "a level is one of four", bad(LOG, level="fatal")),
    ("bad_progress", TO_HOST, "data", "message", "progress has a fraction", bad(PROGRESS, fraction=None)),
    ("bad_progress_fraction", TO_HOST, "data", "message", "a fraction is a number", bad(PROGRESS, fraction="half")),
    ("bad_progress_beyond", TO_HOST, "data", "message", "a fraction is at most 1", bad(PROGRESS, fraction=1.5)),
    ("bad_tool_call_name", TO_HOST, "data", "message", "a tool call names a tool", bad(TOOL_CALL, name=None)),
    ("bad_tool_call_args", TO_HOST, "data", "message", "arguments are an object", bad(TOOL_CALL, args=[1])),
    ("bad_tool_call_number", TO_HOST, "data", "message", "a tool call has a number", bad(TOOL_CALL, tool_call=None)),
    ("bad_message_size", TO_HOST, "data", "message", "a message that nobody has asked for is short, with all its members",
     bad(PROGRESS, moon="x" * 500)),
    ("bad_tool_call_size", TO_HOST, "data", "message", "a tool call is within limits.tool_call_bytes",
     bad(TOOL_CALL, args={"a": "x" * 1000})),
    ("bad_tool_call_attachments", TO_HOST, "data", "message", "attachments count for limits.tool_call_bytes",
     text_frame('{"type":"tool_call","id":4,"tool_call":1,"name":"lookup","args":{},"attachments":[1000]}', b"x" * 1000)),
    ("bad_attachments_missing", TO_HOST, "data", "message", "attachments are announced",
     text_frame('{"type":"result","id":1,"value":1}', b"123")),
    ("bad_attachments_short", TO_HOST, "data", "message", "attachments add up",
     text_frame('{"type":"result","id":1,"value":1,"attachments":[2]}', b"123")),
    ("bad_attachments_long", TO_HOST, "data", "message", "attachments add up",
     text_frame('{"type":"result","id":1,"value":1,"attachments":[2,2]}', b"123")),
    ("bad_attachments_negative", TO_HOST, "data", "message", "lengths are not negative",
     text_frame('{"type":"result","id":1,"value":1,"attachments":[-1,4]}', b"123")),
    ("bad_attachments_no_list", TO_HOST, "data", "message", "lengths are a list",
     text_frame('{"type":"result","id":1,"value":1,"attachments":3}', b"123")),
    ("bad_attachments_with_pong", TO_HOST, "control", "message", "a pong has no attachments",
     text_frame('{"type":"pong","seq":1,"in_flight":0,"completed":0,"attachments":[1]}', b"1")),
    # What a host says.
    ("bad_host_type", TO_WORKER, "control", "message", "a message is of a known type", text_frame('{"type":"moon"}')),
    ("bad_ping", TO_WORKER, "control", "message", "a ping has a number", text_frame('{"type":"ping"}')),
    ("bad_cancel", TO_WORKER, "control", "message", "a cancel names a call", text_frame('{"type":"cancel"}')),
    ("bad_recall", TO_WORKER, "control", "message", "a recall names a call", text_frame('{"type":"recall","id":"4"}')),
    ("bad_hello_region", TO_WORKER, "data", "message", "no memory is shared without a word in the hello",
     bad(CALL, attachments=[{"region": 1, "at": 0, "bytes": 5}])),
    ("bad_credit", TO_WORKER, "control", "message", "credit is not negative",
     text_frame('{"type":"credit","id":1,"credit":{"chunks":-1,"bytes":0}}')),
    ("bad_tool_result", TO_WORKER, "control", "message", "an answer says to which tool call", text_frame('{"type":"tool_result","value":1}')),
    ("bad_tool_error", TO_WORKER, "control", "message", "an error is an object",
     text_frame('{"type":"tool_error","tool_call":1,"error":"no"}')),
    ("bad_call_id", TO_WORKER, "data", "message", "a call has an id", bad(CALL, id=None)),
    ("bad_call_command", TO_WORKER, "data", "message", "a command is text", bad(CALL, command=1)),
    ("bad_call_args", TO_WORKER, "data", "message", "arguments are an object", bad(CALL, args=[1, 2])),
    ("bad_call_stream", TO_WORKER, "data", "message", "the credit of a stream has two numbers", bad(CALL, stream={"chunks": 1})),
    ("bad_call_attachments", TO_WORKER, "data", "message", "attachments add up",
     text_frame('{"type":"call","id":1,"command":"add","args":{},"attachments":[2]}', b"123")),
]  # fmt: skip


def golden_files():
    """The files, by name, and what is in them."""
    files, entries = {}, []
    for name, direction, channel, message, attachments in GOOD:
        lengths = [len(part) for part in attachments]
        entries.append({
            "file": f"{name}.bin", "direction": direction, "channel": channel,
            "message": {**message, "attachments": lengths} if lengths else message, "attachments": lengths,
        })  # fmt: skip
        files[f"{name}.bin"] = frame(message, attachments)
    for name, direction, channel, layer, rule, data in BAD:
        entries.append({"file": f"{name}.bin", "direction": direction, "channel": channel, "layer": layer, "violates": rule})
        files[f"{name}.bin"] = data
    index = [json.dumps(entry) for entry in entries]
    text = '{"limits": %s,\n "frames": [\n  %s\n ]}\n' % (json.dumps(LIMITS), ",\n  ".join(index))
    return {**files, "index.json": text.encode()}


def main():
    files = golden_files()
    if sys.argv[1:] == ["--check"]:
        there = {path.name: path.read_bytes() for path in FOLDER.iterdir()}
        stale = sorted(name for name in {*files, *there} if files.get(name) != there.get(name))
        for name in stale:
            print(f"frames/{name} is not as golden.py would write it")
        return 1 if stale else 0
    if sys.argv[1:]:
        print("usage: test/conformance/golden.py [--check]", file=sys.stderr)
        return 2
    FOLDER.mkdir(exist_ok=True)
    for path in FOLDER.iterdir():
        path.unlink()
    for name, data in files.items():
        (FOLDER / name).write_bytes(data)
    return 0


if __name__ == "__main__":
    sys.exit(main())
