"""Engines: a function that serves many calls at once, each of them a stream that grows by a chunk per step."""

import math
import threading
import time
from collections import deque
from queue import Empty
from typing import Any, Deque, Dict, Iterator, List, Optional, Sequence, Type

from .._process.interpreter import SimpleQueue
from .._wire.attachments import Share, message_size
from .._wire.errors import Cancelled, DeadlineExceeded, ResultTooLarge
from .._wire.messages import Answer, Answers
from .._wire.protocol import Limits
from .call import Call
from .interrupts import CallWindow, Window
from .streams import Account, ChunkList, Credit

_MAX_KEPT = 1000  # chunks of a call without credit


class EngineWindow(CallWindow):
    """The window of a call of an engine. The function is not interrupted: it learns of the cancel in its next step."""

    def __init__(self, news: "SimpleQueue[Optional[Call]]") -> None:
        self._news = news
        self._is_cancelled = False

    def is_cancelled(self, call_id: int) -> bool:
        return self._is_cancelled

    def interrupt(self, kind: Type[BaseException]) -> None:
        if kind is Cancelled:
            self._is_cancelled = True
            self._news.put(None)


class EnginePort:
    """Where the calls of an engine come from, and where its messages go to. On the engine's thread."""

    window: Window
    credit: Credit
    limits: Limits
    share: Share
    news: "SimpleQueue[Optional[Call]]"  # new calls; None if a call is cancelled or has got credit, or to stop

    @property
    def is_stopping(self) -> bool:
        """True if no further call is begun."""
        raise NotImplementedError

    def check(self, call: Call) -> None:
        """Raises an error if the call cannot be served."""

    def begin(self, call: Call) -> bool:
        """Begins a call. Returns False if it was recalled."""
        raise NotImplementedError

    def end(self, call: Call) -> None:
        """Counts a call that ends, directly before its answer."""

    def write(self, messages: Sequence[Answer]) -> None:
        """Sends messages in one write."""

    def leave_child(self) -> None:
        """Ends a forked child, which has no host."""

    def encode_error(self, answers: Answers, call: Call, error: BaseException) -> Answer:
        """Returns the answer with an error."""
        return answers.error(call.id, error)


class Step:
    """The news of a step of an engine."""

    __module__ = "skep"
    __slots__ = ("_new", "_gone", "_stalled")

    def __init__(self, new: List[Call], gone: List[Call], stalled: List[Call]) -> None:
        self._new = new
        self._gone = gone
        self._stalled = stalled

    @property
    def new(self) -> List[Call]:
        """The calls that have come."""
        return self._new

    @property
    def gone(self) -> List[Call]:
        """The calls to drop, once each: they are cancelled, late, or failed by Engine.send(), and answered already."""
        return self._gone

    @property
    def stalled(self) -> List[Call]:
        """The open calls whose consumers have to take chunks first."""
        return self._stalled


class _Stream:
    """A call of an engine, up to its answer."""

    __slots__ = ("call", "values", "chunks", "account", "answer")

    def __init__(self, call: Call, account: Optional[Account]) -> None:
        self.call = call
        self.account = account  # None for a call without a stream
        self.values = ChunkList(call.command)  # of a call without a stream
        self.chunks: Deque[Answer] = deque()  # to be sent
        self.answer: Optional[Answer] = None  # to be sent after the chunks

    @property
    def is_open(self) -> bool:
        """True until the call is finished, failed or gone."""
        return self.answer is None

    @property
    def is_stalled(self) -> bool:
        return self.account is not None and (bool(self.chunks) or self.account.is_short)


class EngineCalls:
    """The calls of an engine, and their messages.

    On the engine's thread. The window is closed, except in send(), finish() and fail(), and during waits.
    """

    def __init__(self, port: EnginePort) -> None:
        self._port = port
        self._answers = Answers(port.limits, share=port.share)
        self._streams: Dict[int, _Stream] = {}
        self._new: List[Call] = []  # that the function does not know yet
        self._gone: List[Call] = []  # that the function does not know to be
        self._messages: List[Answer] = []  # of the current step
        self._is_changed = False  # if true, calls are new or cancelled
        self._next_deadline = math.inf  # of the calls

    def next_step(self) -> Optional[Step]:
        """Sends the messages of the last step, and waits until there is work. Returns None if the worker is to stop."""
        while True:
            self._update()
            work = [stream for stream in self._streams.values() if stream.is_open]
            stalled = [stream.call for stream in work if stream.is_stalled]
            if self._new or self._gone or len(stalled) < len(work):
                step = Step(self._new, self._gone, stalled)
                self._new, self._gone = [], []
                return step
            if self._port.is_stopping and not self._streams:
                return None
            self._wait()

    def wait_for_call(self) -> bool:
        """Waits until there is a new call. Returns false if the worker is to stop instead."""
        while True:
            self._update()
            if self._new:
                return True
            if self._port.is_stopping and not self._streams:
                return False
            self._wait()

    def send(self, call: Call, value: Any) -> None:
        """Engine.send()."""
        stream = self._find(call)
        if stream is None:
            return
        try:
            if stream.account is None:
                stream.values.add(value)
            else:
                stream.chunks.append(self._answers.chunk(call.id, call.command, value))
                if len(stream.chunks) > _MAX_KEPT:
                    self._limit(stream)
        except Exception as error:
            self._drop(stream, error)

    def finish(self, call: Call, result: Any) -> None:
        """Engine.finish()."""
        stream = self._find(call)
        if stream is None:
            return
        try:
            value = stream.values.values if stream.account is None else result
            stream.answer = self._answers.result(call.id, call.command, value)
        except Exception as error:
            stream.answer = self._port.encode_error(self._answers, call, error)

    def fail(self, call: Call, error: BaseException) -> None:
        """Engine.fail()."""
        stream = self._find(call)
        if stream is not None:
            stream.answer = self._port.encode_error(self._answers, call, error)

    def fail_all(self, error: BaseException) -> bool:
        """Fails all open calls, known to the function or not. Returns true if there were any."""
        streams = [stream for stream in self._streams.values() if stream.is_open]
        for stream in streams:
            self.fail(stream.call, error)
        self._new, self._gone = [], []
        return bool(streams)

    def _find(self, call: Call) -> Optional[_Stream]:
        stream = self._streams.get(call.id)
        return stream if stream is not None and stream.is_open else None

    def _limit(self, stream: _Stream) -> None:
        """Moves the chunks that have credit to the messages. Drops a call with too many others."""
        window = self._port.window
        try:
            window.close()
            with self._port.credit.lock:
                self._spend(stream)
        finally:
            window.open()
        if len(stream.chunks) > _MAX_KEPT:
            raise ResultTooLarge(f"more than {_MAX_KEPT} chunks of '{stream.call.command}' wait for the consumer")

    def _drop(self, stream: _Stream, error: BaseException) -> None:
        """Ends a call without the function."""
        call = stream.call
        if call in self._new:
            self._new.remove(call)
        elif stream.is_open:
            self._gone.append(call)
        stream.chunks.clear()
        stream.answer = self._port.encode_error(self._answers, call, error)

    def _update(self) -> None:
        """Takes new calls and sends messages."""
        port = self._port
        port.leave_child()
        while not port.news.empty():
            self._take(port.news.get())
        if self._is_changed or time.monotonic() >= self._next_deadline:
            self._drop_gone()
        with port.credit.lock:
            for stream in self._streams.values():
                if stream.chunks:
                    self._spend(stream)
        for stream in [each for each in self._streams.values() if each.answer is not None and not each.chunks]:
            self._end(stream)
        if self._messages:
            messages, self._messages = self._messages, []
            port.write(messages)

    def _drop_gone(self) -> None:
        """Ends the calls that are cancelled or late."""
        self._is_changed = False
        now, self._next_deadline = time.monotonic(), math.inf
        for stream in self._streams.values():
            call = stream.call
            if call.cancelled():
                self._drop(stream, Cancelled())
            elif call.deadline is not None and call.deadline <= now:
                self._drop(stream, DeadlineExceeded(f"the deadline of '{call.command}' passed before its end"))
            elif call.deadline is not None:
                self._next_deadline = min(self._next_deadline, call.deadline)

    def _take(self, call: Optional[Call]) -> None:
        """Begins a call, unless the worker is to stop."""
        port = self._port
        self._is_changed = True
        if call is None or port.is_stopping or not port.begin(call):
            return
        account = None if call.credit is None else port.credit.begin(call.id, call.credit, port.news)
        stream = self._streams[call.id] = _Stream(call, account)
        self._new.append(call)
        try:
            port.check(call)
        except Exception as error:
            self._drop(stream, error)

    def _spend(self, stream: _Stream) -> None:
        """Moves the chunks that have credit to the messages. With the lock of the credit held."""
        chunks, account = stream.chunks, stream.account
        while chunks and account is not None and account.spend(message_size(*chunks[0])):
            self._messages.append(chunks.popleft())

    def _end(self, stream: _Stream) -> None:
        """Answers a call whose chunks are sent."""
        call, answer = stream.call, stream.answer
        assert answer is not None
        del self._streams[call.id]
        if stream.account is not None:
            self._port.credit.finish(call.id)
        self._port.end(call)
        self._messages.append(answer)

    def _wait(self) -> None:
        """Waits for news, or for the next deadline."""
        window, call, timeout = self._port.window, None, self._next_deadline - time.monotonic()
        try:
            window.open()
            call = self._port.news.get(timeout=min(max(0.0, timeout), threading.TIMEOUT_MAX))
        except Empty:
            pass
        finally:
            window.close()
        self._take(call)


def left_open_error(name: str) -> RuntimeError:
    """Returns the error of the calls that the function of an engine leaves open when it returns."""
    return RuntimeError(f"engine '{name}' has returned and left the call open")


class Engine:
    """The calls of an engine, in the function that serves them. Iterate over it for the steps of the function.

        @worker.engine("generate", slots=64)
        def generate(engine):
            for step in engine:
                for call in step.new:
                    scheduler.add(call, call.args["prompt"])
                for call in step.gone:
                    scheduler.remove(call)
                for call, token, is_last in scheduler.step(without=step.stalled):
                    engine.send(call, token)
                    if is_last:
                        engine.finish(call)

    The iteration waits for news while there is no open call, and while all are stalled. Otherwise the next step begins
    at once. It ends when the worker is to stop and all calls are finished. No function of an engine waits for a
    consumer. For the thread of the engine's function.
    """

    __module__ = "skep"

    def __init__(self, calls: EngineCalls, window: Window) -> None:
        self._calls = calls
        self._window = window

    def __iter__(self) -> Iterator[Step]:
        return self

    def __next__(self) -> Step:
        try:
            self._window.close()
            step = self._calls.next_step()
        finally:
            self._window.open()
        if step is None:
            raise StopIteration
        return step

    def send(self, call: Call, value: Any) -> None:
        """Sends a chunk to the consumer of a call, in one write with the other chunks of the step.

        A chunk without credit waits: then the call is in the next step's `stalled`. If more than 1000 chunks wait, the
        call fails with skep.ResultTooLarge. A value that cannot be sent fails the call, too. Both calls are in the next
        step's `gone`. A call without a stream collects up to 10,000 values as its result. No effect on a call that is
        finished or gone.

        Args:
            call: a call of a step.
            value: converted like the result of a command.
        """
        self._calls.send(call, value)

    def finish(self, call: Call, result: Any = None) -> None:
        """Answers a call, after its chunks. No effect on a call that is finished or gone.

        Args:
            call: a call of a step.
            result: converted like the result of a command; ignored for a call without a stream, whose result is the
                list of its chunks. If it cannot be sent, the caller gets the error.
        """
        self._calls.finish(call, result)

    def fail(self, call: Call, error: BaseException) -> None:
        """Answers a call with an error, after its chunks. No effect on a call that is finished or gone.

        Args:
            call: a call of a step.
            error: an exception, such as a skep.Error.
        Raises:
            TypeError: `error` is not an exception.
        """
        if not isinstance(error, BaseException):
            raise TypeError(f"the error of a call is an exception, not {type(error).__name__}")
        self._calls.fail(call, error)
