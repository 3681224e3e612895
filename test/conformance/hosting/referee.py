"""Follows the conversation as a host does, and refuses what no host forgives."""

from .outcome import Broken


class CallState:
    """What has come of one call."""

    def __init__(self, call_id, command, credit):
        self.id = call_id
        self.command = command
        self.credit = credit  # [chunks, bytes] that are left; None for a call that is no stream
        self.cancelled = False
        self.chunks = []
        self.progress = []
        self.answer = None


class ToolCall:
    """What the worker has asked for."""

    def __init__(self, frame):
        message = frame.message
        self.number = message["tool_call"]
        self.call = message["id"]
        self.name = message["name"]
        self.args = message["args"]
        self.is_open = True


class Referee:
    """The state of a conversation. All that the worker sends goes through receive()."""

    def __init__(self, token, limits, has_control):
        self.hello = None
        self.capacity = 1  # how many calls it may be at at once
        self.welcomed = False  # whether the welcome was sent
        self.is_ready = False
        self.calls = {}
        self.recalls = {}  # by the id of the call; true once it is given back
        self.tool_calls = []
        self.pongs = {}  # by sequence number; None until it comes
        self.memory = None  # that the host shares with it
        self._token = token
        self._limits = limits
        self._has_control = has_control

    def receive(self, frame, over_data):
        """Takes note of a message; raises Broken if no message like that may come now, or over that channel."""
        message = frame.message
        kind = message.get("type")
        receive = getattr(self, f"_on_{kind}", None) if type(kind) is str else None
        require(receive, f"a message of the unknown type {kind!r}: {frame}")
        if self._has_control:
            require(over_data == (kind not in ("pong", "recalled", "release", "region")), f"a {kind} over the wrong channel")
        require(self.hello or kind == "hello", f"a {kind} before the hello")
        if kind not in ("result", "chunk", "tool_call"):
            require(not frame.attachments, f"attachments with a {kind}")
        receive(frame)

    def _on_hello(self, frame):
        require(self.hello is None, "a second hello")
        hello = frame.message
        field(frame, "protocol", lambda value: value == 1)
        field(frame, "token", lambda value: is_text(value) and value == (self._token or value))
        field(frame, "pid", is_id)
        field(frame, "sdk", is_text, optional=True)
        field(frame, "loop", lambda value: is_text(value) and len(value.encode()) <= 256, optional=True)
        field(frame, "capacity", is_id, optional=True)
        field(frame, "control", lambda value: type(value) is bool, optional=True)
        field(frame, "commands", lambda value: type(value) is list and all(map(is_text, value)), optional=True)
        field(frame, "health_check", lambda value: is_text(value) and len(value.encode()) <= 256, optional=True)
        field(frame, "own_health_check", lambda value: type(value) is bool, optional=True)
        field(frame, "stack_signal", lambda value: value in (10, 12), optional=True)
        field(frame, "recall", lambda value: type(value) is bool, optional=True)
        field(frame, "shared", lambda value: type(value) is int and value in (0, 1), optional=True)
        self.hello = hello
        self.capacity = hello.get("capacity", 1)

    def _on_ready(self, frame):
        require(self.welcomed, "ready before the welcome")
        require(not self.is_ready, "a second ready")
        self.is_ready = True

    def _on_pong(self, frame):
        seq = field(frame, "seq", is_count)
        field(frame, "in_flight", is_count)
        field(frame, "completed", is_count)
        require(seq in self.pongs, f"a pong that nobody has asked for: {frame}")
        require(self.pongs[seq] is None, f"ping {seq} was answered twice")
        later = [other for other, pong in self.pongs.items() if pong and other > seq]
        require(not later, f"ping {seq} was answered after a later one")
        self.pongs[seq] = frame.message

    def _on_recalled(self, frame):
        call_id = field(frame, "id", is_id)
        require(call_id in self.recalls, f"a call that nobody has recalled is given back: {frame}")
        require(not self.recalls[call_id], f"call {call_id} was given back twice")
        answer = call_id in self.calls and self.calls[call_id].answer
        require(not answer, f"call {call_id} is answered and given back")
        self.recalls[call_id] = True

    def _on_release(self, frame):
        require(self.memory, f"a release, and no memory is shared: {frame}")
        self.memory.on_release(field(frame, "region", is_id), field(frame, "at", is_count))

    def _on_region(self, frame):
        require(self.memory, f"a request for memory, and none is shared: {frame}")
        self.memory.on_request(field(frame, "bytes", is_id))

    def _on_result(self, frame):
        call = self._open_call(frame)
        require("value" in frame.message, f"a result without a value: {frame}")
        call.answer = frame
        self._close(call)

    def _on_error(self, frame):
        call = self._open_call(frame)
        error = field(frame, "error", lambda value: type(value) is dict)
        require(is_text(error.get("type")) and error["type"], f"an error that names no type: {frame}")
        for key in ("message", "traceback", "code"):
            require(is_text(error.get(key, "")), f"the '{key}' of an error is no text: {frame}")
        call.answer = frame
        self._close(call)

    def _on_chunk(self, frame):
        call = self._open_call(frame)
        require("value" in frame.message, f"a chunk without a value: {frame}")
        require(call.credit is not None, f"a chunk of call {call.id}, which is no stream")
        chunks, size = call.credit
        require(chunks > 0 and size > 0, f"a chunk of call {call.id} with a credit of {chunks} chunks and {size} bytes")
        call.credit = [chunks - 1, size - frame.size]
        call.chunks.append(frame)

    def _on_progress(self, frame):
        call = self._open_call(frame)
        field(frame, "fraction", lambda value: type(value) in (int, float) and 0 <= value <= 1)
        field(frame, "text", is_text, optional=True)
        call.progress.append(frame.message)

    def _on_tool_call(self, frame):
        call = self._open_call(frame)
        field(frame, "name", is_text)
        field(frame, "args", lambda value: type(value) is dict)
        number = field(frame, "tool_call", is_id)
        last = self.tool_calls[-1].number if self.tool_calls else 0
        require(number > last, f"tool call {number} after tool call {last}: numbers must rise")
        self.tool_calls.append(ToolCall(frame))
        unanswered = sum(asked.is_open and asked.call == call.id for asked in self.tool_calls)
        most = self._limits["tool_calls"]
        require(unanswered <= most, f"{unanswered} unanswered tool calls of one call; limits.tool_calls is {most}")

    def _open_call(self, frame):
        """The call that a message is about, which must be one that the worker may be at."""
        require(self.is_ready, f"a message about a call before ready: {frame}")
        call = self.calls.get(field(frame, "id", is_id))
        require(call, f"a message about a call that it does not have: {frame}")
        require(call.answer is None, f"a message about a call that is answered: {frame}")
        require(not self.recalls.get(call.id), f"a message about a call that was given back: {frame}")
        earlier = sum(
            other.id < call.id and not other.answer and not other.cancelled and other.id not in self.recalls
            for other in self.calls.values()
        )
        if not call.cancelled:
            require(
                earlier < self.capacity,
                f"it has begun call {call.id} while {earlier} earlier ones were unanswered: its capacity is {self.capacity}",
            )
        return call

    def _close(self, call):
        for asked in self.tool_calls:
            if asked.call == call.id:
                asked.is_open = False


def require(truth, complaint):
    if not truth:
        raise Broken(complaint)


def field(frame, key, is_right, optional=False):
    """The member of a message, which must be there and right."""
    message = frame.message
    if key not in message:
        require(optional, f"a {message['type']} without '{key}': {frame}")
        return None
    require(is_right(message[key]), f"the '{key}' of a {message['type']} is wrong: {frame}")
    return message[key]


def is_text(value):
    return type(value) is str


def is_count(value):
    return type(value) is int and value >= 0


def is_id(value):
    return type(value) is int and value >= 1
