"""The Worker, by which a script registers its commands and serves its pool."""

import os
import sys
from typing import Any, Callable, Dict, List, Optional, Sequence, TypeVar, Union, overload

from ._calls.command import RESERVED_PREFIX, Command, HealthCheck, unwrap_function
from ._calls.event_loop import EventLoop
from ._calls.responder import DEFAULT_CONCURRENCY, Work
from ._calls.telemetry import records
from ._process.diagnostics import show_traceback, write_to_stderr
from ._process.exits import (
    EXIT_FAILED,
    EXIT_NOT_STARTED_BY_POOL,
    EXIT_PROTOCOL_ERROR,
    EXIT_UNSUITABLE,
    Terminate,
    exit_forked_child,
    report_protocol_error,
)
from ._process.script import NO_POOL, confirm_run, expect_run, is_multiprocessing_import, warn_of_missing_guard
from ._profiles.conversation import Conversation, Unsuitable, check_threads
from ._wire.connection import ConnectError, Connection, connect
from ._wire.errors import ProtocolError
from .local_call import call_locally

_LAST_RECORDS_TIMEOUT = 0.5  # seconds

Function = TypeVar("Function", bound=Callable[..., Any])
Hook = TypeVar("Hook", bound=Callable[[], Any])


class Worker:
    """The commands of a script, its health check, and its hooks before the first and after the last call.

    Create it before the script prints anything: over stdin and stdout, the constructor moves the frames out of the way
    of print().

    `thread_safe=True` allows commands to run at once in threads of one process. A pool with more than one thread per
    worker requires it, and so does a script with both async and plain commands.
    `concurrency` limits the async commands at once, 1 or more.
    """

    def __init__(self, *, thread_safe: bool = False, concurrency: int = DEFAULT_CONCURRENCY) -> None:
        if type(concurrency) is not int or concurrency < 1:
            raise ValueError(f"concurrency is a number of calls, 1 or more, not {concurrency!r}")
        self._thread_safe = thread_safe
        self._concurrency = concurrency
        self._event_loop = EventLoop()
        self._commands: Dict[str, Command] = {}
        self._health_check: Optional[HealthCheck] = None
        self._start_hooks: List[Callable[[], Any]] = []
        self._stop_hooks: List[Callable[[], Any]] = []
        self._started = False
        self._connection: Optional[Connection] = None
        self._connect_error = ""
        self._slot: Optional[str] = None
        self._previous_exit: Optional[str] = None
        if is_multiprocessing_import():
            self._connect_error = NO_POOL
            return
        try:
            self._connection = connect()
        except ConnectError as error:  # no failure yet: a test may import the module
            self._connect_error = str(error)
        else:
            self._slot = os.environ.get("SKEP_WORKER", "").rpartition("#")[0] or None
            expect_run()

    @property
    def slot(self) -> Optional[str]:
        """The worker's place in its pool, such as "default/0". The next worker in this place has the same slot.

        Use it to name things that survive a crash, such as a checkpoint file. None if no pool has started the script.
        """
        return self._slot

    @property
    def previous_exit(self) -> Optional[str]:
        """How the previous worker of the slot ended. Read it in an on_start hook or later.

        "segfault", "abort", "out_of_memory", "gpu" and "error" are its own doing, "clean" is exit code 0, also
        when the pool had asked or signalled it to stop, "killed_by_us" is the pool's doing, "killed_by_someone"
        another's; "unknown" is possible. None if there was none, or it was still there when this one greeted the
        pool, as when it is recycled.
        """
        return self._previous_exit

    @overload
    def command(self, target: Function) -> Function: ...

    @overload
    def command(
        self, target: Optional[str] = None, *, name: Optional[str] = None
    ) -> Callable[[Function], Function]: ...

    def command(
        self, target: Union[Callable[..., Any], str, None] = None, *, name: Optional[str] = None
    ) -> Callable[..., Any]:
        """Registers a function, plain or async, as a command, under its own name or the given one.

        Use as `@worker.command`, `@worker.command("name")` or `@worker.command(name="name")`. The host passes
        arguments by name. What the function returns must be JSON, or something that offers a way to become
        JSON: dataclasses, named tuples, numpy values, dates, bytes (sent as attachments), `to_dict()` ...
        Raises TypeError for a function that cannot be called that way, and ValueError for a name that is taken
        or begins with "skep.".
        """
        if target is not None and not isinstance(target, str):
            return self._register(target, name)
        command_name = name if target is None else target
        return lambda function: self._register(function, command_name)

    def health_check(self, function: Hook) -> Hook:
        """Registers the function that the pool runs now and then while the worker is idle. There is one at most.

        If it raises or returns False, the pool gives the worker no calls until it succeeds, and in the end
        another process takes its place. It may return JSON, for information, and runs where commands do: on the main
        thread, a thread of its own, or, as it may be async, the event loop. Without one, the pool sees only that calls
        are answered there.
        Raises TypeError for a function that cannot be called without arguments, ValueError for a second one.
        """
        if self._health_check is not None:
            raise ValueError(f"there is already a health check '{self._health_check.name}'")
        self._health_check = HealthCheck(unwrap_function("health check", function))
        return function

    def on_start(self, hook: Hook) -> Hook:
        """Registers a function, plain or async, to run once before the worker takes calls. If it raises, the start
        fails."""
        self._start_hooks.append(unwrap_function("hook", hook))
        return hook

    def on_stop(self, hook: Hook) -> Hook:
        """Registers a function, plain or async, to run once when the worker stops in an orderly way.

        The last one registered runs first. None runs after a start that was not complete, none when the worker
        crashes or its host is gone, and none in a process that the worker has forked.
        """
        self._stop_hooks.append(unwrap_function("hook", hook))
        return hook

    def call(self, command: str, attachments: Sequence[bytes] = (), /, **args: Any) -> Any:
        """Runs a command on this thread, without a pool: for unit tests.

            assert worker.call("predict", text="hello")["label"] == "greeting"

        Arguments and result are turned into JSON and back, as on their way from a host and to it, so a tuple is
        a list at the other end; a result has `bytes` where a host gets attachments. The on_start hooks run once,
        before the first call; to keep one from loading what a test can do without, patch what it calls. The
        on_stop hooks never run here. Async commands run on a loop that this worker keeps for them, so no other may be
        running on this thread. Tools of the host are given by skep.fake_tools().
        What a command or hook raises comes through as it is. Raises skep.UnknownCommand and
        skep.InvalidArguments where a host would get those errors, skep.UnserializableResult or
        skep.ResultTooLarge for a result that a pool would not take by default, and TypeError or ValueError for
        arguments that are no JSON.
        """
        try:
            for hook in self._due_start_hooks():
                self._event_loop.run_hook(hook)
        except BaseException:
            self._started = False  # the next call runs them again
            raise
        return call_locally(self._work(), self._event_loop, command, args, attachments)

    def run(self) -> None:
        """Serves calls until the pool asks the worker to stop, then exits the process.

        Call it last, on the main thread, and under `if __name__ == "__main__":`: tests import the script, and so do
        children that multiprocessing spawns. In such a child it returns at once, with a warning on stderr. Exit
        status: 0 after an orderly stop, 1 if a start or stop hook failed, 64 if no pool has started the script,
        70 if the host is gone, 76 if it broke the protocol, 78 if the script cannot do what its pool wants (stderr has
        the reason). A child that a command or hook forks, and that comes back from it, ends there, without its atexit
        handlers: with 0, with 1 after an error, or with what it has given to sys.exit().
        Raises RuntimeError if a worker of this process serves already, as in a hook or a command.
        A script that a pool has started, and that comes to its end without this call, is told so on stderr and
        exits with 120.
        """
        confirm_run()
        if is_multiprocessing_import():
            warn_of_missing_guard()
            return
        if self._connection is None:
            write_to_stderr(f"skep: {self._connect_error}\n")
            sys.exit(EXIT_NOT_STARTED_BY_POOL)
        if not self._connection.begin_serving():
            raise RuntimeError("worker.run() serves already: a script calls it once, in its last line")
        status = 0
        try:
            check_threads()
            conversation = Conversation(self._connection, self._work(), self._event_loop)
            conversation.greet()
            self._previous_exit = conversation.host.previous_exit
            with conversation.interrupts.window():
                if not all(self._run_hook(hook, conversation) for hook in self._due_start_hooks()):
                    sys.exit(EXIT_FAILED)
            check_threads()  # again: a hook may import a library that replaces threads
            conversation.interrupts.restore()
            _capture_logs()
            try:
                conversation.serve()
            except (Terminate, SystemExit) as end:
                if conversation.host.is_gone:  # a child that exits leaves the worker serving
                    exit_forked_child(end)
                raise
            finally:
                results = [self._run_hook(hook, conversation) for hook in reversed(self._stop_hooks)]
                status = 0 if all(results) else EXIT_FAILED
        except Terminate:
            pass  # an orderly end like any other
        except ProtocolError as error:
            report_protocol_error(error)
            status = EXIT_PROTOCOL_ERROR
        except Unsuitable as error:
            write_to_stderr(f"skep: {error}\n")
            status = EXIT_UNSUITABLE
        finally:
            records.finish(_LAST_RECORDS_TIMEOUT)
        sys.exit(status)

    def _work(self) -> Work:
        return Work(self._commands, self._health_check, self._event_loop, self._thread_safe, self._concurrency)

    def _due_start_hooks(self) -> List[Callable[[], Any]]:
        """Returns the start hooks the first time, then none: they run once, and may use call()."""
        hooks = [] if self._started else self._start_hooks
        self._started = True
        return hooks

    def _register(self, function: Callable[..., Any], name: Optional[str]) -> Callable[..., Any]:
        target, function = function, unwrap_function("command", function)
        name = name or getattr(function, "__name__", None)
        if not isinstance(name, str):
            raise TypeError(f"a command needs a name: use @worker.command(name=...) for {function!r}")
        if name.startswith(RESERVED_PREFIX):
            raise ValueError(f"command '{name}' must not begin with '{RESERVED_PREFIX}': such names are reserved")
        if name in self._commands:
            raise ValueError(f"there is already a command '{name}'")
        self._commands[name] = Command(name, function)
        return target

    def _run_hook(self, hook: Callable[[], Any], conversation: Conversation) -> bool:
        """Runs a hook. Returns false after an error, which it writes to stderr."""
        try:
            self._event_loop.run_hook(hook)
        except BaseException as error:
            if conversation.host.is_gone:
                exit_forked_child(error)
            if issubclass(type(error), (Terminate, SystemExit)):
                raise
            show_traceback(error)
            return False
        if conversation.host.is_gone:
            exit_forked_child()
        return True


def _capture_logs() -> None:
    if "logging" in sys.modules:  # else the script logs nothing, and the import is slow
        from .logs import handle_unless_configured

        handle_unless_configured()
