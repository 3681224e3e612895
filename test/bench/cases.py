"""What is measured, and against what. A figure's keys are those that the programs print."""

import os
import pathlib
import shutil
import subprocess
import sys
from typing import Dict, List, NamedTuple, Tuple

HERE = pathlib.Path(__file__).resolve().parent
SDK = HERE.parent.parent / "lib" / "python"


class Figure(NamedTuple):
    """One measured value, and the values it is divided by: (label, side, key) each."""

    name: str
    unit: str
    side: str
    key: str
    versus: List[Tuple[str, str, str]] = []


class Comparison(NamedTuple):
    """Sides that take turns: their names and commands."""

    sides: Dict[str, List[str]]
    figures: List[Figure]
    rounds: int
    pin: bool = False  # to one core, host and worker alike


class Settings:
    """How long to measure, and with which programs."""

    def __init__(self, build, quick):
        self.programs = build / "test" / "bench"
        self.quick = quick

    def rounds(self, count):
        return 1 if self.quick else count

    def span(self, seconds):
        return f"span={seconds / 4 if self.quick else seconds}"

    def pick(self, full, quick):
        return quick if self.quick else full

    def program(self, name, mode, *pairs):
        return [str(self.programs / name), mode, *pairs]

    def skep(self, mode, *pairs):
        return self.program("skep_bench", mode, *pairs)

    def raw(self, mode, *pairs):
        return self.program("skep_bench_raw", mode, *pairs)

    def remote(self, mode, *pairs):
        return self.program("skep_bench_remote", mode, *pairs)

    def memory(self, mode, *pairs):
        return self.program("skep_bench_memory", mode, *pairs)

    def echo_worker(self):
        return f"worker={self.programs / 'skep_bench_echo_worker'}"


# sys.executable, not python3: PATH may lead to a version manager's shim, which takes longer than what it starts.
PYTHON_WORKER = (f"script={HERE / 'worker.py'}", f"python={sys.executable}")
RAW_WORKER = (f"script={HERE / 'raw_worker.py'}", f"python={sys.executable}")
SHARED_SIZES = (("64 KiB", 64 << 10), ("256 KiB", 256 << 10), ("1 MiB", 1 << 20), ("8 MiB", 8 << 20), ("64 MiB", 64 << 20))
BATCH_WORKER = (f"script={HERE / 'batch_worker.py'}", f"python={sys.executable}")
ENGINE_WORKER = (f"script={HERE / 'engine_worker.py'}", f"python={sys.executable}")


def counterpart(mode, *pairs):
    return [sys.executable, str(HERE / "counterparts.py"), mode, *pairs]


def succeeds(*command):
    """Whether there is such a program, and it ends with status 0."""
    if shutil.which(command[0]) is None:
        return False
    environment = dict(os.environ, ERL_CRASH_DUMP_SECONDS="0")
    try:
        run = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, timeout=30, env=environment)
    except subprocess.TimeoutExpired:
        return False
    return run.returncode == 0


def optional_sides(load):
    """The counterparts of other languages that are installed: name, command. The others are skipped with a line."""
    erlang = "[{module, _} = code:ensure_loaded(Name) || Name <- [poolboy, jiffy]], halt(0)."
    worker = (f"python={sys.executable}", f"script={HERE / 'port_worker.py'}")
    known = {
        "poolboy over ports": (
            ("erl", "-noshell", "-eval", erlang),
            ["escript", str(HERE / "poolboy_calls.escript"), *load, *worker],
            "apt install erlang-base erlang-poolboy erlang-jiffy",
        ),
        "node's workerpool": (
            ("node", "-e", "require('workerpool')"),
            ["node", str(HERE / "workerpool_calls.js"), *load],
            "npm install workerpool, and NODE_PATH",
        ),
    }
    for name, (check, command, remedy) in known.items():
        if succeeds(*check):
            yield name, command
        else:
            print(f"bench: skipped: {name} ({remedy})", file=sys.stderr)


def batch_model(*pairs):
    return [sys.executable, str(HERE / "batch_model.py"), *pairs]


def asyncio_batcher(*pairs):
    return [sys.executable, str(HERE / "asyncio_batcher.py"), *pairs]


def grpc(mode, *pairs):
    return [sys.executable, str(HERE / "grpc_streams.py"), mode, *pairs]


def serial(with_):
    """One caller, one Python worker. Where the kernel spreads host and worker over cores, it is waking up that takes
    the time, more so from epoll than from read(); on one core the figures tell the cost of the code."""
    for place, pin in (("", False), (", one core", True)):
        sides = {
            "skep": with_.skep("serial", *PYTHON_WORKER, with_.span(0.6)),
            "raw": with_.raw("serial", *PYTHON_WORKER, with_.span(0.6)),
            "epoll": with_.raw("serial", *PYTHON_WORKER, with_.span(0.6), "epoll=1"),
        }
        figures = [
            Figure(
                f"serial{place}: {name}",
                "us",
                "skep",
                key,
                [("blocking C client", "raw", key), ("C client on epoll", "epoll", key)],
            )
            for name, key in (("p50", "p50_us"), ("p99", "p99_us"), ("host CPU per call", "cpu_us"))
        ]
        yield Comparison(sides, figures, with_.rounds(7), pin)


def throughput(with_):
    """Two Python workers, 16 calls in flight. The counterparts pipeline calls to their workers, as skep does by default,
    and with a pipeline_depth of 1; with 0, a worker waits for its next call while its answer is on the way. Poolboy gives
    a port to one caller at a time; workerpool sends one call at a time to each of its processes, which run JavaScript."""
    load = ("workers=2", "callers=16", with_.span(0.6))
    sides = {
        "automatic": with_.skep("throughput", *PYTHON_WORKER, *load),
        "pipelined": with_.skep("throughput", *PYTHON_WORKER, *load, "pipeline=1"),
        "skep": with_.skep("throughput", *PYTHON_WORKER, *load, "pipeline=0"),
        "pool": counterpart("multiprocessing-throughput", *load),
        "executor": counterpart("executor-throughput", *load),
    }
    optional = dict(optional_sides(load))
    sides.update(optional)
    others = [
        ("multiprocessing.Pool", "pool", "calls_per_s"),
        ("ProcessPoolExecutor", "executor", "calls_per_s"),
        *((name, name, "calls_per_s") for name in optional),
    ]
    with_depth_1 = [("pipeline_depth 1", "pipelined", "calls_per_s")]
    figures = [
        Figure("throughput: by default", "calls/s", "automatic", "calls_per_s", [*with_depth_1, *others]),
        Figure("throughput: host CPU, by default", "us", "automatic", "cpu_us"),
        Figure("throughput: pipeline_depth 1", "calls/s", "pipelined", "calls_per_s", others),
        Figure("throughput: host CPU, pipeline_depth 1", "us", "pipelined", "cpu_us"),
        Figure("throughput: pipeline_depth 0", "calls/s", "skep", "calls_per_s", others),
        Figure("throughput: host CPU, pipeline_depth 0", "us", "skep", "cpu_us"),
    ]
    yield Comparison(sides, figures, with_.rounds(7))


def pipelined(with_):
    """One worker with calls pipelined to it, or with room for many."""
    kinds = [
        ("Python worker, 16 in flight", "16", (*PYTHON_WORKER, "pipeline=16")),
        ("C++ worker, 64 in flight", "64", (with_.echo_worker(), "capacity=64")),
    ]
    for name, depth, worker in kinds:
        sides = {
            "skep": with_.skep("throughput", *worker, f"callers={depth}", with_.span(0.6)),
            "raw": with_.raw("pipelined", *worker, f"depth={depth}", with_.span(0.6)),
        }
        figures = [
            Figure(f"pipelined: {name}", "calls/s", "skep", "calls_per_s", [("blocking C client", "raw", "calls_per_s")]),
            Figure(f"pipelined: host CPU, {name}", "us", "skep", "cpu_us", [("blocking C client", "raw", "cpu_us")]),
        ]
        yield Comparison(sides, figures, with_.rounds(7))


def mixed(with_):
    """Four Python workers that are busy for 60 % of the time. Calls come at random: 2 % take 20 ms, the others 50 us. The
    figures are those of the short calls, which must not wait behind a long one while another worker is free."""
    load = ("workers=4", "percent=60", with_.span(6))
    depths = {"by default": (), "pipeline_depth 0": ("pipeline=0",), "pipeline_depth 1": ("pipeline=1",)}
    sides = {name: with_.skep("mixed", *PYTHON_WORKER, *load, *depth) for name, depth in depths.items()}
    figures = [
        Figure(
            f"mixed: {name}, {key}",
            "us",
            name,
            f"{key}_us",
            [] if name == "pipeline_depth 0" else [("pipeline_depth 0", "pipeline_depth 0", f"{key}_us")],
        )
        for key in ("p50", "p99")
        for name in depths
    ]
    yield Comparison(sides, figures, with_.rounds(7))


def batching(with_):
    """A model of two dense layers, for up to 32 calls at a time. The counterpart makes batches as Ray Serve and LitServe
    do: a queue in asyncio, a worker process, and a wait, which is 10 ms by default in Ray Serve."""
    span = with_.span(0.6)
    rows = (1, 8, 32)
    sides = {str(count): batch_model(f"rows={count}", span) for count in rows}
    figures = list(scaling("batches: the function alone, a row of", "call_us", "us", rows, "rows"))
    yield Comparison(sides, figures, with_.rounds(5))

    def by_asyncio(workers, callers, wait_ms):
        return asyncio_batcher(f"workers={workers}", f"callers={callers}", "batch=32", f"wait_ms={wait_ms}", span)

    many = (*BATCH_WORKER, "callers=64", span)
    sides = {
        "batches": with_.skep("throughput", *many),
        "single": with_.skep("throughput", *many, "batch=1"),
        "alone": batch_model("rows=32", span),
        "asyncio": by_asyncio(1, 64, 0),
        "asyncio, 10 ms": by_asyncio(1, 64, 10),
    }
    versus = [
        (name, side, "calls_per_s")
        for name, side in (
            ("one call at a time", "single"),
            ("the function alone, 32 rows", "alone"),
            ("asyncio batcher, wait 0", "asyncio"),
            ("asyncio batcher, wait 10 ms", "asyncio, 10 ms"),
        )
    ]
    figures = [
        Figure("batches: 64 callers", "calls/s", "batches", "calls_per_s", versus),
        Figure("batches: host CPU per call, 64 callers", "us", "batches", "cpu_us", [("one call at a time", "single", "cpu_us")]),
    ]
    yield Comparison(sides, figures, with_.rounds(7))

    one = (*BATCH_WORKER, span)
    sides = {
        "batches": with_.skep("serial", *one),
        "single": with_.skep("serial", *one, "batch=1"),
        "2 ms": with_.skep("serial", *one, "batch_wait_ms=2"),
        "asyncio": by_asyncio(1, 1, 0),
        "asyncio, 2 ms": by_asyncio(1, 1, 2),
    }
    unbatched = ("no batches", "single", "p50_us")
    figures = [
        Figure("batches: one caller, p50", "us", "batches", "p50_us", [unbatched, ("asyncio batcher, wait 0", "asyncio", "p50_us")]),
        Figure(
            "batches: one caller, wait 2 ms, p50",
            "us",
            "2 ms",
            "p50_us",
            [unbatched, ("asyncio batcher, wait 2 ms", "asyncio, 2 ms", "p50_us")],
        ),
    ]
    yield Comparison(sides, figures, with_.rounds(7))

    few = (*BATCH_WORKER, "workers=2", "callers=16", span)
    sides = {
        "0 ms": with_.skep("throughput", *few),
        "2 ms": with_.skep("throughput", *few, "batch_wait_ms=2"),
        "pack": with_.skep("throughput", *few, "schedule=pack"),
        "asyncio": by_asyncio(2, 16, 0),
        "asyncio, 2 ms": by_asyncio(2, 16, 2),
    }
    at_once = ("wait 0", "0 ms", "calls_per_s")
    figures = [
        Figure(f"batches: 2 workers, 16 callers{what}", "calls/s", side, "calls_per_s", others)
        for what, side, others in (
            (", wait 0", "0 ms", [("asyncio batcher, wait 0", "asyncio", "calls_per_s")]),
            (", wait 2 ms", "2 ms", [at_once, ("asyncio batcher, wait 2 ms", "asyncio, 2 ms", "calls_per_s")]),
            (", schedule pack", "pack", [("least_loaded", "0 ms", "calls_per_s")]),
        )
    ]
    yield Comparison(sides, figures, with_.rounds(7))

    sides = {
        "engine": with_.skep("streams", *ENGINE_WORKER, "streams=64", with_.span(1)),
        "one": with_.skep("streams", *ENGINE_WORKER, "streams=1", with_.span(1)),
        "alone": batch_model("rows=64", with_.span(1)),
    }
    versus = [("one stream", "one", "chunks_per_s"), ("the function alone, 64 rows", "alone", "calls_per_s")]
    yield Comparison(sides, [Figure("engine: 64 streams", "chunks/s", "engine", "chunks_per_s", versus)], with_.rounds(5))


def payload(with_):
    """A JSON string there and back; the raw side moves as many bytes as the frames have."""
    for name, size in (("1 KiB", 1 << 10), ("64 KiB", 64 << 10), ("1 MiB", 1 << 20), ("16 MiB", 16 << 20)):
        sides = {
            "skep": with_.skep("payload", *PYTHON_WORKER, f"bytes={size}", with_.span(0.6)),
            "pool": counterpart("multiprocessing-payload", f"bytes={size}", with_.span(0.6)),
            "raw": with_.raw("socketpair", f"bytes={size + 80}", with_.span(0.6)),
        }
        others = [("multiprocessing.Pool", "pool", "call_us"), ("raw socketpair, no JSON", "raw", "call_us")]
        yield Comparison(sides, [Figure(f"payload: echo {name}", "us", "skep", "call_us", others)], with_.rounds(5))


def attachments(with_):
    """Bytes there and back. The raw side is a host and a Python program that use one buffer over and over."""
    for name, size in (("1 MiB", 1 << 20), ("64 MiB", 64 << 20)):
        sides = {
            "skep": with_.skep("attachments", *PYTHON_WORKER, f"bytes={size}", with_.span(1)),
            "pool": counterpart("multiprocessing-attachments", f"bytes={size}", with_.span(1)),
            "raw": with_.raw("python-echo", *RAW_WORKER, f"bytes={size}", with_.span(1)),
        }
        others = [("multiprocessing.Pool", "pool", "call_us"), ("raw socketpair to Python", "raw", "call_us")]
        yield Comparison(sides, [Figure(f"attachments: {name}", "us", "skep", "call_us", others)], with_.rounds(5))


def shared(with_):
    """Bytes to a worker that goes through all of them, or through none, in memory of the host and over the socket."""
    inline = ("over the socket", "socket", "call_us")
    others = [("multiprocessing.Pool", "pool", "call_us"), ("multiprocessing.shared_memory", "segment", "call_us")]
    for name, size in SHARED_SIZES:
        length = (f"bytes={size}", with_.span(1))
        for does, command in (("read", "read_bytes"), ("not read", "look_at_bytes")):
            options = (*PYTHON_WORKER, *length, f"command={command}", "least=4096")
            sides = {
                "shared": with_.skep("attachments", *options, "shared=1"),
                "socket": with_.skep("attachments", *options),
            }
            versus = [inline]
            if does == "read":
                sides["pool"] = counterpart("multiprocessing-read", *length)
                sides["segment"] = counterpart("segment-read", *length)
                versus += others
            yield Comparison(sides, [Figure(f"{name} to a worker, {does}", "us", "shared", "call_us", versus)], with_.rounds(5))
    yield from shared_results(with_)


def shared_results(with_):
    """Bytes of a worker that the host goes through, and bytes of the host that come back untouched."""
    inline = ("over the socket", "socket", "call_us")
    others = [("multiprocessing.Pool", "pool", "call_us"), ("raw socketpair to Python", "raw", "call_us")]
    for name, size in SHARED_SIZES:
        options = (*PYTHON_WORKER, f"bytes={size}", with_.span(1), "least_result=4096")
        results = (*options, "command=make_bytes")
        sides = {
            "copied": with_.skep("attachments", *results, "shared=1"),
            "shown": with_.skep("attachments", *results, "shared=1", "shown=1"),
            "socket": with_.skep("attachments", *results),
        }
        figures = [Figure(f"{name} of a worker, {side}", "us", side, "call_us", [inline]) for side in ("copied", "shown")]
        yield Comparison(sides, figures, with_.rounds(5))
        sides = {
            "buffer": with_.skep("attachments", *options, "read=0", "shared=1", "buffer=1"),
            "socket": with_.skep("attachments", *options, "read=0"),
            "pool": counterpart("multiprocessing-attachments", f"bytes={size}", with_.span(1)),
            "raw": with_.raw("python-echo", *RAW_WORKER, f"bytes={size}", with_.span(1)),
        }
        figure = Figure(f"{name} there and back in a shared_buffer", "us", "buffer", "call_us", [inline, *others])
        yield Comparison(sides, [figure], with_.rounds(5))


def streams(with_):
    """A generator of short strings. gRPC serves and is listened to from Python, each stream by a thread or all by an event
    loop, over a Unix socket, and what its client costs stands beside what its server does: on two cores the slower of the
    two sets the pace. Four streams come from as many processes on both sides, a hundred from two, which have a thread for
    each. The raw side sends 4 KiB of JSON a write, to a host in C that only counts."""
    for count, processes in ((1, 1), (4, 4), (100, 2)):
        load = (f"streams={count}", with_.span(1))
        skep = (*load, f"workers={processes}", f"worker_threads={count // processes}")
        sides = {
            "skep": with_.skep("streams", *PYTHON_WORKER, *skep),
            "threads": grpc("threads", *load, f"servers={processes}"),
            "asyncio": grpc("asyncio", *load, f"servers={processes}"),
        }
        what = f"streams: {count}, {processes} worker{'s' * (processes > 1)}"
        kinds = (("", "chunks/s", "chunks_per_s"), (", worker CPU", "us", "worker_cpu_us"), (", host CPU", "us", "cpu_us"))
        figures = [
            Figure(what + kind, unit, "skep", key, [("gRPC, threads", "threads", key), ("gRPC, asyncio", "asyncio", key)])
            for kind, unit, key in kinds
        ]
        if count == 1:
            sides["raw"] = with_.raw("python-tokens", *RAW_WORKER, with_.span(1))
            figures[0].versus.append(("raw socketpair", "raw", "chunks_per_s"))
        yield Comparison(sides, figures, with_.rounds(5))


def scaling(name, key, unit, sizes, noun):
    """A figure per size, the first of them the counterpart of the others."""
    first = sizes[0]
    for size in sizes:
        versus = [(f"{first:,} {noun}", str(first), key)] if size != first else []
        yield Figure(f"{name}, {size:,} {noun}", unit, str(size), key, versus)


def working_set(with_):
    """The time that a function takes which goes through 8 MiB of its own, as a model does: where calls alternate between
    idle workers, caches and clocks are cold each time."""
    for workers in (2, 8):
        for callers in (1, 2, 4):
            load = (*PYTHON_WORKER, f"workers={workers}", f"callers={callers}", "mebibytes=8", with_.span(0.6))
            kinds = ("least_loaded", "round_robin", "lifo")
            sides = {kind: with_.skep("working-set", *load, f"schedule={kind}") for kind in kinds}
            versus = [(kind, kind, "p50_us") for kind in kinds[1:]]
            name = f"working set: {workers} workers, {callers} caller{'s' * (callers > 1)}"
            yield Comparison(sides, [Figure(name, "us", "least_loaded", "p50_us", versus)], with_.rounds(5))


def queue(with_):
    """Waiters for a worker that is busy for ever, and schedulers of workers that are no processes."""
    sizes = (1_000, 10_000, 100_000)
    sides = {str(size): with_.skep("queue", f"waiters={size}") for size in sizes}
    figures = [
        figure
        for name, key in (("enqueue", "enqueue_ns"), ("cancel", "cancel_ns"), ("time out", "time_out_ns"))
        for figure in scaling(f"queue: {name}", key, "ns/waiter", sizes, "waiters")
    ]
    yield Comparison(sides, figures, with_.rounds(3))
    sizes = (4, 64, 1_000)
    calls = f"calls={with_.pick(50_000, 5_000)}"
    sides = {str(size): with_.skep("schedulers", f"workers={size}", calls) for size in sizes}
    figures = [
        figure
        for kind in ("least_loaded", "round_robin", "lifo", "fifo", "pack")
        for figure in scaling(f"pick: {kind}", f"{kind}_ns", "ns", sizes, "workers")
    ]
    figures += scaling("pick: in a whole call", "call_ns", "ns", sizes, "workers")
    yield Comparison(sides, figures, with_.rounds(5))


def forms(with_):
    """One C++ worker with 64 calls in flight: co_await beside a callback."""
    load = (with_.echo_worker(), "capacity=64", "callers=64", f"calls={with_.pick(300_000, 30_000)}")
    sides = {form: with_.skep("forms", f"form={form}", *load) for form in ("await", "callback")}
    figures = [
        Figure("callback: throughput", "calls/s", "callback", "calls_per_s", [("co_await", "await", "calls_per_s")]),
        Figure("callback: host CPU per call", "us", "callback", "cpu_us", [("co_await", "await", "cpu_us")]),
    ]
    yield Comparison(sides, figures, with_.rounds(7))


def refusals(with_):
    """Calls that a full queue refuses, by the form of the operation: under overload, that is the normal case."""
    calls = f"calls={with_.pick(100_000, 10_000)}"
    sides = {form: with_.skep("refusals", f"form={form}", calls) for form in ("await", "result", "callback")}
    versus = [("co_await, which throws", "await", "refusal_ns")]
    figures = [
        Figure("refusal: co_await with as_result", "ns", "result", "refusal_ns", versus),
        Figure("refusal: callback with as_result", "ns", "callback", "refusal_ns", versus),
    ]
    yield Comparison(sides, figures, with_.rounds(7))


def sessions(with_):
    """Sessions in this process: one among many, and a clean-up of many that have expired beside many that live."""
    sizes = (1_000, 1_000_000)
    sides = {str(size): with_.skep("sessions", f"sessions={size}") for size in sizes}
    figures = [
        figure
        for name, key in (("create", "create_ns"), ("look up", "look_up_ns"), ("touch", "touch_ns"))
        for figure in scaling(f"sessions: {name}", key, "ns", sizes, "sessions")
    ]
    yield Comparison(sides, figures, with_.rounds(5))
    sizes = (1_000, 100_000)
    living = f"living={with_.pick(1_000_000, 100_000)}"
    sides = {str(size): with_.skep("session-cleanup", f"expired={size}", living) for size in sizes}
    figures = [Figure("sessions: longest turn of a clean-up", "us", str(sizes[-1]), "longest_us")]
    figures += scaling("sessions: clean-up", "sweep_ns", "ns/session", sizes, "expired")
    yield Comparison(sides, figures, with_.rounds(5))


def start(with_):
    """Until all workers are ready, with everything as it is by default."""
    for count, rounds in with_.pick(((1, 7), (16, 5), (100, 3)), ((1, 1), (16, 1))):
        sides = {
            "skep": with_.skep("start", *PYTHON_WORKER, f"workers={count}"),
            "xargs": counterpart("interpreters", f"count={count}", f"sdk={SDK}"),
        }
        figure = Figure(f"start: {count} worker{'s' * (count > 1)}", "ms", "skep", "ms", [("xargs -P2, import skep", "xargs", "ms")])
        yield Comparison(sides, [figure], with_.rounds(rounds))


def preload(with_):
    """Numpy workers that are programs of their own, and forks of a template, without and with a model."""
    worker = (f"script={HERE / 'preload_worker.py'}", f"python={sys.executable}")
    count, models = with_.pick((100, (0, 64)), (10, (8,)))
    for mib in models:
        sides = {
            side: with_.skep("preload", *worker, f"workers={count}", f"model_mib={mib}", f"preload={number}")
            for side, number in (("fork", 1), ("exec", 0))
        }
        what = f"preload: {count} numpy workers, {f'model of {mib} MiB' if mib else 'no model'}"
        figures = [
            Figure(f"{what}, {name}", unit, "fork", key, [("exec", "exec", key)])
            for name, unit, key in (
                ("start", "ms", "ms"),
                ("start without the import", "ms", "ms_after_preload"),
                ("CPU of a worker", "ms", "cpu_ms_per_worker"),
                ("memory of a worker", "MiB", "mib_per_worker"),
            )
        ]
        yield Comparison(sides, figures, with_.rounds(3))
    yield recovery(with_, worker)
    yield restart(with_, worker)


def recovery(with_, worker):
    """Calls, while workers are killed whose script takes 2 s to import: twice as many workers as callers."""
    seconds, span = with_.pick((2, 30), (0.2, 2))
    sides = {
        side: with_.skep("recovery", *worker, "workers=4", "callers=2", f"import_seconds={seconds}", f"span={span}", f"preload={number}")
        for side, number in (("fork", 1), ("exec", 0))
    }
    figures = [
        Figure(f"preload: an import of {seconds} s, a kill every 250 ms, {name}", "ms", "fork", key, [("exec", "exec", key)])
        for name, key in (("longest call", "longest_ms"), ("p99.9", "p999_ms"))
    ]
    return Comparison(sides, figures, with_.rounds(3))


def restart(with_, worker):
    """The memory of a pool in a rolling restart under load."""
    workers, mib = with_.pick((8, 64), (3, 8))
    sides = {
        side: with_.skep("restart", *worker, f"workers={workers}", "callers=4", f"model_mib={mib}", f"preload={number}")
        for side, number in (("fork", 1), ("exec", 0))
    }
    figures = [
        Figure(f"preload: {workers} workers, model of {mib} MiB, memory {name}", "MiB", "fork", key, [("exec", "exec", key)])
        for name, key in (("before a rolling restart", "before_mib"), ("at its peak", "peak_mib"))
    ]
    return Comparison(sides, figures, with_.rounds(3))


def idle(with_):
    """Workers that nobody calls: their pings, and the memory they take in the host."""
    workers, seconds = with_.pick((100, 20), (20, 3))
    sides = {"skep": with_.skep("idle", *PYTHON_WORKER, f"workers={workers}", f"span={seconds}")}
    figures = [
        Figure(f"idle: host CPU, {workers} workers", "ms/s", "skep", "cpu_ms_per_s"),
        Figure("idle: host memory per worker", "KiB", "skep", "kib_per_worker"),
    ]
    yield Comparison(sides, figures, 1)


def large_host(with_):
    """A fork would copy the page tables of the host."""
    gib = with_.pick(4, 1)
    one = (*PYTHON_WORKER, "workers=1", f"repeats={with_.pick(5, 2)}")
    sides = {
        "large": with_.skep("start", *one, f"ballast_mib={gib * 1024}"),
        "small": with_.skep("start", *one),
    }
    versus = [("start from a small host", "small", "ms")]
    figure = Figure(f"large host: start with {gib} GiB touched", "ms", "large", "ms", versus)
    yield Comparison(sides, [figure], with_.rounds(5))


def threads(with_):
    """The load of `throughput` with its callers on several threads: on one io_context that four threads run, and on four
    with a thread each. All wait as with io_context::run()."""
    load = (*PYTHON_WORKER, "workers=2", "callers=16", "wait=block", with_.span(0.6))
    kinds = {"one io_context": "threads=4", "context_group(4)": "contexts=4"}
    sides = {"one": with_.skep("throughput", *load)}
    sides.update((name, with_.skep("throughput", *load, place)) for name, place in kinds.items())
    figures = [
        Figure(f"threads: {name}{kind}", unit, name, key, [("1 thread", "one", key)])
        for name in kinds
        for kind, unit, key in (
            ("", "calls/s", "calls_per_s"),
            (", host CPU", "us", "cpu_us"),
            (", context switches", "", "switches"),
        )
    ]
    yield Comparison(sides, figures, with_.rounds(7))


def waiting(with_):
    """Waiting by yielding beside sleeping at once."""
    load = (*PYTHON_WORKER, with_.span(0.6))
    kinds = [
        ("serial", "us", "p50_us", ("serial",)),
        ("2 workers, 16 callers", "calls/s", "calls_per_s", ("throughput", "workers=2", "callers=16")),
        ("8 workers, 16 callers", "calls/s", "calls_per_s", ("throughput", "workers=8", "callers=16")),
        ("pipeline_depth 1", "calls/s", "calls_per_s", ("throughput", "workers=2", "callers=16", "pipeline=1")),
    ]
    for name, unit, key, mode in kinds:
        sides = {wait: with_.skep(*mode, *load, f"wait={wait}") for wait in ("adaptive", "block")}
        figures = [Figure(f"wait: {name}", unit, "adaptive", key, [("wait = block", "block", key)])]
        yield Comparison(sides, figures, with_.rounds(7))


def memory(with_):
    """Allocations of the host per call, and that its memory does not grow with them."""
    calls = f"calls={with_.pick(40_000, 10_000)}"
    many = (with_.echo_worker(), "capacity=64", "callers=64")
    sides = {
        "one": with_.memory("steady", *PYTHON_WORKER, "callers=1", calls),
        "many": with_.memory("steady", *many, calls),
        "request": with_.memory("requests", calls),
    }
    figures = [
        Figure(f"memory: {key} per call, {name}", unit, side, key, [("building its request", "request", key)])
        for key, unit in (("allocations", "allocs"), ("bytes", "bytes"))
        for name, side in (("1 caller", "one"), ("64 callers", "many"))
    ]
    yield Comparison(sides, figures, with_.rounds(3))
    count = with_.pick(1_000_000, 50_000)
    sides = {"skep": with_.memory("growth", *many, f"calls={count}")}
    figures = [
        Figure(
            f"memory: {name} after {count * share // 100:,} calls",
            "KiB",
            "skep",
            f"{key}_{share}_kib",
            [(f"after {count // 10:,} calls", "skep", f"{key}_10_kib")] if share != 10 else [],
        )
        for name, key in (("RSS", "resident"), ("live", "live"))
        for share in (10, 50, 100)
    ]
    yield Comparison(sides, figures, 1)


def remote(with_):
    """Calls on nodes: the server, the nodes and the client are processes of this machine. Beside them: the same calls on a
    pool of this process, and messages by cnats alone."""
    if not (with_.programs / "skep_bench_remote").exists():
        print("bench: skipped: remote (apt install libnats-dev libssl-dev nats-server)", file=sys.stderr)
        return
    for each in (remote_strict, remote_deep, remote_split, remote_data, remote_manager, remote_many):
        yield from each(with_)


def remote_strict(with_):
    """One call at a time. On one core, a call takes what all processes take of it."""
    span = with_.span(0.6)
    for place, pin in ((", one core", True), ("", False)):
        sides = {
            "remote": with_.remote("calls", "place=remote", *PYTHON_WORKER, "callers=1", span),
            "local": with_.remote("calls", "place=local", *PYTHON_WORKER, "callers=1", span),
            "parts": with_.remote("strict-parts", "form=inbox", *PYTHON_WORKER, span),
            "inbox": with_.remote("raw-strict", "form=inbox", span),
            "request": with_.remote("raw-strict", "form=request", span),
        }
        figures = [
            Figure(
                f"remote: one call at a time{place}{what}",
                "us",
                "remote",
                key,
                [
                    ("cnats inbox + local pool", "parts", key),
                    ("local pool", "local", key),
                    ("cnats inbox", "inbox", key),
                    ("cnats request", "request", key),
                ],
            )
            for what, key in (("", "p50_us"), (", CPU", "all_us"))
        ]
        yield Comparison(sides, figures, with_.rounds(7), pin)


def remote_deep(with_):
    """64 calls at a time, on one worker and on three, and what they cost each process."""
    deep = (*PYTHON_WORKER, "callers=64", "pipeline=16", with_.span(1))
    node = ("place=remote", "queue_per_place=64")
    sides = {
        "remote": with_.remote("calls", *node, *deep),
        "local": with_.remote("calls", "place=local", *deep),
        "inbox": with_.remote("raw-deep", "depth=64", "asap=0", with_.span(1)),
        "asap": with_.remote("raw-deep", "depth=64", "asap=1", with_.span(1)),
    }
    local, inbox, asap = ("local pool", "local"), ("cnats inbox", "inbox"), ("cnats inbox, SendAsap", "asap")
    rate = [(*each, "calls_per_s") for each in (local, inbox, asap)]
    figures = [Figure("remote: 64 calls at a time", "calls/s", "remote", "calls_per_s", rate)]
    kinds = [("client", (local, inbox)), ("server", (inbox,)), ("node", (inbox,)), ("worker", (local,)), ("all", (local, inbox))]
    for process, others in kinds:
        key = f"{process}_us"
        figures.append(Figure(f"remote: CPU of a call, {process}", "us", "remote", key, [(*each, key) for each in others]))
    yield Comparison(sides, figures, with_.rounds(7))

    sides = {
        "remote": with_.remote("calls", *node, *deep, "nodes=1,1,1"),
        "local": with_.remote("calls", "place=local", *deep, "workers=3"),
    }
    versus = [("local pool, 3 workers", "local", "calls_per_s")]
    yield Comparison(sides, [Figure("remote: the same, 3 nodes", "calls/s", "remote", "calls_per_s", versus)], with_.rounds(5))


def remote_split(with_):
    """Two nodes with 1 and 4 workers; calls of 20 ms, so that 250 calls/s and a share of 20 % for the first are ideal."""
    load = (*PYTHON_WORKER, "callers=40", "microseconds=20000", with_.span(4))
    sides = {
        "remote": with_.remote("split", "place=remote", "nodes=1,4", *load),
        "local": with_.remote("split", "place=local", "workers=5", *load),
    }
    rate, late = (("local pool, 5 workers", "local", key) for key in ("calls_per_s", "p99_by_p50"))
    figures = [
        Figure("remote: nodes of 1 and 4 workers", "calls/s", "remote", "calls_per_s", [rate]),
        Figure("remote: share of the node of 1", "%", "remote", "first_percent"),
        Figure("remote: p99 / p50", "", "remote", "p99_by_p50", [late]),
    ]
    yield Comparison(sides, figures, with_.rounds(5))


def remote_data(with_):
    """Attachments there and back, and one stream of short strings."""
    kinds = [
        (f"attachments of {mib} MiB", "MB/s", "mb_per_s", ("attachments", f"bytes={mib << 20}")) for mib in (1, 8)
    ] + [("one stream", "chunks/s", "chunks_per_s", ("stream",))]
    for name, unit, key, mode in kinds:
        load = (*mode, *PYTHON_WORKER, with_.span(1))
        sides = {place: with_.remote(*load, f"place={place}") for place in ("remote", "local")}
        yield Comparison(sides, [Figure(f"remote: {name}", unit, "remote", key, [("local pool", "local", key)])], with_.rounds(5))


def remote_manager(with_):
    """Local calls of a pool_manager: a remote place beside the pool must cost them nothing."""
    load = (with_.echo_worker(), "capacity=128", "callers=64", with_.span(1))
    sides = {count: with_.remote("manager", f"elsewhere={count}", *load) for count in ("0", "1")}
    figures = [
        Figure(f"manager with a remote place: {name}", unit, "1", key, [("without", "0", key)])
        for name, unit, key in (("calls", "calls/s", "calls_per_s"), ("CPU per call", "us", "client_us"))
    ]
    yield Comparison(sides, figures, with_.rounds(9))


def remote_many(with_):
    """A client among 1,000 nodes, and clients without calls."""
    sides = {str(count): with_.skep("nodes", f"nodes={count}") for count in (10, 1_000)}
    figures = [
        Figure("remote: pick of one of 1,000 nodes", "ns", "1000", "pick_ns", [("10 nodes", "10", "pick_ns")]),
        Figure("remote: a beacon of each of 1,000 nodes, CPU", "ms", "1000", "beacons_ms"),
        Figure("remote: memory for one of 1,000 nodes", "bytes", "1000", "bytes_per_node"),
    ]
    yield Comparison(sides, figures, with_.rounds(5))
    clients, nodes, seconds = with_.pick((200, 5, 20), (20, 2, 3))
    load = (*PYTHON_WORKER, f"clients={clients}", "nodes=" + ",".join("1" * nodes), f"span={seconds}")
    name = f"remote: {clients} clients of {nodes} nodes without calls"
    figures = [
        Figure(f"{name}: CPU of a {program}", "ms/s", "idle", f"{program}_ms_per_s") for program in ("node", "server", "client")
    ] + [
        Figure(f"{name}: memory of a {program} for a link", "KiB", "idle", f"{program}_kib_per_link")
        for program in ("node", "client")
    ]
    yield Comparison({"idle": with_.remote("idle", *load)}, figures, 1)


CASES = {
    "serial": serial,
    "throughput": throughput,
    "pipelined": pipelined,
    "mixed": mixed,
    "batching": batching,
    "payload": payload,
    "attachments": attachments,
    "shared": shared,
    "streams": streams,
    "working-set": working_set,
    "queue": queue,
    "forms": forms,
    "refusals": refusals,
    "sessions": sessions,
    "start": start,
    "preload": preload,
    "idle": idle,
    "large-host": large_host,
    "threads": threads,
    "waiting": waiting,
    "memory": memory,
    "remote": remote,
}
