"""The Worker: registers the commands of a script and serves its pool."""

import functools
import os
import sys
from typing import Any, Callable, Dict, List, Literal, Mapping, NoReturn, Optional, Sequence, TypeVar, Union, overload

from ._calls.command import RESERVED_PREFIX, BatchCommand, Command, EngineCommand, HealthCheck, unwrap_function
from ._calls.engine import Engine
from ._calls.event_loop import EventLoop
from ._calls.responder import DEFAULT_CONCURRENCY, Work
from ._calls.telemetry import records
from ._process.diagnostics import dump_on_crash, show_traceback, write_to_stderr
from ._process.exits import (
    EXIT_FAILED,
    EXIT_NOT_STARTED_BY_POOL,
    EXIT_PROTOCOL_ERROR,
    EXIT_UNSUITABLE,
    Terminate,
    exit_at_once,
    exit_forked_child,
    report_protocol_error,
    run_to_end,
)
from ._process.script import NO_POOL, confirm_run, expect_run, is_multiprocessing_import, warn_of_missing_guard
from ._profiles.conversation import Conversation, Unsuitable, check_threads
from ._wire.connection import ConnectError, Connection, connect
from ._wire.errors import ProtocolError
from ._wire.template_line import TemplateLine, open_template_line
from .local_call import call_batch_locally, call_locally

_LAST_RECORDS_TIMEOUT = 0.5  # seconds
_MAX_CALLS = 65536  # of a batch or an engine, as the host accepts
_MAX_WAIT_MS = 10_000

Function = TypeVar("Function", bound=Callable[..., Any])
EngineFunction = TypeVar("EngineFunction", bound=Callable[[Engine], Any])
Hook = TypeVar("Hook", bound=Callable[[], Any])


class Worker:
    """The commands of a script, its health check, and its hooks before the first and after the last call.

    Create it before the script prints anything: over stdin and stdout, the constructor moves the frames out of the way
    of print().

    Args:
        thread_safe: True allows concurrent commands in threads of one process. A pool with more than one thread per
            worker requires it, and so does a script with async commands and plain ones, or with an engine and others.
        concurrency: limit of concurrent async commands, 1 or more; 100 by default.
        faulthandler: if true, a crash of the interpreter or of native code writes the stacks of all threads to stderr.
            False for a script whose libraries catch SIGSEGV themselves. A faulthandler that the script or
            PYTHONFAULTHANDLER has enabled stays as it is.
    Raises:
        ValueError: `concurrency` is not an int, or less than 1.
    """

    def __init__(
        self, *, thread_safe: bool = False, concurrency: int = DEFAULT_CONCURRENCY, faulthandler: bool = True
    ) -> None:
        if type(concurrency) is not int or concurrency < 1:
            raise ValueError(f"concurrency is a number of calls, 1 or more, not {concurrency!r}")
        self._thread_safe = thread_safe
        self._concurrency = concurrency
        self._event_loop = EventLoop()
        self._commands: Dict[str, Command] = {}
        self._health_check: Optional[HealthCheck] = None
        self._preload_hooks: List[Callable[[], Any]] = []
        self._start_hooks: List[Callable[[], Any]] = []
        self._stop_hooks: List[Callable[[], Any]] = []
        self._started = False
        self._connection: Optional[Connection] = None
        self._connect_error = ""
        self._template: Optional[TemplateLine] = None
        self._slot: Optional[str] = None
        self._previous_exit: Optional[str] = None
        if is_multiprocessing_import():
            self._connect_error = NO_POOL
            return
        self._template = open_template_line()
        if self._template is None:
            self._connect()
        if self._template is not None or self._connection is not None:
            expect_run()
            if faulthandler:
                dump_on_crash()

    def _connect(self) -> None:
        try:
            self._connection = connect()
        except ConnectError as error:  # not yet an error: a test may import the module
            self._connect_error = str(error)
        else:
            self._slot = os.environ.get("SKEP_WORKER", "").rpartition("#")[0] or None

    @property
    def slot(self) -> Optional[str]:
        """The worker's place in its pool, such as "default/0". The next worker in this place has the same slot.

        Use it to name data that survives a crash, such as a checkpoint file. None if no pool has started the script.
        """
        return self._slot

    @property
    def previous_exit(self) -> Optional[str]:
        """The end of the previous worker of the slot. Read it in an on_start hook or later.

        "segfault", "abort", "out_of_memory", "gpu" and "error" are failures of the worker. "clean" is exit code 0, also
        after a request or a signal of the pool to stop. "killed_by_us" is a kill by the pool, "killed_by_someone" by
        another process. "unknown" is possible. None if there was no previous worker, or if it was still running when
        this worker greeted the pool, for example during recycling.
        """
        return self._previous_exit

    @overload
    def command(self, target: Function) -> Function: ...

    @overload
    def command(
        self,
        target: Optional[str] = None,
        *,
        name: Optional[str] = None,
        batch: Optional[int] = None,
        wait_ms: float = 0,
        batch_errors: Literal["all", "split"] = "all",
    ) -> Callable[[Function], Function]: ...

    def command(
        self,
        target: Union[Callable[..., Any], str, None] = None,
        *,
        name: Optional[str] = None,
        batch: Optional[int] = None,
        wait_ms: float = 0,
        batch_errors: str = "all",
    ) -> Callable[..., Any]:
        """Registers a function, plain or async, as a command.

        Use as `@worker.command`, `@worker.command("name")` or `@worker.command(name="name")`. The host passes
        arguments by name. The result must be JSON or convertible to JSON: dataclasses, named tuples, scalars of numpy,
        dates, bytes and arrays (sent as attachments), objects with `to_dict()` ...

        With `batch`, the function serves up to so many calls at once: it gets a list of skep.Call, and returns a
        sequence of as many results. An exception object in a place is the error of that call alone. An exception that
        the function raises is the error of all calls. The function is interrupted only when all of them are cancelled.
        Calls that are late or cancelled before the batch begins are not in the list.

        Args:
            target: the function, or the name of the command.
            name: the name of the command; by default the name of the function.
            batch: limit of the calls that the function serves together, 1 to 65536. The pool's configuration may set
                another limit, even a higher one. None: one call, by its arguments.
            wait_ms: limit in milliseconds of the wait for more calls, 0 to 10000. With 0 a batch has the calls that
                wait when the worker comes free. The pool's configuration may set another limit.
            batch_errors: "split" runs the function again with the halves of a batch for which it has raised an
                exception, so that a bad call fails alone; "all" does not.
        Returns:
            The function, or a decorator.
        Raises:
            TypeError: the function cannot be called by names of arguments or has no name; the function of a batch does
                not take one argument, or is a generator.
            ValueError: the name is taken or begins with "skep."; an option of batches is out of its range, or is given
                without `batch`.
        """
        make = _command_maker(batch, wait_ms, batch_errors)
        if target is not None and not isinstance(target, str):
            return self._register(target, name, make)
        command_name = name if target is None else target
        return lambda function: self._register(function, command_name, make)

    def engine(
        self, target: Optional[str] = None, *, slots: int, name: Optional[str] = None
    ) -> Callable[[EngineFunction], EngineFunction]:
        """Registers the function that serves a command for many calls at once, each a stream. At most one per worker.

        Use as `@worker.engine("generate", slots=64)`. The function is called once, on the main thread, with a
        skep.Engine: it iterates over the steps of the engine as long as the worker serves. If it raises or returns
        before, its open calls get the error, and it is called again for later calls. The health check, and other
        commands of the worker, run in threads beside it.

        Args:
            target: the name of the command; by default the name of the function.
            slots: how many calls the worker serves at once, 1 to 65536, whatever the pool's `capacity` is.
            name: the same as `target`.
        Returns:
            A decorator.
        Raises:
            TypeError: the function does not take one argument, has no name, or is async or a generator.
            ValueError: `slots` is out of its range, there is an engine already, or the name is taken or begins with
                "skep.".
        """
        if type(slots) is not int or not 1 <= slots <= _MAX_CALLS:
            raise ValueError(f"slots is a number of calls, 1 to {_MAX_CALLS}, not {slots!r}")
        self._check_no_engine()
        command_name = name if target is None else target
        make = functools.partial(EngineCommand, slots=slots)

        def register(function: EngineFunction) -> EngineFunction:
            self._check_no_engine()  # again: both decorators may be made before either is applied
            self._register(function, command_name, make)
            return function

        return register

    def _check_no_engine(self) -> None:
        engine = self._work().engine
        if engine is not None:
            raise ValueError(f"there is already an engine '{engine.name}'")

    def health_check(self, function: Hook) -> Hook:
        """Registers the function that the pool calls from time to time while the worker is idle. At most one.

        If it raises or returns False, the pool gives the worker no calls until the check succeeds, and finally replaces
        the worker. The check may return JSON, for information. It runs where commands run: on the main thread, on a
        thread of its own, or on the event loop if it is async. Without a check, the pool only sees that the worker
        answers calls.

        Args:
            function: a function without required parameters, plain or async.
        Returns:
            The function.
        Raises:
            TypeError: the function needs arguments, or is a generator.
            ValueError: there is a health check already.
        """
        if self._health_check is not None:
            raise ValueError(f"there is already a health check '{self._health_check.name}'")
        self._health_check = HealthCheck(unwrap_function("health check", function))
        return function

    def on_preload(self, hook: Hook) -> Hook:
        """Registers a function, plain or async, to run once before the on_start hooks: in the template, for all workers.

        Use it to load what all workers of a pool with `launch.preload` share, such as a model. Threads, connections to
        other programs and devices do not survive a fork: create them in an on_start hook. Without `launch.preload`,
        every worker runs the function for itself.

        The start fails if the function raises.

        Args:
            hook: a function without required parameters.
        Returns:
            The function.
        Raises:
            TypeError: `hook` is not callable.
        """
        self._preload_hooks.append(unwrap_function("hook", hook))
        return hook

    def on_start(self, hook: Hook) -> Hook:
        """Registers a function, plain or async, to run once before the worker accepts calls.

        The start fails if the function raises.

        Args:
            hook: a function without required parameters.
        Returns:
            The function.
        Raises:
            TypeError: `hook` is not callable.
        """
        self._start_hooks.append(unwrap_function("hook", hook))
        return hook

    def on_stop(self, hook: Hook) -> Hook:
        """Registers a function, plain or async, to run once when the worker stops in an orderly way.

        Hooks run in reverse order of registration. They do not run after an incomplete start, after a crash, after the
        end of the host, or in a process that the worker has forked.

        Args:
            hook: a function without required parameters.
        Returns:
            The function.
        Raises:
            TypeError: `hook` is not callable.
        """
        self._stop_hooks.append(unwrap_function("hook", hook))
        return hook

    def call(self, command: str, attachments: Sequence[bytes] = (), /, **args: Any) -> Any:
        """Runs a command on this thread, without a pool: for unit tests.

            assert worker.call("predict", text="hello")["label"] == "greeting"

        Arguments and result are converted to JSON and back, as on their way from and to a host, so a tuple becomes a
        list; arrays stay arrays. The on_start hooks run once, before the first call; patch the functions that a hook calls to keep it from
        loading data that a test does not need. The on_stop hooks never run here. Async commands run on a loop of this
        worker, so no other loop may run on this thread. A batch command gets a batch of one call, an engine one call
        without a stream. skep.fake_tools() provides tools of the host.

        Args:
            command: the name of the command.
            attachments: binary data of the call.
            args: the arguments of the command.
        Returns:
            The result, with `bytes` and arrays in the places of attachments.
        Raises:
            skep.UnknownCommand, skep.InvalidArguments: as a host would receive them.
            skep.UnserializableResult, skep.ResultTooLarge: a pool with default limits would refuse the result.
            TypeError, ValueError: the arguments are neither JSON nor arrays.
            Any exception of a command or a hook, unchanged.
        """
        self._run_start_hooks_locally()
        return call_locally(self._work(), self._event_loop, command, args, attachments)

    def call_batch(
        self, command: str, calls: Sequence[Mapping[str, Any]], attachments: Sequence[Sequence[bytes]] = ()
    ) -> List[Any]:
        """Runs a batch command on this thread, without a pool: for unit tests.

            assert worker.call_batch("embed", [{"text": "a"}, {"text": "b"}]) == [[1.0], [2.0]]

        As call(), which runs a batch command for a batch of one call.

        Args:
            command: the name of the command.
            calls: the arguments of each call; 1 to as many calls as a batch of the command has.
            attachments: the binary data of each call, in the order of the calls. Calls without an entry have none.
        Returns:
            A result for each call. For a call that fails, the exception: the one that the function has put in its
            place or has raised for all calls, or skep.UnserializableResult and the like.
        Raises:
            skep.UnknownCommand: there is no such command.
            ValueError: it is not a batch command, or the number of calls is wrong.
            TypeError, ValueError: the arguments are neither JSON nor arrays.
            An exception of the function that is not an Exception, such as SystemExit, and any exception of a hook.
        """
        self._run_start_hooks_locally()
        return call_batch_locally(self._work(), self._event_loop, command, calls, attachments)

    def run(self) -> None:
        """Serves calls until the pool asks the worker to stop, then exits the process.

        Call it last, on the main thread, and under `if __name__ == "__main__":`, because tests and children spawned by
        multiprocessing import the script. In such a child it returns at once, with a warning on stderr. A script
        started by a pool that ends without this call gets a message on stderr and exits with 120.

        Exit status: 0 after an orderly stop, 1 if a start or stop hook failed, 64 if no pool has started the script,
        70 if the host is gone, 76 if the host broke the protocol, 78 if the script cannot serve as its pool requires
        (stderr has the reason). Code after run() may not run, even in finally blocks. A child forked by a command or a
        hook ends when it returns from there, without its atexit handlers: with 0, with 1 after an error, or with the
        status passed to sys.exit().

        Raises:
            RuntimeError: a worker of this process serves already, for example in a hook or a command.
        """
        confirm_run()
        if is_multiprocessing_import():
            warn_of_missing_guard()
            return
        if self._template is not None:
            self._leave_template(self._template)
            run_to_end(self._serve_pool)
        self._serve_pool()

    def _serve_pool(self) -> NoReturn:
        """Serves calls, then raises SystemExit."""
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
            _capture_logs(conversation.host.log_level)
            with conversation.interrupts.window():
                if not all(self._run_hook(hook, conversation) for hook in self._due_start_hooks()):
                    sys.exit(EXIT_FAILED)
            check_threads()  # again: a hook may import a library that replaces threads
            conversation.interrupts.restore()
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

    def _leave_template(self, line: TemplateLine) -> None:
        """Forks workers as the pool orders. Returns in a worker, connected to the pool."""
        from .template import serve_template  # with logging: slow to import

        self._run_preload_hooks()
        serve_template(line, self._work())
        self._template = None
        self._connect()

    def _run_preload_hooks(self) -> None:
        """Runs the hooks in the template. Ends the process after an error."""
        process = os.getpid()
        hooks, self._preload_hooks = self._preload_hooks, []
        self._started = True  # call() in a hook runs no other hooks
        try:
            for hook in hooks:
                self._event_loop.run_hook(hook)
        except Exception as error:
            show_traceback(error)
            exit_at_once(EXIT_FAILED)
        if os.getpid() != process:
            exit_forked_child()
        self._started = False
        self._event_loop.close()  # workers must not share its descriptors

    def _work(self) -> Work:
        return Work(self._commands, self._health_check, self._event_loop, self._thread_safe, self._concurrency)

    def _run_start_hooks_locally(self) -> None:
        try:
            for hook in self._due_start_hooks():
                self._event_loop.run_hook(hook)
        except BaseException:
            self._started = False  # the next call runs them again
            raise

    def _due_start_hooks(self) -> List[Callable[[], Any]]:
        """Returns the due hooks the first time, then an empty list: hooks run once, and may use call()."""
        hooks = [] if self._started else [*self._preload_hooks, *self._start_hooks]
        self._started = True
        return hooks

    def _register(
        self, function: Callable[..., Any], name: Optional[str], make: Callable[[str, Callable[..., Any]], Command]
    ) -> Callable[..., Any]:
        target, function = function, unwrap_function("command", function)
        name = name or getattr(function, "__name__", None)
        if not isinstance(name, str):
            raise TypeError(f"a command needs a name: use @worker.command(name=...) for {function!r}")
        if name.startswith(RESERVED_PREFIX):
            raise ValueError(f"command '{name}' must not begin with '{RESERVED_PREFIX}': such names are reserved")
        if name in self._commands:
            raise ValueError(f"there is already a command '{name}'")
        self._commands[name] = make(name, function)
        return target

    def _run_hook(self, hook: Callable[[], Any], conversation: Conversation) -> bool:
        """Runs a hook. Writes an error to stderr and returns false."""
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


def _command_maker(
    batch: Optional[int], wait_ms: float, batch_errors: str
) -> Callable[[str, Callable[..., Any]], Command]:
    """Returns the constructor of commands with these options. Raises ValueError for wrong options."""
    if batch is None:
        if (wait_ms, batch_errors) != (0, "all"):
            raise ValueError("wait_ms and batch_errors are options of batches: say how many calls by batch=")
        return Command
    if type(batch) is not int or not 1 <= batch <= _MAX_CALLS:
        raise ValueError(f"batch is a number of calls, 1 to {_MAX_CALLS}, not {batch!r}")
    if type(wait_ms) not in (int, float) or not 0 <= wait_ms <= _MAX_WAIT_MS:
        raise ValueError(f"wait_ms is a number of milliseconds, 0 to {_MAX_WAIT_MS}, not {wait_ms!r}")
    if batch_errors not in ("all", "split"):
        raise ValueError(f'batch_errors is "all" or "split", not {batch_errors!r}')
    return functools.partial(BatchCommand, most=batch, wait_ms=wait_ms, is_split=batch_errors == "split")


def _capture_logs(host_level: str) -> None:
    if not records.is_closed:
        from .logs import capture  # with logging: slow to import, and not needed without a pool

        capture(host_level)
