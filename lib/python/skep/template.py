"""The template of a pool with `launch.preload`: a process that has imported the script and forks the workers."""

import faulthandler  # noqa: F401  a worker would import it at its start, as the next one
import gc
import os
import sys
from typing import List, Set

from . import logs  # noqa: F401
from ._calls.responder import Work
from ._process.diagnostics import write_to_stderr
from ._process.exits import EXIT_PROTOCOL_ERROR, drop_exit_handlers, exit_at_once, flush_output, report_protocol_error
from ._process.forking import enter_session, fork_worker
from ._process.interpreter import threading_kind
from ._process.objections import find_objections
from ._process.script import script_name
from ._profiles.c_loop import import_loop
from ._wire.errors import ProtocolError
from ._wire.template_line import Order, OrderFailed, TemplateLine


def serve_template(line: TemplateLine, work: Work) -> None:
    """Forks a worker for each order. Returns in a worker, before its connection; ends this process with the line."""
    _import_for_workers(work)
    is_collecting = gc.isenabled()
    _freeze_garbage_collection()
    try:
        Template(line).serve()
    except OSError:  # the pool is gone
        exit_at_once(0)
    except ProtocolError as error:
        report_protocol_error(error)
        exit_at_once(EXIT_PROTOCOL_ERROR)
    drop_exit_handlers()
    _reseed()
    if is_collecting:
        gc.enable()


class Template:
    """Carries out the orders of a pool."""

    def __init__(self, line: TemplateLine) -> None:
        self._line = line
        self._objections: List[str] = []
        self._known_variables: Set[str] = set()  # of slots

    def serve(self) -> None:
        """Announces the template, and carries out orders. Returns in a worker; ends this process with the line."""
        self._objections = find_objections(self._line.descriptors)
        self._line.announce(self._objections)
        while True:
            try:
                order = self._line.receive_order()
                if order is None:
                    exit_at_once(0)
                if self._is_worker_after(order):
                    return
            except OrderFailed as error:
                self._line.send_failed(str(error))

    def _is_worker_after(self, order: Order) -> bool:
        """Carries out an order. Returns true in the worker."""
        is_worker = False
        try:
            if self._objections:
                raise OrderFailed("; ".join(self._objections))
            self._warn_of_variables(order)
            flush_output()  # else the worker writes it, too
            is_worker = fork_worker(lambda: self._become(order), self._line.send_forked, self._line.send_failed)
        finally:
            if not is_worker:
                order.ends.close()
        return is_worker

    def _become(self, order: Order) -> None:
        """Gives this process the descriptors, arguments and variables of a worker."""
        enter_session(order.ends)
        channels = self._line.replace(order.ends)
        sys.argv += order.arguments
        for name, value in {**order.environment, **channels}.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value

    def _warn_of_variables(self, order: Order) -> None:
        """Writes the names of variables to stderr that the script may have read too early, each once."""
        names = {name for name in order.environment if not name.startswith("SKEP_")} - self._known_variables
        if names:
            self._known_variables |= names
            write_to_stderr(
                f"skep: {', '.join(sorted(names))}: set for a worker after {script_name()} was imported for all workers "
                "(launch.preload); read such variables in on_start\n"
            )


def _import_for_workers(work: Work) -> None:
    """Imports the modules of a worker's start, once for all workers."""
    if work.engine is not None:
        from ._profiles import engine_profile  # noqa: F401
    if work.is_async:
        from ._profiles import async_profile  # noqa: F401
    if work.thread_safe:
        from ._profiles import thread_profile  # noqa: F401
    from ._wire import shared_memory  # noqa: F401  the pool may share some with its workers

    import_loop()
    threading_kind()  # reads a large file the first time


def _freeze_garbage_collection() -> None:
    """Keeps collections in the workers from writing to the objects of the template, which all of them share."""
    gc.disable()
    gc.collect()
    gc.freeze()


def _reseed() -> None:
    """Gives this process random numbers and ids that differ from other workers'. Python reseeds `random` itself."""
    for name in ("numpy.random", "torch"):
        if name in sys.modules:
            sys.modules[name].seed()
    if "uuid" in sys.modules:  # the C library would go on with the template's clock
        setattr(sys.modules["uuid"], "_generate_time_safe", None)
