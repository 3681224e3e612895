#!/usr/bin/env python3
"""Feeds the Python SDK's decoders with what a host should never send: only ProtocolError may come out.

    python_decoder.py [--seconds N] [--seed S] [--findings FOLDER]    frames of the protocol, changed at random
    python_decoder.py FILE                                            one input once more

An input is a stream of frames, which arrives in pieces. Prints what was tried; ends with 1 and the path of the input that
something else came out of.
"""

import argparse
import array
import json
import os
import pathlib
import queue
import random
import socket
import struct
import sys
import time
import traceback
from types import SimpleNamespace

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "lib" / "python"))

from skep._calls.call import Call, decode_arrays  # noqa: E402
from skep._calls.interrupts import Window  # noqa: E402
from skep._calls.pool_host import PoolHost  # noqa: E402
from skep._calls.recalls import Recalls  # noqa: E402
from skep._calls.tools import Request, result_value  # noqa: E402
from skep._profiles.control import Control  # noqa: E402
from skep._wire.attachments import keep_in_frame  # noqa: E402
from skep._wire.channel import Channel  # noqa: E402
from skep._wire.errors import HostError, InvalidArguments, ProtocolError  # noqa: E402
from skep._wire.shared_memory import SharedMemory  # noqa: E402

LIMIT = 64 * 1024
MOST_FRAMES = 8
ODD_VALUES = [
    *(None, True, False, 0, 1, -1, 2**31, 2**63, 2**64, -(2**63), 10**400, 0.5, -0.0, 5e-324, 1.7e308, "", "x"),
    *("\x00", "\ud800", "call", [], {}, [[]], [0], [-1], [2**70], {"chunks": 1, "bytes": 1}, {"frame_bytes": 0}),
]
ODD_TEXTS = [b"NaN", b"-Infinity", b"1e400", b"9" * 5000, b"[" * 3000, b'"\\ud800"', b"\xff", b"\xed\xa0\x80", b'"']


def examples():
    """Every message in the protocol's description."""
    text = (ROOT / "lib/wire/PROTOCOL.md").read_text()
    at = text.find("{")
    while at >= 0:
        try:
            message, end = json.JSONDecoder().raw_decode(text, at)
            if "type" in message:
                yield message
        except ValueError:
            end = at + 1
        at = text.find("{", end)


def changed_value(dice, value):
    """A value in which one thing, somewhere, is another."""
    if not value or type(value) not in (dict, list) or dice.random() < 0.1:
        return dice.choice(ODD_VALUES)
    changed = value.copy()
    key = dice.choice(list(value)) if type(value) is dict else dice.randrange(len(value))
    if dice.random() < 0.2:
        del changed[key]
    else:
        changed[key] = changed_value(dice, value[key])
    return changed


def changed_bytes(dice, data):
    at = dice.randrange(len(data) + 1)
    kind = dice.randrange(4)
    if kind == 0:
        return data[:at] + dice.choice(ODD_TEXTS) + data[at:]
    if kind == 1:
        return data[:at] + bytes([dice.randrange(256)]) + data[at + 1 :]
    if kind == 2:
        return data[:at] + data[at + dice.randrange(1, 9) :]
    return data[:at] + data[dice.randrange(len(data)) :][: dice.randrange(64)] + data[at:]


def frame(dice, message):
    for _ in range(dice.randrange(3)):
        message = changed_value(dice, message)
    lengths = message.get("attachments") if type(message) is dict else None
    sizes = [size for size in lengths if type(size) is int and 0 <= size < LIMIT] if type(lengths) is list else []
    text = json.dumps(message, ensure_ascii=dice.random() < 0.5).encode("utf-8", "surrogatepass")
    if dice.random() < 0.3:
        text = changed_bytes(dice, text)
    payload = b"x" * sum(sizes)
    data = struct.pack(">II", 4 + len(text) + len(payload), len(text)) + text + payload
    return changed_bytes(dice, data) if dice.random() < 0.1 else data


def channel_reading(data):
    """A channel that receives these bytes, in pieces, then the end of the stream. The pieces depend on the bytes alone."""
    dice = random.Random(data)
    rest = memoryview(data)

    def receive_into(view):
        nonlocal rest
        count = min(len(view), len(rest), dice.choice((1, 5, 100, LIMIT)))
        view[:count] = rest[:count]
        rest = rest[count:]
        return count

    channel = Channel(receive_into, None, None)
    channel.limit = LIMIT
    channel.shared = SHARED_MEMORY
    return channel


def announced_memory(size=4 << 20):
    """The memory that a worker shares, with regions 1 to 3 of its host, announced and not taken yet."""
    host, line = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    memory = os.memfd_create("region")
    os.ftruncate(memory, size)
    for number in range(1, 4):
        packet = json.dumps({"region": number, "bytes": size}).encode()
        host.sendmsg([packet], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [memory]))])
    memory = SharedMemory(line.detach())
    memory.accept({"least": 4096, "bytes": size, "regions": 4}, lambda message: None)
    return memory


SHARED_MEMORY = announced_memory()


class Decoders:
    """What the SDK does with a frame, up to where user code or the process would be concerned."""

    WELCOME = {"type": "welcome", "limits": {"frame_bytes": LIMIT}}
    CALL = {"type": "call", "id": 1, "command": "ask", "args": {}}
    OPEN_REQUESTS = 4

    def __init__(self):
        sink = SimpleNamespace(send=lambda body, attachments=(): None, shared=None)
        connection = SimpleNamespace(data=sink, control=sink, calls=None, stop_receiving=lambda: None, shared=None)
        self._host = PoolHost(connection)
        self._host.interrupt = lambda call_id: None
        self._host.accept_welcome(self.WELCOME)
        profile = SimpleNamespace(in_flight=0, completed=0, recall=Recalls().recall)
        self._control = Control(connection, SimpleNamespace(stopping=False, restore=lambda: None), self._host, profile)
        self._answers = queue.SimpleQueue()
        self._ask()

    def _ask(self):
        """Somebody waits for the answers of some tools."""
        call = Call(self.CALL, [], self._host, Window())
        for _ in range(self.OPEN_REQUESTS):
            request = Request(call, "tool", None, self._answers)
            request.encode({}, self._host.limits, keep_in_frame)
            self._host.tools.submit(request)

    def take(self, received):
        message = received.message
        assert type(message) is dict
        kind = message.get("type")
        if kind == "call":
            self._take_call(received)
        elif kind == "welcome":
            self._host.accept_welcome(message)
        else:
            self._control.handle(received)
        while not self._answers.empty():
            answer = self._answers.get()
            if not isinstance(answer, BaseException):
                try:
                    result_value(answer)
                except HostError:  # a malformed array
                    pass

    def _take_call(self, received):
        call = Call(received.message, received.attachments, self._host, Window())
        assert type(call.id) is int and type(call.command) is str and type(call.args) is dict
        assert call.remaining is None or call.remaining >= 0
        assert all(type(part) is memoryview and part.readonly for part in call.attachments)
        assert not call.cancelled()
        try:
            decode_arrays(call)
        except InvalidArguments:
            pass
        assert type(call.args) is dict


def try_input(data):
    """How many frames were taken, and whether the rest was refused."""
    decoders, channel, count = Decoders(), channel_reading(data), 0
    try:
        while True:
            received = channel.receive()
            if received is None:
                return count, False
            count += 1
            try:
                decoders.take(received)
            except ProtocolError:
                pass  # the worker would end here; what follows is an input of its own
    except ProtocolError:
        return count, True


def fuzz(seconds, seed, findings):
    dice, messages = random.Random(seed), list(examples())
    inputs = frames = refused = 0
    begin = time.monotonic()
    while time.monotonic() < begin + seconds:
        data = b"".join(frame(dice, dice.choice(messages)) for _ in range(dice.randrange(1, MOST_FRAMES)))
        try:
            count, is_refused = try_input(data)
        except Exception:
            traceback.print_exc()
            findings.mkdir(parents=True, exist_ok=True)
            path = findings / f"python_decoder-{seed}-{inputs}"
            path.write_bytes(data)
            print(f"python_decoder: seed {seed}: see {path}")
            return 1
        inputs, frames, refused = inputs + 1, frames + count, refused + is_refused
    rate = inputs / (time.monotonic() - begin)
    print(f"python_decoder: seed {seed}: {inputs} inputs, {frames} frames taken, {refused} refused, {rate:.0f} a second")
    return 0


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("file", nargs="?", type=pathlib.Path)
    parser.add_argument("--seconds", type=float, default=30)
    parser.add_argument("--seed", type=int, default=int(time.time()))
    parser.add_argument("--findings", type=pathlib.Path, default=pathlib.Path("."))
    given = parser.parse_args()
    if given.file is None:
        return fuzz(given.seconds, given.seed, given.findings)
    print(try_input(given.file.read_bytes()))
    return 0


if __name__ == "__main__":
    sys.exit(main())
