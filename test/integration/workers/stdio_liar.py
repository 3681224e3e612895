"""A worker over stdin and stdout, by hand, that sends something else than it should.

    stdio_liar.py LIE                 instead of its hello
    stdio_liar.py --at-call LIE       instead of the answer to its first call
    stdio_liar.py --at-call SEED      the same, as chance has it that begins with the number

Without a lie it answers each call with null.
"""

import json
import os
import random
import struct
import sys
import time

TITLE = b"\x1b]0;owned\x07\xc2\x9b2J\xe2\x80\xaegreen\xff"


def frame(message):
    text = json.dumps(message).encode()
    return struct.pack(">II", 4 + len(text), len(text)) + text


def read_message():
    def exactly(size):
        data = b""
        while len(data) < size:
            piece = os.read(0, size - len(data))
            if not piece:
                sys.exit(70)  # the host is gone
            data += piece
        return data

    length, json_length = struct.unpack(">II", exactly(8))
    return json.loads(exactly(length - 4)[:json_length])


def send(data):
    while data:
        data = data[os.write(1, data) :]


def hang():
    while True:
        time.sleep(3600)


def tell(lie, honest):
    """Says the lie where `honest` would be right."""
    if lie == "garbage":
        send(b"\xde\xad\xbe\xef" * 1000)
    elif lie == "greeting":
        send(b"Welcome to host\r\nLast login: today\r\n" + honest)
    elif lie == "title":
        send(TITLE + b"\n" + honest)
    elif lie == "endless line":
        while True:
            send(b"x" * 65536)
    elif lie == "endless spaces":
        while True:
            send(b" " * 65536)
    elif lie == "half":
        send(honest[: len(honest) // 2])
        sys.exit(0)
    elif lie == "half and silence":
        send(honest[: len(honest) // 2])
    elif lie == "length alone":
        send(honest[:4])
    elif lie == "huge":
        send(struct.pack(">II", 0x03FFFFFF, 0x03FFFFF0) + b"{" + b" " * 200_000)
    else:
        tell_by_chance(random.Random(int(lie)), honest)
    hang()


def tell_by_chance(chance, honest):
    for _ in range(chance.randrange(1, 5)):
        data = bytearray(honest)
        for _ in range(chance.randrange(0, 4)):
            data[chance.randrange(len(data))] = chance.randrange(256)
        cut = chance.choice([len(data), chance.randrange(len(data))])
        noise = bytes(chance.randrange(256) for _ in range(chance.choice([0, 0, 3, 1000])))
        send(chance.choice([bytes(data[:cut]), noise, TITLE, b"done\n", honest]))


def main():
    words = sys.argv[1:]
    hello = frame({"type": "hello", "protocol": 1, "token": "", "pid": os.getpid(), "control": False})
    if words and words[0] != "--at-call":
        tell(words[0], hello)
    send(hello)
    while True:
        message = read_message()
        answer = frame({"type": "result", "id": message.get("id"), "value": None})
        if message["type"] == "welcome":
            send(frame({"type": "ready"}))
        elif message["type"] == "ping":
            send(frame({"type": "pong", "seq": message["seq"], "in_flight": 0, "completed": 0}))
        elif message["type"] == "shutdown":
            sys.exit(0)
        elif message["type"] == "call":
            if words:
                tell(words[1], answer)
            send(answer)


main()
