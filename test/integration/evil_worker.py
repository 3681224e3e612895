#!/usr/bin/env python3
"""A worker that misbehaves in one way of your choice.

    evil_worker.py --fault=NAME      misbehave at start or stop, or on the first call
    evil_worker.py --fault=NAME@N    answer N-1 calls properly, then misbehave on call N
    evil_worker.py --once=FILE ...   misbehave only if FILE is not there yet, and create it: successors are good
    evil_worker.py --list            the names

It speaks the protocol by hand, so that it can break it. Without a fault it is a plain worker with the commands
echo {value}, sleep {seconds}, pid and grandchild. It answers pings from a thread and exits when the host closes
the control channel, unless the fault says otherwise. Faults that take time take --delay seconds.
"""

import argparse
import ctypes
import json
import os
import random
import signal
import socket
import struct
import subprocess
import sys
import threading
import time

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "workers"))

from template_by_hand import serve_orders  # noqa: E402  because its folder is not that of this program

MAX_FRAME = 64 * 1024 * 1024


# --- the protocol, by hand


def frame(body, attachments=b""):
    """A frame of raw bytes; `body` may also be anything json.dumps takes."""
    if not isinstance(body, bytes):
        body = json.dumps(body).encode()
    return header(4 + len(body) + len(attachments), len(body)) + body + attachments


def header(frame_length, json_length):
    return struct.pack(">II", frame_length, json_length)


def read_frame(stream):
    """The JSON object of the next frame, or None at the end of the stream."""
    head = read_exactly(stream, 8)
    if head is None:
        return None
    frame_length, json_length = struct.unpack(">II", head)
    rest = read_exactly(stream, frame_length - 4)
    return None if rest is None else json.loads(rest[:json_length])


def read_exactly(stream, size):
    data = bytearray()
    while len(data) < size:
        chunk = stream.recv(size - len(data))
        if not chunk:
            return None
        data += chunk
    return data


class Worker:
    """A proper worker; the faults below bend it."""

    def __init__(self, nth, delay):
        self.nth = nth
        self.delay = delay
        self.data = socket.socket(fileno=int(os.environ["SKEP_DATA_FD"]))
        self.control = socket.socket(fileno=int(os.environ["SKEP_CONTROL_FD"]))
        self.grandchild = None
        self.answers_pings = True
        self.on_shutdown = self.stop_after_running_call
        self.completed = 0
        self.welcomed = threading.Event()
        self.cancelled = set()
        self.cancel = threading.Condition()

    def listen(self):
        """Serves the control channel from a thread."""
        threading.Thread(target=self._listen, daemon=True).start()

    def handshake(self, **changes):
        self.say_hello(**changes)
        self.welcomed.wait()
        self.data.sendall(frame({"type": "ready"}))

    def say_hello(self, **changes):
        hello = {
            "type": "hello",
            "protocol": 1,
            "token": os.environ["SKEP_TOKEN"],
            "pid": os.getpid(),
            "sdk": "evil/0.1.0",
            "capacity": 1,
            "control": True,
            "commands": ["echo", "sleep", "pid", "grandchild"],
        }
        self.data.sendall(frame({**hello, **changes}))

    def serve(self, fault):
        """Answers calls; the fault gets the Nth."""
        count = 0
        while True:
            call = read_frame(self.data)
            if call is None:
                sys.exit(0)
            count += 1
            if fault and count == self.nth:
                fault(self, call)
            else:
                self.answer(call)

    def answer(self, call):
        self.data.sendall(self.reply(call))

    def reply(self, call):
        """The frame of the proper answer."""
        args = call["args"]
        if call["command"] == "sleep" and self.sleep(call["id"], args["seconds"]):
            error = {"type": "skep.Cancelled", "message": "", "traceback": ""}
            return frame({"type": "error", "id": call["id"], "error": error})
        values = {"echo": args.get("value"), "sleep": None, "pid": os.getpid(), "grandchild": self.grandchild}
        self.completed += 1
        return frame({"type": "result", "id": call["id"], "value": values[call["command"]]})

    def reply_raw(self, call, value):
        """The frame of an answer with `value`, bytes, where the JSON of the value belongs."""
        return frame(b'{"type":"result","id":%d,"value":%b}' % (call["id"], value))

    def sleep(self, call_id, seconds):
        """Whether the sleep was cut short by a cancel."""
        with self.cancel:
            return self.cancel.wait_for(lambda: call_id in self.cancelled, seconds)

    def stop_after_running_call(self):
        self.data.shutdown(socket.SHUT_RD)

    def hang(self):
        """Does nothing until the host closes the control channel or kills."""
        while True:
            time.sleep(3600)

    def _listen(self):
        while True:
            try:
                message = read_frame(self.control)
            except OSError:
                message = None
            if message is None:
                os._exit(70)
            if message["type"] == "welcome":
                self.welcomed.set()
            elif message["type"] == "ping" and self.answers_pings:
                pong = {"type": "pong", "seq": message["seq"], "in_flight": 0, "completed": self.completed}
                self.control.sendall(frame(pong))
            elif message["type"] == "cancel":
                with self.cancel:
                    self.cancelled.add(message["id"])
                    self.cancel.notify_all()
            elif message["type"] == "shutdown":
                self.on_shutdown()


# --- the faults: at_start takes the place of the handshake, on_call of the answer, at_setup comes before all

AT_SETUP, AT_START, ON_CALL = "at_setup", "at_start", "on_call"
FAULTS = {}  # name -> (when, function)


def fault(when):
    def register(function):
        FAULTS[function.__name__] = (when, function)
        return function

    return register


def kill_self(number=signal.SIGKILL):
    os.kill(os.getpid(), number)


@fault(AT_START)
def no_hello(worker):
    worker.hang()


@fault(AT_START)
def exit0_before_hello(worker):
    os._exit(0)


@fault(AT_START)
def exit1_before_hello(worker):
    print("evil_worker: no such model", file=sys.stderr, flush=True)
    os._exit(1)


@fault(AT_START)
def wrong_version(worker):
    worker.handshake(protocol=99)


@fault(AT_START)
def wrong_token(worker):
    worker.handshake(token="0" * len(os.environ["SKEP_TOKEN"]))


@fault(AT_START)
def hello_then_hang(worker):
    worker.say_hello()
    worker.hang()


@fault(AT_START)
def garbage_hello(worker):
    worker.data.sendall(b"\xde\xad\xbe\xef" * 64)
    worker.hang()


@fault(AT_START)
def slow_start(worker):
    time.sleep(worker.delay)
    worker.handshake()


@fault(AT_START)
def abort_after_ready(worker):
    worker.handshake()
    os.abort()


@fault(AT_START)
def exit0_after_ready(worker):
    worker.handshake()
    os._exit(0)


@fault(ON_CALL)
def die_on_call(worker, call):
    kill_self()


@fault(ON_CALL)
def reply_then_exit(worker, call):
    worker.answer(call)
    os._exit(0)


@fault(ON_CALL)
def segv(worker, call):
    ctypes.string_at(0)


@fault(ON_CALL)
def abort(worker, call):
    os.abort()


@fault(ON_CALL)
def exit3(worker, call):
    os._exit(3)


@fault(ON_CALL)
def partial_reply_then_die(worker, call):
    reply = worker.reply(call)
    worker.data.sendall(reply[: len(reply) // 2])
    kill_self()


@fault(ON_CALL)
def two_replies(worker, call):
    worker.data.sendall(worker.reply(call) * 2)


@fault(ON_CALL)
def unknown_id(worker, call):
    worker.answer({**call, "id": call["id"] + 1_000_000})


@fault(ON_CALL)
def foreign_type(worker, call):
    worker.data.sendall(frame({**call, "type": "call"}))


@fault(ON_CALL)
def bad_json(worker, call):
    worker.data.sendall(worker.reply_raw(call, b"{oops"))


@fault(ON_CALL)
def bad_utf8(worker, call):
    worker.data.sendall(worker.reply_raw(call, b'"\xff\xfe\xc0\xaf"'))


@fault(ON_CALL)
def nan(worker, call):
    worker.data.sendall(worker.reply_raw(call, b"1e400"))


@fault(ON_CALL)
def nan_literal(worker, call):
    worker.data.sendall(worker.reply_raw(call, b"NaN"))


@fault(ON_CALL)
def dup_id_key(worker, call):
    ids = (call["id"], call["id"] + 1)
    worker.data.sendall(frame(b'{"type":"result","id":%d,"id":%d,"value":null}' % ids))


@fault(ON_CALL)
def deep(worker, call):
    worker.data.sendall(worker.reply_raw(call, b"[" * 10**6 + b"]" * 10**6))


@fault(ON_CALL)
def huge_number(worker, call):
    worker.data.sendall(worker.reply_raw(call, b"9" * 10**6))


@fault(ON_CALL)
def big_tree(worker, call):
    worker.data.sendall(worker.reply_raw(call, b"[" + b"0," * (15 * 1024 * 1024) + b"0]"))


@fault(ON_CALL)
def length_zero(worker, call):
    worker.data.sendall(header(0, 0))


@fault(ON_CALL)
def length_max_plus_1(worker, call):
    worker.data.sendall(header(MAX_FRAME + 1, 2) + b"{}")


@fault(ON_CALL)
def length_2_32_1(worker, call):
    worker.data.sendall(header(2**32 - 1, 2) + b"{}")


@fault(ON_CALL)
def json_length_lies(worker, call):
    worker.data.sendall(header(100, 200) + b" " * 96)


@fault(ON_CALL)
def attachments_lie(worker, call):
    body = {"type": "result", "id": call["id"], "value": None, "attachments": [10]}
    worker.data.sendall(frame(body, b"abc"))


@fault(ON_CALL)
def no_reply(worker, call):
    pass


@fault(ON_CALL)
def dribble(worker, call):
    for byte in worker.reply(call):
        worker.data.sendall(bytes([byte]))
        time.sleep(0.001)  # long enough for the host to see it alone


@fault(ON_CALL)
def late_reply(worker, call):
    time.sleep(worker.delay)
    worker.answer(call)


@fault(ON_CALL)
def garbage(worker, call):
    source = random.Random(call["id"])
    worker.data.sendall(bytes(source.randrange(256) for _ in range(4096)))


@fault(ON_CALL)
def close_data(worker, call):
    worker.data.close()
    worker.hang()


@fault(ON_CALL)
def half_close(worker, call):
    worker.data.shutdown(socket.SHUT_WR)
    worker.hang()


@fault(ON_CALL)
def stop_reading(worker, call):
    worker.answer(call)
    worker.hang()


@fault(ON_CALL)
def sigstop_self(worker, call):
    kill_self(signal.SIGSTOP)
    worker.answer(call)  # once somebody sends SIGCONT


@fault(ON_CALL)
def freeze(worker, call):
    worker.answers_pings = False
    worker.hang()


@fault(ON_CALL)
def print_stdout(worker, call):
    for number in (1, 2, 3):
        print(f"evil_worker: line {number}")
    sys.stdout.flush()
    sys.stdout.buffer.write(bytes(range(256)))
    sys.stdout.buffer.flush()
    worker.answer(call)


@fault(ON_CALL)
def flood_stderr(worker, call):
    end = time.monotonic() + worker.delay

    def flood():
        while time.monotonic() < end:
            os.write(2, b"x" * 65536)

    threading.Thread(target=flood, daemon=True).start()
    worker.answer(call)


@fault(ON_CALL)
def hold_channels(worker, call):
    if os.fork() == 0:
        time.sleep(worker.delay)  # the channels stay open in this child
        os._exit(0)
    kill_self()


@fault(AT_SETUP)
def ignore_term(worker):
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    worker.on_shutdown = lambda: None


@fault(AT_SETUP)
def ignore_shutdown(worker):
    signal.signal(signal.SIGTERM, lambda *_: os._exit(0))
    worker.on_shutdown = lambda: None


@fault(AT_SETUP)
def exit5_on_term(worker):
    signal.signal(signal.SIGTERM, lambda *_: os._exit(5))
    worker.on_shutdown = lambda: None


@fault(AT_SETUP)
def slow_stop(worker):
    def stop_slowly(*_):
        timer = threading.Timer(worker.delay, os._exit, (0,))
        timer.daemon = True
        timer.start()

    signal.signal(signal.SIGTERM, stop_slowly)
    worker.on_shutdown = stop_slowly


@fault(AT_SETUP)
def spawn_grandchild(worker):
    worker.grandchild = subprocess.Popen(["sleep", "1000"]).pid


def is_first(path):
    """Whether this process is the first to create the file."""
    try:
        os.close(os.open(path, os.O_CREAT | os.O_EXCL))
    except FileExistsError:
        return False
    return True


def main():
    if os.environ.get("SKEP_TEMPLATE"):
        serve_orders()
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--fault", metavar="NAME[@N]", default="")
    parser.add_argument("--delay", type=float, default=1.0, metavar="SECONDS")
    parser.add_argument("--once", metavar="FILE", default="")
    parser.add_argument("--list", action="store_true", help="print the names of all faults")
    options = parser.parse_args()
    if options.list:
        print("\n".join(FAULTS))
        return
    name, _, nth = options.fault.partition("@")
    if name and name not in FAULTS:
        parser.error(f"no fault '{name}'; see --list")
    if options.once and not is_first(options.once):
        name = ""
    when, function = FAULTS.get(name, (None, None))
    worker = Worker(int(nth or 1), options.delay)
    if when == AT_SETUP:
        function(worker)
    worker.listen()
    if when == AT_START:
        function(worker)
    else:
        worker.handshake()
    worker.serve(function if when == ON_CALL else None)


if __name__ == "__main__":
    main()
