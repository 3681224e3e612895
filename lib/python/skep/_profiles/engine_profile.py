"""An engine on the main thread. Another thread receives the calls; those of other commands run on threads."""

import threading
from typing import Any, Optional, Sequence

from .._calls.call import Call, CallGroup, Running, set_global_call
from .._calls.engine import Engine, EngineCalls, EnginePort, EngineWindow, left_open_error
from .._process.diagnostics import show_traceback
from .._process.exits import Terminate, exit_forked_child
from .._process.interpreter import SimpleQueue
from .._wire.messages import Answer
from .thread_profile import ThreadProfile

_ENGINE_ID = 0  # of all calls of an engine together: unlike the id of any call


class EngineProfile(ThreadProfile):
    """The profile of a worker with an engine."""

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        engine = self.work.engine
        assert engine is not None
        self._engine = engine
        self._news: "SimpleQueue[Optional[Call]]" = SimpleQueue()

    def _serve_calls(self) -> None:
        threading.Thread(target=self._receive, name="skep-calls", daemon=True).start()
        calls = EngineCalls(_PoolPort(self))
        group = CallGroup("an engine")
        group.id, group.host, group.window = _ENGINE_ID, self.host, self._interrupts
        set_global_call(group)
        while True:
            error = self._run_function(Engine(calls, self._interrupts))
            if not calls.fail_all(error) and not self.is_stopping:
                show_traceback(error)
            if not calls.wait_for_call():
                return

    def _receive(self) -> None:
        self.receive_beside(self._put)
        self._news.put(None)

    def _put(self, running: Running) -> None:
        if isinstance(running, Call) and running.command == self._engine.name:
            self.admit(running, EngineWindow(self._news))
            self._news.put(running)
        else:
            super()._put(running)

    def _run_function(self, engine: Engine) -> BaseException:
        """Runs the function of the engine. Returns the error for the calls that it leaves open."""
        error: BaseException = left_open_error(self._engine.name)
        try:
            try:
                self._interrupts.open()
                self._engine.function(engine)
            finally:
                self._interrupts.close()
        except Terminate:
            raise
        except BaseException as raised:
            if self.host.is_gone:
                exit_forked_child(raised)
            if issubclass(type(raised), SystemExit) and self.host.is_terminated():
                raise
            error = raised
        if self.host.is_gone:
            exit_forked_child()
        return error


class _PoolPort(EnginePort):
    """The pool as an engine sees it."""

    def __init__(self, profile: EngineProfile) -> None:
        self._profile = profile
        self._host = profile.host
        self.window = profile._interrupts
        self.news = profile._news
        self.credit = profile.host.credit
        self.limits = profile.host.limits
        self.share = profile.host.share

    @property
    def is_stopping(self) -> bool:
        return self._profile.is_stopping

    def check(self, call: Call) -> None:
        self._profile.work.accept(call)

    def begin(self, call: Call) -> bool:
        return self._profile.begin(call)

    def end(self, call: Call) -> None:
        self._profile.count_ends((call,))
        call.is_over = True

    def write(self, messages: Sequence[Answer]) -> None:
        self._host.send_all_of(messages)

    def leave_child(self) -> None:
        if self._host.is_gone:
            exit_forked_child()
