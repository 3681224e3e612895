"""A worker without an SDK, and without what a caller could do without: raw_worker.py MODE, over descriptor 3.

    echo SIZE    sends back what it is sent, SIZE bytes at a time
    tokens       tokens without end, each as JSON with its length before it, 4 KiB or more a write
"""

import json
import socket
import struct
import sys

from tokens import tokens

FULL = 4 * 1024


def echo(stream, size):
    message = memoryview(bytearray(int(size)))
    while True:
        received = 0
        while received < len(message):
            count = stream.recv_into(message[received:])
            if count == 0:
                return
            received += count
        stream.sendall(message)


def send_tokens(stream):
    encode, pack = json.JSONEncoder().encode, struct.Struct(">I").pack
    batch = bytearray()
    try:
        for token in tokens():
            text = encode(token).encode()
            batch += pack(len(text))
            batch += text
            if len(batch) >= FULL:
                stream.sendall(batch)
                batch.clear()
    except BrokenPipeError:  # that was enough
        pass


MODES = {"echo": echo, "tokens": send_tokens}

if __name__ == "__main__":
    MODES[sys.argv[1]](socket.socket(fileno=3), *sys.argv[2:])
