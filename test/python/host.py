"""Plays the host: starts a worker script over socket pairs or stdio and talks to it frame by frame."""

import json
import os
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SDK = os.environ.get("SKEP_SDK", str(ROOT / "lib" / "python"))  # of the workers: with skep._loop in a build tree
LOOP = "python" if os.environ.get("SKEP_PURE_PYTHON") or not Path(SDK, "skep", "_loop.abi3.so").exists() else "c"
EVIL_WORKER = ROOT / "test" / "integration" / "evil_worker.py"
TOKEN = "c0ffee"
FRAME_LIMIT = 64 * 1024 * 1024

# Nothing here takes a second; what takes this long hangs.
TIMEOUT = 60


def frame(message, attachments=()):
    """A frame as bytes; the lengths of the attachments are added to the message. Places in regions stay as they are."""
    if attachments:
        message = {**message, "attachments": [part if isinstance(part, dict) else len(part) for part in attachments]}
        attachments = [part for part in attachments if not isinstance(part, dict)]
    body = json.dumps(message).encode()
    length = 4 + len(body) + sum(map(len, attachments))
    return struct.pack(">II", length, len(body)) + body + b"".join(attachments)


class Peer:
    """A worker at the other end of two channels, which are one over stdio."""

    def __init__(self, data, control):
        self.data, self.control = data, control
        self.data.settimeout(TIMEOUT)
        self.control.settimeout(TIMEOUT)
        self.last_id = 0
        self.received_attachments = []

    def handshake(self, frame_bytes=FRAME_LIMIT, **limits):
        """Brings the worker to ready; returns its hello."""
        hello = self.receive()
        self.welcome(limits={"frame_bytes": frame_bytes, **limits})
        assert self.receive() == {"type": "ready"}
        return hello

    def welcome(self, frame_bytes=FRAME_LIMIT, **more):
        welcome = {"type": "welcome", "worker": "default/0#1", "pool": "default", "heartbeat": {}, "records": True}
        self.tell({**welcome, "limits": {"frame_bytes": frame_bytes}, **more})

    def send_call(self, command, args=(), attachments=(), **more):
        """Sends a call, returns its id."""
        self.last_id += 1
        message = {"type": "call", "id": self.last_id, "command": command, "args": dict(args), **more}
        self.data.sendall(frame(message, attachments))
        return self.last_id

    def call(self, command, args=(), attachments=(), **more):
        """Sends a call and returns the value of its result."""
        call_id = self.send_call(command, args, attachments, **more)
        reply = self.receive()
        assert reply["type"] == "result" and reply["id"] == call_id, reply
        return reply["value"]

    def call_error(self, command, args=(), **more):
        """Sends a call and returns the error it is answered with."""
        call_id = self.send_call(command, args, **more)
        reply = self.receive()
        assert reply["type"] == "error" and reply["id"] == call_id, reply
        return reply["error"]

    def tell(self, message, attachments=()):
        """Sends a message where the worker expects everything but calls."""
        self.control.sendall(frame(message, attachments))

    def receive_tool_call(self):
        """The next message, which is a tool call."""
        message = self.receive()
        assert message["type"] == "tool_call", message
        return message

    def answer_tool(self, tool_call, value=None, attachments=()):
        """Answers a tool call that was received."""
        self.tell({"type": "tool_result", "tool_call": tool_call["tool_call"], "value": value}, attachments)

    def fail_tool(self, tool_call, kind, message="", **more):
        """Answers a tool call with an error."""
        error = {"type": kind, "message": message, **more}
        self.tell({"type": "tool_error", "tool_call": tool_call["tool_call"], "error": error})

    def cancel(self, call_id):
        """Says that nobody waits for a call any more."""
        self.tell({"type": "cancel", "id": call_id})

    def ping(self, seq=1):
        """Sends a ping and returns the pong."""
        self.tell({"type": "ping", "seq": seq})
        return self.receive(self.control)

    def until_busy(self):
        """Returns once the worker has started on a call."""
        while self.ping()["in_flight"] == 0:
            pass

    def receive(self, stream=None):
        """The next message, None at the end of the stream; keeps the attachments at hand, or their places in memory."""
        stream = stream or self.data
        head = self._exactly(stream, 8)
        if head is None:
            return None
        length, json_length = struct.unpack(">II", head)
        rest = self._exactly(stream, length - 4)
        message, position = json.loads(rest[:json_length]), json_length
        self.received_attachments = []
        for item in message.get("attachments", ()):
            size = 0 if isinstance(item, dict) else item
            self.received_attachments.append(item if isinstance(item, dict) else rest[position : position + size])
            position += size
        assert position == len(rest)
        return message

    def is_closed(self, stream):
        """Waits for the end of a stream the worker is to close."""
        try:
            return stream.recv(1) == b""
        except ConnectionResetError:
            return True

    @staticmethod
    def _exactly(stream, size):
        data = bytearray()
        while len(data) < size:
            chunk = stream.recv(size - len(data))
            if not chunk:
                assert not data, "the stream ends inside a frame"
                return None
            data += chunk
        return bytes(data)

class Host(Peer):
    """A started worker. Use HostCase.start(), which also cleans up."""

    def __init__(self, command, stdio=False, env=(), shared=False):
        environment = {
            **os.environ,
            "PYTHONPATH": SDK,
            "SKEP_PROTOCOL": "1",
            "SKEP_WORKER": "default/0#1",
            "SKEP_POOL": "default",
        }
        data, data_end = socket.socketpair()
        control, control_end = socket.socketpair()
        super().__init__(data, data if stdio else control)
        if stdio:
            environment["SKEP_TRANSPORT"] = "stdio"
            streams = {"stdin": data_end, "stdout": data_end}
        else:
            environment["SKEP_TRANSPORT"] = "socket"
            environment["SKEP_TOKEN"] = TOKEN
            environment["SKEP_DATA_FD"] = str(data_end.fileno())
            environment["SKEP_CONTROL_FD"] = str(control_end.fileno())
            streams = {
                "stdin": subprocess.DEVNULL,
                "stdout": subprocess.PIPE,
                "pass_fds": (data_end.fileno(), control_end.fileno()),
            }
        self.line = None
        if shared:
            self.line, line_end = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
            environment["SKEP_SHARED_FD"] = str(line_end.fileno())
            streams["pass_fds"] += (line_end.fileno(),)
        environment.update(env)
        self.process = subprocess.Popen(
            command, env=environment, stderr=subprocess.PIPE, start_new_session=True, **streams
        )
        data_end.close()
        control_end.close()
        if stdio:
            control.close()
        if shared:
            line_end.close()

    def signal(self, number):
        os.kill(self.process.pid, number)

    def finish(self):
        """Waits for the worker and all that holds its output open; returns status, stdout and stderr."""
        stdout, stderr = self.process.communicate(timeout=TIMEOUT)
        return self.process.returncode, (stdout or b"").decode(), stderr.decode()

    def end(self):
        """Kills what is left. That the output ends afterwards proves that nothing is."""
        try:
            os.killpg(self.process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        try:
            self.process.communicate(timeout=TIMEOUT)
        finally:
            self.data.close()
            self.control.close()
            if self.line is not None:
                self.line.close()


class HostCase(unittest.TestCase):
    """Tests that start workers."""

    maxDiff = None

    def start(self, source, ready=True, **options):
        """Starts a worker with the given lines between `worker = skep.Worker()` and `worker.run()`."""
        return self.start_script(f"import skep\nworker = skep.Worker()\n{source}\nworker.run()\n", ready, **options)

    def start_script(self, source, ready=True, **options):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        script = Path(folder.name) / "script.py"
        script.write_text(source)
        return self.start_command([sys.executable, str(script)], ready, **options)

    def start_command(self, command, ready=True, **options):
        host = Host(command, **options)
        self.addCleanup(host.end)
        if ready:
            host.handshake()
        return host


def check_turns(case, commands):
    """Two calls at once, of a worker that may be at no more; each asks the host, and its successor begins when it ends."""
    host = case.host
    ids = [host.send_call(command, {"n": n}) for n, command in enumerate(commands)]
    begun, asked = [], []
    for answered in range(len(ids)):
        while len(begun) < min(answered + 2, len(ids)):
            message = host.receive()
            if message["type"] == "tool_call":
                begun.append(message["id"])
                asked.append(message)
        case.assertEqual(sorted(begun), ids[: len(begun)])
        case.assertEqual(host.ping()["in_flight"], len(asked))
        ended = asked.pop(0)
        host.answer_tool(ended, 0)
        message = host.receive()
        case.assertEqual((message["type"], message["id"]), ("result", ended["id"]))
