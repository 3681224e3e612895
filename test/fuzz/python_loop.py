#!/usr/bin/env python3
"""Serves random calls by the SDK's loop in Python and by skep._loop: both must do the same.

    python_loop.py [--seconds N] [--seed S] [--findings FOLDER]    calls and results, changed at random
    python_loop.py --input N --seed S                              one input once more

Compares the bytes that are sent, the end of the worker and the effects that can be seen. Needs skep._loop: PYTHONPATH names
the SDK of a build tree. Prints what was tried; ends with 1 and the number of the input that makes a difference.
"""

import argparse
import collections
import dataclasses
import decimal
import enum
import functools
import gc
import json
import os
import pathlib
import random
import signal
import struct
import sys
import time
import traceback

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "test" / "fuzz"), str(ROOT / "test" / "python")]

import skep  # noqa: E402  (before python_decoder, which names the sources of the SDK)
from loop_sides import _loop, commands_of, differences  # noqa: E402
from skep._calls.command import BatchCommand  # noqa: E402
from skep._wire.protocol import Limits  # noqa: E402

import python_decoder  # noqa: E402

MOST_FRAMES = 8
Pair = collections.namedtuple("Pair", "left right")


class Color(enum.Enum):
    RED = 1


class Text(str):
    """A str of another type."""


class Number(int):
    """An int of another type."""


@dataclasses.dataclass
class Point:
    x: int
    y: float


class Loud:
    """Has a to_dict() that fails."""

    def to_dict(self):
        raise ValueError("loud")


def yielding():
    yield 1
    yield [2]


async def waiting():
    return {"awaited": True}


def deep(levels):
    value = []
    for _ in range(levels):
        value = [value] if levels % 2 else {"k": value}
    return value


def containing_itself():
    value = [1]
    value.append(value)
    return value


TEXTS = [
    *("", "a", "value", "ü\u20ac\U0001f600", '"\\/\b\f\n\r\t', "\x00\x01\x1f\x7f\x80", "x" * 300, "ü" * 1100),
    *("\u2028\ufeff", "\\u0041", "long " * 900, '{"$attachment":0}'),
]
NUMBERS = [
    *(0, 1, -1, 9, 10, 2**31, -(2**31), 2**53, 10**18, 10**19 - 1, 10**19, 2**63 - 1, 2**63, 2**64 - 1, -(2**63)),
    *(0.0, -0.0, 0.5, 1e15, 1e16, 1e17, 1e-4, 1e-5, 5e-324, 1.7e308, 0.1 + 0.2, 100.0, 1e22),
]
ODD = [
    *(lambda: b"bytes", lambda: bytearray(b"ab"), lambda: {1, 2}, lambda: Color.RED, lambda: Text("sub"), lambda: Number(5)),
    *(lambda: Pair(1, "two"), lambda: Point(1, 2.5), Loud, object, lambda: decimal.Decimal("1.5"), yielding, waiting),
    *(lambda: deep(99), lambda: deep(100), lambda: deep(101), lambda: deep(510), lambda: deep(20), containing_itself),
    *(lambda: {1: "one", "1": "text"}, lambda: {None: 1, 2.5: 2}, lambda: {Text("a"): 1, "a": 2}, lambda: {(1,): 2}),
    *(lambda: collections.OrderedDict(a=1), lambda: range(3), lambda: skep.array(b"abc"), lambda: {"$attachment": 0}),
    *(lambda: list(range(2000)), lambda: "y" * 20000, lambda: [{"a": i} for i in range(300)], lambda: type),
    *(lambda: "\ud800", lambda: {"\udfff\ud800": 1}, lambda: float("nan"), lambda: -float("inf"), lambda: 2**64),
    *(lambda: -(2**63) - 1, lambda: 10**30, lambda: 10**5000, lambda: [1e400]),
]


def random_text(dice):
    if dice.random() < 0.5:
        return dice.choice(TEXTS)
    return "".join(chr(dice.choice((dice.randrange(128), dice.randrange(0x3000)))) for _ in range(dice.randrange(40)))


def random_number(dice):
    kind = dice.randrange(4)
    if kind == 0:
        return dice.choice(NUMBERS)
    if kind == 1:
        return dice.randrange(-(2 ** dice.randrange(1, 66)), 2 ** dice.randrange(1, 66))
    number = struct.unpack("d", struct.pack("Q", dice.getrandbits(64)))[0]
    return number if kind == 2 and number - number == 0 else round(dice.uniform(-1000, 1000), dice.randrange(6))


def random_value(dice, levels=4, odd=0.03):
    """A value as a command may return it; plain JSON types but for a few."""
    if dice.random() < odd:
        return dice.choice(ODD)()
    kind = dice.randrange(8 if levels else 5)
    if kind == 0:
        return dice.choice((None, True, False))
    if kind < 3:
        return random_number(dice)
    if kind < 5:
        return random_text(dice)
    items = [random_value(dice, levels - 1, odd) for _ in range(dice.randrange(5))]
    if kind == 5:
        return {random_text(dice): item for item in items}
    return tuple(items) if kind == 6 else items


ERRORS = [
    *(lambda: ValueError("bad"), lambda: TypeError("give() takes no tea"), lambda: skep.Error("code", "text", data=[1]),),
    *(lambda: SystemExit(3), lambda: KeyboardInterrupt(), lambda: skep.Cancelled(), lambda: MemoryError(), StopIteration),
    *(lambda: skep.InvalidArguments("mine"), lambda: RecursionError("deep"), lambda: BaseException("base")),
]
def dice_and_worker():
    worker = skep.current().host.worker
    return worker.dice, worker


SLOTS = [name for name in skep.Call.__slots__ if name not in ("host", "window", "deadline", "attached")]


def note(*facts):
    """Records what a command can see."""
    call, (_, worker) = skep.current(), dice_and_worker()
    facts += (call.id, call.command, call.args, call.session, call.correlation_id, call.metadata, call.deadline is None)
    facts += tuple(getattr(call, name) for name in SLOTS)
    facts += (b"".join(call.attachments), call.is_over, call.cancelled(), worker.profile.in_flight)
    worker.log.append(repr(facts))


def give(value=None):
    note("give", value)
    return random_value(dice_and_worker()[0])


def echo(value, more=0):
    note("echo", value, more)
    return value


def keywords(**all_of_them):
    note("keywords", all_of_them)
    all_of_them["added"] = 1
    return all_of_them


def fail(value=None):
    note("fail", value)
    raise dice_and_worker()[0].choice(ERRORS)()


def report(value=0):
    note("report", value)
    skep.progress(0.5, "half")
    return [value]


def cancel(value=0):
    """Is cancelled, or a call near it."""
    note("cancel", value)
    dice, worker = dice_and_worker()
    try:
        worker.interrupts.cancel(skep.current().id + dice.randrange(-1, 3))
        return "not cancelled"
    except skep.Cancelled:
        note("cancelled")
        if dice.random() < 0.5:
            raise
        return random_value(dice)


def recall(value=0):
    """Has a call near it recalled."""
    dice, worker = dice_and_worker()
    return worker.profile.recall(skep.current().id + dice.randrange(-1, 4))


def terminate(value=0):
    note("terminate", value)
    dice, _ = dice_and_worker()
    try:
        os.kill(os.getpid(), signal.SIGTERM)
        return "not terminated"
    except BaseException:
        note("terminated")
        if dice.random() < 0.5:
            raise
        return random_value(dice)


def stop(value=0):
    dice_and_worker()[1].interrupts.is_stopping = True
    return value


def odd(value=0):
    note("odd", value)
    return dice_and_worker()[0].choice(ODD)()


def several(calls):
    """Serves a batch. Fails at times, as a whole or for some of the calls, or has one of them cancelled."""
    worker = calls[0].host.worker
    dice = worker.dice
    worker.log.append(repr([(call.id, call.args, call.session, call.deadline is None, call.cancelled()) for call in calls]))
    if dice.random() < 0.1:
        worker.profile.cancel(calls[0].id + dice.randrange(-1, len(calls) + 1))
    if dice.random() < 0.1:
        raise dice.choice(ERRORS)()
    count = len(calls) + (dice.random() < 0.05)
    return [dice.choice(ERRORS)() if dice.random() < 0.05 else random_value(dice) for _ in range(count)]


BATCHES = {"several": {}, "split": {"is_split": True}}
COMMANDS = {
    **commands_of(give, echo, keywords, fail, report, cancel, recall, terminate, stop, odd, native=functools.partial(sorted, [3, 1, 2])),
    **{name: BatchCommand(name, several, 4, **options) for name, options in BATCHES.items()},
}
# Most calls are plain ones.
NAMES = [*(["give", "echo", "keywords"] * 8), *COMMANDS, "fail", "cancel", "skep.health_check", "unknown"]


ARGUMENTS = [*([("value",)] * 8), (), ("value", "more"), ("other",), ("reverse",)]
ODD_ARGUMENTS = ["\ud800", {"\udfff\ud800": 1}, float("nan"), 2**64, -(2**63) - 1, 10**400, deep(90), deep(99), deep(120)]
DEADLINES = [*([10**7, 5.5e6, 1e7] * 5), 0, -5, False, "1", None, 10**400, 1e300]
SENDING_TIMES = [*([0, 1, 10, 0.5] * 5), -1e9, "x", None]


def random_call(dice, number):
    message = {"type": "call", "id": number, "command": dice.choice(NAMES), "args": {}}
    for name in dice.choice(ARGUMENTS):
        message["args"][name] = dice.choice(ODD_ARGUMENTS) if dice.random() < 0.02 else random_value(dice, 3, odd=0)
    if message["command"] == "keywords":
        message["args"] = {random_text(dice): random_value(dice, 2, odd=0) for _ in range(dice.randrange(5))}
    if dice.random() < 0.4:
        message["deadline_ms"] = dice.choice(DEADLINES)
    if dice.random() < 0.3:
        message["sent_ms"] = dice.choice(SENDING_TIMES)
    if dice.random() < 0.05:
        message["stream"] = {"chunks": 100, "bytes": 10**6}
    for name in ("session", "correlation_id", "metadata"):
        if dice.random() < 0.1:
            message[name] = dice.choice(("text", {"k": "v"}, None, 7))
    return message


def random_batch(dice, number):
    """The frames of a batch. At times its calls belong to different ones, or some are missing."""
    size, command = dice.randrange(1, 6), dice.choice(list(BATCHES))
    frames = []
    for each in range(number, number + size):
        message = {**random_call(dice, each), "command": command, "batch": [number, size]}
        if dice.random() < 0.03:
            message = python_decoder.changed_value(dice, message)
        frames.append(frame_of(dice, message))
    return b"".join(frames[: size - (dice.random() < 0.05)])


def text_of(dice, message):
    options = {"ensure_ascii": dice.random() < 0.5}
    if dice.random() < 0.2:
        options["indent"] = dice.choice((None, 0, 1, "\t"))
    return json.dumps(message, **options).encode("utf-8", "surrogatepass")


def random_frame(dice, number):
    if dice.random() < 0.01:
        return python_decoder.frame(dice, dice.choice(EXAMPLES))
    message = random_call(dice, number)
    while dice.random() < 0.03:
        message = python_decoder.changed_value(dice, message)
    return frame_of(dice, message)


def frame_of(dice, message):
    payload = b""
    if type(message) is dict and dice.random() < 0.03:
        payload = b"xyz" * dice.randrange(3)
        message["attachments"] = dice.choice(([len(payload)], [0, len(payload)], [1], []))
    text = text_of(dice, message)
    if dice.random() < 0.03:
        text = python_decoder.changed_bytes(dice, text)
    data = struct.pack(">II", 4 + len(text) + len(payload), len(text)) + text + payload
    return python_decoder.changed_bytes(dice, data) if dice.random() < 0.01 else data


def random_limits(dice):
    if dice.random() < 0.5:
        return Limits(64 * 1024)
    return Limits(
        dice.choice((200, 5000, 10**6)),
        dice.choice((150, 3000, 10**6)),
        dice.choice((3, 5, 50, 512)),
        dice.choice((1100, 3000, 20000, 10**7)),
        dice.choice((0, 1, 100)),
    )


EXAMPLES = list(python_decoder.examples())


def try_input(number, seed):
    """Returns the differences between both loops, and the data of the input. Tries thrice: a deadline of a millisecond,
    which changed bytes may spell, may pass on one side only."""
    for _ in range(3):
        found, data = try_once(number, seed)
        if not found:
            break
    return found, data


def try_once(number, seed):
    dice = random.Random(f"{seed}/{number}")
    limits, size = random_limits(dice), dice.choice((256 * 1024, 4096, 700))
    kinds = [dice.choice((random_frame, random_frame, random_frame, random_batch)) for _ in range(dice.randrange(1, MOST_FRAMES))]
    data = b"".join(make(dice, 1 + 8 * n) for n, make in enumerate(kinds))
    return differences(COMMANDS, data, seed=dice.random(), limits=limits, buffer_size=size), data


def fuzz(seconds, seed):
    number = 0
    begin = time.monotonic()
    while time.monotonic() < begin + seconds:
        try:
            found, data = try_input(number, seed)
        except BaseException:
            traceback.print_exc()
            print(f"python_loop: seed {seed}: see --seed {seed} --input {number}")
            return 1
        if found:
            show(found, data)
            print(f"python_loop: seed {seed}: a difference: see --seed {seed} --input {number}")
            return 1
        number += 1
        if number % 1000 == 0:
            gc.collect()  # coroutines that were never awaited, and loops
    rate = number / (time.monotonic() - begin)
    print(f"python_loop: seed {seed}: {number} inputs, {rate:.0f} a second")
    return 0


def show(found, data):
    print("input:", data)
    for name, in_python, in_c in found:
        print(f"{name} in Python: {in_python!r}\n{name} in C: {in_c!r}")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--seconds", type=float, default=30)
    parser.add_argument("--seed", type=int, default=int(time.time()))
    parser.add_argument("--input", type=int)
    given = parser.parse_args()
    if _loop is None:
        print("python_loop: skep._loop is not there: PYTHONPATH must name the SDK of a build tree")
        return 1
    if given.input is None:
        return fuzz(given.seconds, given.seed)
    found, data = try_input(given.input, given.seed)
    show(found, data)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
