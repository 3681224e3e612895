#!/usr/bin/env python3
"""A worker that keeps the rules, for the others in this folder to break one each. Over sockets only.

Each call runs in a thread of its own, as many at once as the host allows, up to CAPACITY.
"""

import json
import os
import queue
import socket
import struct
import sys
import threading

CAPACITY = 3
HOST_GONE, HOST_BROKEN = 70, 76


class Failure(Exception):
    """An error of that type."""

    def __init__(self, kind, message):
        super().__init__(message)
        self.kind = kind


class Call:
    def __init__(self, message, attachments):
        self.id = message["id"]
        self.message = message
        self.attachments = attachments
        self.credit = message.get("stream")
        self.cancelled = False
        self.tools = queue.Queue()  # answers of the host


class Worker:
    def __init__(self):
        self.data = socket.socket(fileno=int(os.environ["SKEP_DATA_FD"]))
        self.control = socket.socket(fileno=int(os.environ["SKEP_CONTROL_FD"]))
        self.writing = threading.Lock()  # what goes over the data channel
        self.changed = threading.Condition()  # guards all below
        self.calls = {}
        self.cancelled_early = set()
        self.given_back = set()
        self.last_begun = self.running = self.completed = self.last_tool_call = 0
        self.asking = {}
        self.stopping = False

    # --- both channels, each in a thread

    def serve(self):
        if os.environ["SKEP_PROTOCOL"] != "1":
            sys.exit("this worker speaks version 1 of the protocol")
        self.send(self.data, self.hello())
        threading.Thread(target=self.listen, args=(self.control, self.on_control), daemon=True).start()
        self.listen(self.data, self.on_call)

    def hello(self):
        token = os.environ["SKEP_TOKEN"]
        return {"type": "hello", "protocol": 1, "token": token, "pid": os.getpid(), "capacity": CAPACITY, "recall": True}

    def listen(self, channel, handle):
        try:
            while True:
                handle(*self.receive(channel))
        except EOFError:
            self.on_host_gone(channel)
        except (LookupError, TypeError, ValueError, struct.error) as error:
            print(f"the host broke the protocol: {error!r}", file=sys.stderr, flush=True)
            os._exit(HOST_BROKEN)

    def on_host_gone(self, channel):
        os._exit(HOST_GONE)

    def receive(self, channel):
        (length,) = struct.unpack(">I", self.exactly(channel, 4))
        body = self.exactly(channel, length)
        (json_length,) = struct.unpack_from(">I", body)
        if json_length > length - 4:
            raise ValueError("the JSON is longer than its frame")
        message = json.loads(body[4 : 4 + json_length])
        return message, self.attachments(message.get("attachments", []), body[4 + json_length :])

    def attachments(self, lengths, rest):
        attachments = []
        for size in lengths:
            attachments.append(rest[:size])
            rest = rest[size:]
        if rest or [len(part) for part in attachments] != lengths:
            raise ValueError("the attachments do not add up")
        return attachments

    def exactly(self, channel, size):
        data = bytearray()
        while len(data) < size:
            piece = channel.recv(min(size - len(data), 1 << 20))
            if not piece:
                raise EOFError
            data += piece
        return bytes(data)

    def pack(self, message, attachments=()):
        if attachments:
            message = {**message, "attachments": [len(part) for part in attachments]}
        return self.frame(message, attachments)

    def frame(self, message, attachments):
        text = json.dumps(message).encode()
        parts = b"".join(attachments)
        return struct.pack(">II", 4 + len(text) + len(parts), len(text)) + text + parts

    def send(self, channel, message, attachments=()):
        try:
            channel.sendall(self.pack(message, attachments))
        except OSError:
            os._exit(HOST_GONE)

    # --- what the host says

    def on_call(self, message, attachments):
        call = Call(message, attachments)
        with self.changed:
            self.calls[call.id] = call
            call.cancelled = call.id in self.cancelled_early
        self.places.acquire()  # as long as this waits, later calls lie in the channel
        with self.changed:
            if self.stopping:
                return
            if self.is_to_be_dropped(call.id):
                del self.calls[call.id]
                self.places.release()
                return
            self.last_begun = call.id
            self.running += 1
        threading.Thread(target=self.run, args=(call,), daemon=True).start()

    def on_control(self, message, _):
        kind = message["type"]
        with self.changed:
            getattr(self, f"on_{kind}")(message)
            self.changed.notify_all()

    def on_welcome(self, message):
        self.limits = message["limits"]
        self.places = threading.Semaphore(self.calls_at_once(message["capacity"]))
        self.send(self.data, {"type": "ready"})

    def calls_at_once(self, allowed):
        return min(allowed, CAPACITY)

    def on_ping(self, message):
        self.send(self.control, {"type": "pong", "seq": message["seq"], **self.counts()})

    def counts(self):
        return {"in_flight": self.running, "completed": self.completed}

    def on_cancel(self, message):
        self.cancelled_early.add(message["id"])
        if message["id"] in self.calls:
            self.calls[message["id"]].cancelled = True

    def on_recall(self, message):
        if message["id"] > self.last_begun:
            self.given_back.add(message["id"])
            self.send(self.control, {"type": "recalled", "id": message["id"]})

    def is_to_be_dropped(self, call_id):
        return call_id in self.given_back

    def on_credit(self, message):
        call = self.calls.get(message["id"])
        if call:
            for kind, more in message["credit"].items():
                call.credit[kind] += more

    def on_tool_result(self, message):
        call = self.asking.pop(message["tool_call"], None)
        if call:
            call.tools.put(message)

    on_tool_error = on_tool_result

    def on_shutdown(self, message):
        self.stopping = True
        threading.Thread(target=self.finish).start()

    def finish(self):
        with self.changed:
            self.changed.wait_for(lambda: not self.running)
            os._exit(0)

    # --- calls

    def run(self, call):
        try:
            command = getattr(self, "do_" + call.message["command"], None)
            if command is None:
                raise Failure("skep.UnknownCommand", f"there is no command '{call.message['command']}'")
            value, attachments = command(call, **call.message["args"])
            answer = {"type": "result", "id": call.id, "value": value}
            if not self.fits(answer, attachments):
                raise Failure("skep.ResultTooLarge", "the result is beyond the limits")
        except Exception as error:
            kind = getattr(error, "kind", type(error).__name__)
            answer = {"type": "error", "id": call.id, "error": {"type": kind, "message": str(error)[:5000]}}
            attachments = ()
        with self.writing:
            self.answer(answer, attachments)
        with self.changed:
            del self.calls[call.id]
            self.running -= 1
            self.completed += 1
            self.changed.notify_all()
        self.places.release()

    def answer(self, message, attachments):
        self.send(self.data, message, attachments)

    def fits(self, message, attachments):
        limits = self.limits
        text = len(json.dumps(message))
        size = text + sum(map(len, attachments))
        return (
            text <= limits["json_bytes"]
            and size + 4 <= limits["frame_bytes"]
            and 28 * text <= limits["tree_bytes"]
            and len(attachments) <= limits["attachments"]
            and depth(message) <= limits["json_depth"]
        )

    def do_add(self, call, a, b):
        return a + b, ()

    def do_echo(self, call, value):
        return value, call.attachments

    def do_fail(self, call, message):
        raise ValueError(message)

    def do_big(self, call, bytes):
        return "x" * bytes, ()

    def do_slow(self, call, ms):
        with self.changed:
            if self.changed.wait_for(lambda: call.cancelled, ms / 1000):
                raise Failure("skep.Cancelled", "cancelled")
        return None, ()

    def do_tokens(self, call, count):
        for number in range(count if call.credit else 0):
            chunk = {"type": "chunk", "id": call.id, "value": number}
            with self.changed:
                self.changed.wait_for(lambda: call.cancelled or self.may_send(call))
                if call.cancelled:
                    raise Failure("skep.Cancelled", "cancelled")
                call.credit["chunks"] -= 1
                call.credit["bytes"] -= self.cost(chunk)
            with self.writing:
                self.send(self.data, chunk)
        return None, ()

    def may_send(self, call):
        return call.credit["chunks"] > 0 and call.credit["bytes"] > 0

    def cost(self, chunk):
        return len(json.dumps(chunk))

    def do_report(self, call, steps):
        for step in range(steps):
            self.report(call, (step + 1) / steps)
        return None, ()

    def report(self, call, fraction):
        with self.writing:
            self.send(self.data, {"type": "progress", "id": call.id, "fraction": fraction})

    def do_ask(self, call, name, args):
        with self.writing:
            number = self.next_tool_call()
            asked = {"type": "tool_call", "id": call.id, "tool_call": number, "name": name, "args": args}
            if not self.may_ask(asked):
                raise ValueError("the tool call is beyond the limits")
            self.asking[number] = call
            self.send(self.data, asked)
        message = call.tools.get()
        if message["type"] == "tool_error":
            raise Failure(message["error"]["type"], message["error"]["message"])
        return message["value"], ()

    def may_ask(self, asked):
        return len(json.dumps(asked)) + 4 <= self.limits["tool_call_bytes"] and self.fits(asked, ())

    def next_tool_call(self):
        self.last_tool_call += 1
        return self.last_tool_call


def depth(value):
    items = value.values() if type(value) is dict else value if type(value) is list else None
    return 0 if items is None else 1 + max(map(depth, items), default=0)


if __name__ == "__main__":
    Worker().serve()
