"""Calls in the other direction: what commands ask their host for."""

import queue
import threading
from collections import deque
from typing import Any, Callable, Deque, Dict, Mapping, Optional, Set

from .call import Call
from .channel import Frame
from .errors import ProtocolError
from .limits import Limits
from .originals import SimpleQueue
from .outbox import Outbox
from .reports import Progress
from .request import CANCELLED, Request, host_error, value_in
from .window import window_here


class _Account:
    """The requests of one call that nobody has answered. Those beyond the host's limit wait until one is."""

    def __init__(self, most: int) -> None:
        self.free = most
        self.requests: Set[Request] = set()
        self.waiting: Deque[Request] = deque()


class Tools:
    """Sends requests and hands the answers to who has asked, on any thread.

    The thread that listens to the host takes only the lock of the accounts, which nobody keeps while sending.
    """

    def __init__(self, outbox: Outbox, progress: Progress, limits: Limits, cancel: Callable[[int], None]) -> None:
        self._outbox = outbox
        self._progress = progress
        self.limits = limits
        self._cancel = cancel
        self._last = 0
        self._unanswered: Dict[int, Request] = {}
        self.accounts: Dict[int, _Account] = {}
        self._lock = threading.Lock()

    def call(self, call: Call, name: str, timeout: Optional[float], args: Mapping[str, Any]) -> Any:
        """What a tool returns, on a thread that may block."""
        answers: "SimpleQueue[Any]" = SimpleQueue()
        request = Request(call, name, timeout, answers)
        request.encode(args, self.limits)
        window = window_here(call)
        was_open = window.close()  # it is not, in a coroutine that a plain command waits for
        try:
            self.submit(request)
            while True:
                try:
                    window.open(call.id)
                    item = answers.get(timeout=request.left())
                except queue.Empty:
                    raise request.timed_out() from None
                finally:
                    window.close()
                if self.is_answer(request, item):
                    return value_in(item)
        finally:
            self.withdraw(request)
            if was_open:
                window.open(call.id)

    # --- the thread that listens to the host

    def deliver(self, frame: Frame) -> None:
        """Takes an answer of the host; one that nobody waits for any more is ignored."""
        message = frame.message
        item: Any = frame
        if message["type"] == "tool_error":
            item = host_error(message["error"])
        elif "value" not in message:
            raise ProtocolError("a tool_result message has no value")
        request = self._unanswered.pop(message["tool_call"], None)
        if request is None:
            return
        self._make_room(request)
        if message["type"] == "tool_error" and item.type == CANCELLED:
            self._cancel(request.call.id)
            item = request.cancelled()
        request.mailbox.put(item)

    def wake(self, call_id: int) -> None:
        """Ends the waiting for a call that has been cancelled."""
        with self._lock:
            account = self.accounts.get(call_id)
            requests = list(account.requests) if account else []
        for request in requests:
            request.mailbox.put(request.cancelled())

    # --- the thread that answers the call, or that has asked; with the window closed

    def finish(self, call: Call) -> None:
        """The call is answered, and so are its requests. Threads of it that still wait get an error."""
        with self._lock:
            account = self.accounts.pop(call.id, None)
        for request in account.requests if account else ():
            self._unanswered.pop(request.number, None)
            request.mailbox.put(_is_over(request))

    def submit(self, request: Request) -> None:
        """Sends a request, or keeps it until there is room."""
        call = request.call
        if call.cancelled():  # the host would answer nothing else
            raise request.cancelled()
        with self._lock:
            account = self.accounts.setdefault(call.id, _Account(self.limits.tool_calls))
            account.requests.add(request)
            has_room = account.free > 0
            if has_room:
                account.free -= 1
            else:
                account.waiting.append(request)
        if call.cancelled():  # perhaps before wake() could see it
            raise request.cancelled()
        if has_room:
            self._send(request)

    def is_answer(self, request: Request, item: Any) -> bool:
        """Whether what its mailbox had for a request is the result; otherwise raises it, or sends the request now."""
        if isinstance(item, BaseException):
            raise item
        if item is None:
            self._send(request)
        return item is not None

    def _send(self, request: Request) -> None:
        self._progress.flush(request.call)

        def message() -> Any:
            # Numbered as it is sent: the host wants numbers to rise.
            self._last = request.number = self._last + 1
            self._unanswered[request.number] = request
            return request.message(request.number)

        if not self._outbox.send(request.call, message):
            raise _is_over(request)

    def withdraw(self, request: Request) -> None:
        """Nobody waits for the request any more. If it was sent, it takes its room until the host has answered it."""
        with self._lock:
            account = self.accounts.get(request.call.id)
            if account is None or request not in account.requests:
                return
            if request in account.waiting:
                account.waiting.remove(request)
                account.requests.remove(request)
                return
        if request.call.is_over:  # and nobody has closed the account, if it was opened too late
            self.accounts.pop(request.call.id, None)
        elif request.number == 0:  # it was its turn
            self._make_room(request)

    def _make_room(self, request: Request) -> None:
        with self._lock:
            account = self.accounts.get(request.call.id)
            if account is None:
                return
            account.requests.discard(request)
            if account.waiting:
                account.waiting.popleft().mailbox.put(None)
            else:
                account.free += 1


def _is_over(request: Request) -> RuntimeError:
    return RuntimeError(f"cannot call tool '{request.name}': the call that it is for has been answered")
