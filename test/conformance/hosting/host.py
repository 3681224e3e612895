"""A host with one worker: sends what it is told to, and checks all that comes back."""

import secrets
import select
import subprocess
import time

from .frames import LIMITS, FrameReader, frame
from .outcome import Broken, NotApplicable
from .program import Program
from .referee import CallState, Referee
from .shared_memory import LIMITS as SHARED_LIMITS
from .shared_memory import SharedMemory

# What a worker of the kit may offer; rules that need one which is missing do not apply.
COMMANDS = ("add", "echo", "fail", "tokens", "slow", "ask", "ask_all", "report", "big")

QUIET = 0.2  # seconds in which what must not come would have come
AMPLE = {"chunks": 1000, "bytes": 1 << 20}  # credit


class Host:
    """One worker, from its start to its end. `patience` is how many seconds "soon" may take."""

    def __init__(self, command, transport, patience, limits=(), protocol="1", shares=False):
        self.patience = patience
        self.is_stdio = transport == "stdio"
        self.limits = {**LIMITS, **dict(limits)}
        token = None if self.is_stdio else secrets.token_hex(8)
        self.program = Program(command, transport, token, protocol, shares)
        self.memory = None  # shared with the worker
        self.referee = Referee(token, self.limits, not self.is_stdio)
        self._readers = {channel: FrameReader(self.limits) for channel in self.program.channels}
        self._open = list(self.program.channels)
        self.unread = []  # channels of which nothing is read for now
        self._last_seq = 0

    # --- the handshake

    def greet(self, capacity=None, **more):
        """Brings the worker to ready; it may use that much of its capacity. `more`: members of the welcome."""
        self.wait_for(lambda: self.referee.hello, "hello")
        self.referee.capacity = min(capacity or self.referee.capacity, self.referee.capacity)
        self.welcome(**more)
        self.wait_for(lambda: self.referee.is_ready, "ready")
        return self

    def share_memory(self):
        """From now on, memory may be shared. Returns what the welcome says of it."""
        self.memory = self.referee.memory = SharedMemory(self.program.line)
        for reader in self._readers.values():
            reader.memory = self.memory
        return SHARED_LIMITS

    def welcome(self, **more):
        self.referee.welcomed = True
        heartbeat = {"enabled": True, "interval_ms": 2000, "timeout_ms": 10000}
        welcome = {"type": "welcome", "worker": "conformance/0#1", "pool": "conformance", "heartbeat": heartbeat}
        self.tell({**welcome, "limits": self.limits, "correlation": "c0ffee-",
                   "capacity": self.referee.capacity, **more})

    # --- what a host sends

    def tell(self, message, attachments=()):
        """Sends a message over the control channel, or what stands for it."""
        self.send_raw(self.program.control, frame(message, attachments))

    def send_raw(self, channel, data):
        if not self.program.send(channel, data, time.monotonic() + self.patience):
            raise Broken(f"it reads nothing for {self.patience} s")

    def call(self, command, attachments=(), stream=None, more=(), **args):
        """Sends a call, returns its id."""
        data = self.enter_call(command, attachments, stream, more, **args)
        self.send_raw(self.program.data, data)
        return max(self.referee.calls)

    def enter_call(self, command, attachments=(), stream=None, more=(), **args):
        """The frame of a call that counts as sent."""
        call_id = len(self.referee.calls) + 1
        message = {"type": "call", "id": call_id, "command": command, "args": args, **dict(more)}
        if stream:
            message["stream"] = stream
        credit = [stream["chunks"], stream["bytes"]] if stream else None
        self.referee.calls[call_id] = CallState(call_id, command, credit)
        return frame(message, attachments)

    def grant(self, call_id, chunks, size):
        credit = self.referee.calls[call_id].credit
        credit[0] += chunks
        credit[1] += size
        self.tell({"type": "credit", "id": call_id, "credit": {"chunks": chunks, "bytes": size}})

    def cancel(self, call_id):
        if call_id in self.referee.calls:
            self.referee.calls[call_id].cancelled = True
        self.tell({"type": "cancel", "id": call_id})

    def recall(self, call_id):
        self.referee.recalls.setdefault(call_id, False)
        self.tell({"type": "recall", "id": call_id})

    def ping(self):
        """Sends a ping, returns its sequence number."""
        self._last_seq += 1
        self.referee.pongs[self._last_seq] = None
        self.tell({"type": "ping", "seq": self._last_seq})
        return self._last_seq

    def answer_tool(self, asked, value=None, error=None, attachments=()):
        """Answers a tool call."""
        asked.is_open = False
        what = {"type": "tool_error", "error": error} if error else {"type": "tool_result", "value": value}
        self.tell({**what, "tool_call": asked.number}, attachments)

    def shutdown(self):
        self.tell({"type": "shutdown", "grace_ms": int(self.patience * 1000)})

    def close(self, channel):
        """What a host that has died does to a channel."""
        self._open.remove(channel)
        channel.close()

    # --- what comes back

    def answer(self, call_id):
        """The answer of a call, result or error."""
        call = self.referee.calls[call_id]
        self.wait_for(lambda: call.answer, f"answer to '{call.command}'")
        return call.answer

    def result(self, call_id):
        """The answer of a call, which must be a result."""
        answer = self.answer(call_id)
        if answer.message["type"] != "result":
            raise Broken(f"'{self.referee.calls[call_id].command}' was answered with {answer}")
        return answer

    def value(self, command, **args):
        """What a call of that command results in."""
        return self.result(self.call(command, **args)).message["value"]

    def error(self, call_id):
        """The error that a call is answered with."""
        answer = self.answer(call_id)
        if answer.message["type"] != "error":
            raise Broken(f"'{self.referee.calls[call_id].command}' should have failed; its answer was {answer}")
        return answer.message["error"]

    def given_back(self, call_id):
        self.wait_for(lambda: self.referee.recalls[call_id], f"return of call {call_id}")

    def pong(self, seq):
        self.wait_for(lambda: self.referee.pongs[seq], "pong")
        return self.referee.pongs[seq]

    @property
    def noticeable(self):
        """How many ms a call runs that until_busy() is to see, on a slow machine too."""
        return int(self.patience * 60)

    def until_busy(self, count=1):
        """Returns once it has begun so many calls: what is sent over the control channel might overtake them."""
        until = time.monotonic() + self.patience
        while self.pong(self.ping())["in_flight"] < count:
            if time.monotonic() > until:
                raise Broken(f"its pongs do not say that it is at {count} calls, within {self.patience} s")

    def tool_call(self, count=1):
        """The tool call of that number, counted from 1."""
        self.wait_for(lambda: len(self.referee.tool_calls) >= count, "tool call")
        return self.referee.tool_calls[count - 1]

    def chunks(self, call_id, count):
        """Waits until so many chunks of a stream have come."""
        call = self.referee.calls[call_id]
        self.wait_for(lambda: len(call.chunks) >= count or call.answer, f"chunk {count}")
        if len(call.chunks) != count:
            raise Broken(f"{len(call.chunks)} chunks came where there should have been {count}")
        return call.chunks

    def serves(self):
        """That it answers calls and pings as if nothing had been; catches late answers, too."""
        value = self.value("add", a=40, b=2)
        self.pong(self.ping())
        self.listen(QUIET)
        if value != 42:
            raise Broken(f"afterwards 40 and 2 add up to {value!r}")

    def exit_status(self):
        """How it ends, which must be soon."""
        try:
            status = self.program.process.wait(self.patience)
        except subprocess.TimeoutExpired:
            raise Broken(f"it is still running after {self.patience} s") from None
        while self._read(0):
            pass
        return status

    def listen(self, seconds):
        """Takes what comes for a while."""
        until = time.monotonic() + seconds
        while self._read(until - time.monotonic()):
            pass

    def wait_for(self, has_come, what):
        """Takes what comes until that has come."""
        until = time.monotonic() + self.patience
        while not has_come():
            if not self._open:
                raise Broken(f"no {what}: it has {self._end()}")
            if not self._read(until - time.monotonic()) and self._open and not has_come():
                raise Broken(f"no {what} within {self.patience} s")

    def _read(self, seconds):
        """Whether anything came within that time."""
        wanted = [channel for channel in self._open if channel not in self.unread]
        readable = select.select(wanted, [], [], max(0, seconds))[0] if wanted else []
        for channel in filter(self._open.__contains__, readable):
            data = self.program.receive(channel)
            if data == b"":
                self._open.remove(channel)
                if channel is self.program.data:
                    self._open.clear()  # what is left of its pongs is of no interest
                if self._readers[channel].is_inside_frame:
                    raise Broken(f"its messages end in the middle of one: it has {self._end()}")
            else:
                self._take(channel, data)
        return bool(readable)

    def _take(self, channel, data):
        reader = self._readers[channel]
        reader.feed(data or b"")
        while True:
            came = reader.next()
            if came is None:
                return
            self.referee.receive(came, channel is self.program.data)
            if came.message["type"] == "error":
                self._check_command(came.message)

    def _check_command(self, answer):
        command = self.referee.calls[answer["id"]].command
        if answer["error"]["type"] == "skep.UnknownCommand" and command in COMMANDS:
            raise NotApplicable(f"it has no command '{command}'")

    def _end(self):
        try:
            return f"ended with status {self.program.process.wait(1)}"
        except subprocess.TimeoutExpired:
            return "closed its channel, and is still running"
