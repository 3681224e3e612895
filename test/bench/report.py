"""Runs the benchmarks and prints their table: report.py --build DIR [--json FILE] [--quick] [--pin CPUS] [CASE...]

Every side of a comparison is a program that measures one round and prints a line of JSON. The sides take turns,
round by round, so that whatever else happens on the machine happens to all of them alike; a figure is the median
of its rounds, its ratio that median divided by its counterpart's. Beside a ratio stands the middle half of the
ratios of the rounds. If the rounds do not agree on the side that is ahead, the ratio is marked.
"""

import argparse
import contextlib
import ctypes
import json
import os
import pathlib
import resource
import signal
import subprocess
import sys
import time

import cases
from spread import Usage, busy_ticks, noise, ratio_of, spread_of

ROUND_LIMIT = 180  # seconds
PR_SET_CHILD_SUBREAPER = 36


class Failure(Exception):
    pass


# --- Processes: none is left behind, neither by a round nor by an interrupt --------------------------------------------


def adopt_orphans():
    if ctypes.CDLL(None, use_errno=True).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) != 0:
        raise Failure("prctl(PR_SET_CHILD_SUBREAPER) failed")


def has_children():
    try:
        while os.waitpid(-1, os.WNOHANG)[0] != 0:
            pass
        return True
    except ChildProcessError:
        return False


def children():
    own = os.getpid()
    for entry in pathlib.Path("/proc").iterdir():
        with contextlib.suppress(OSError, ValueError):
            if entry.name.isdigit() and int((entry / "stat").read_text().rpartition(")")[2].split()[1]) == own:
                yield int(entry.name)


def kill_children():
    while has_children():
        for pid in children():
            with contextlib.suppress(OSError):
                os.kill(pid, signal.SIGKILL)
        time.sleep(0.01)


def require_no_children(command):
    end = time.monotonic() + 60
    while has_children():
        if time.monotonic() > end:
            raise Failure(f"{command[0]} left processes behind: {list(children())}")
        time.sleep(0.01)


def measure(command, pin):
    """One round of one side: its figures by key."""
    core = {min(os.sched_getaffinity(0))}
    run = subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        text=True,
        preexec_fn=(lambda: os.sched_setaffinity(0, core)) if pin else None,
    )
    try:
        output, _ = run.communicate(timeout=ROUND_LIMIT)
    except subprocess.TimeoutExpired:
        raise Failure(f"{' '.join(command)} took longer than {ROUND_LIMIT} s") from None
    if run.returncode != 0:
        raise Failure(f"{' '.join(command)} ended with status {run.returncode}")
    require_no_children(command)
    return json.loads(output)


# --- Comparisons and their records ---------------------------------------------------------------------------------


def usage():
    """The use of the machine until now. On Linux only."""
    with open("/proc/stat") as stat:
        busy = sum(busy_ticks(stat.readline())) / os.sysconf("SC_CLK_TCK")
    times = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return Usage(busy, sum(each.ru_utime + each.ru_stime for each in times), time.monotonic())


def compare(comparison):
    """The rounds of a comparison: per side and key, the values."""
    rounds = {name: [] for name in comparison.sides}
    order = list(comparison.sides)
    for _ in range(comparison.rounds):
        for name in order:
            rounds[name].append(measure(comparison.sides[name], comparison.pin))
        order.append(order.pop(0))  # nobody always comes first
    return {
        name: {key: [each[key] for each in results] for key in results[0]}
        for name, results in rounds.items()
    }


def records(comparison, rounds):
    """Per figure and counterpart: what goes into the JSON, and the counterpart's value for the table."""
    for figure in comparison.figures:
        values = rounds[figure.side][figure.key]
        value = spread_of(values)
        record = {"name": figure.name, "value": value.median, "low": value.low, "high": value.high, "unit": figure.unit}
        if not figure.versus:
            yield {**record, "versus": "-", "ratio": None}, None
        for label, side, key in figure.versus:
            others = rounds[side][key]
            compared = {"versus": label, "ratio": None}
            if all(others):
                ratio = ratio_of(values, others)
                compared.update(ratio=ratio.value, ratio_low=ratio.low, ratio_high=ratio.high, clear=ratio.is_clear)
            yield {**record, **compared}, spread_of(others).median


# --- The table ---------------------------------------------------------------------------------------------------------


def in_words(number, unit=""):
    if number is None:
        return "-"
    digits = max(0, 2 - len(str(int(abs(number)))) + 1)
    return f"{number:,.{digits}f} {unit}".rstrip()


ROW = "{:<46} {:>17} {:>8}   {:<28} {:>18} {:>7}  {}"


def relative(record):
    """The width of the middle half of the rounds, as a share of the median."""
    return f"{(record['high'] - record['low']) / record['value']:.0%}" if record["value"] else "-"


def in_rounds(record):
    """The middle half of the ratios of the rounds, and a mark if it says nothing."""
    if record["ratio"] is None:
        return ""
    mark = "" if record["clear"] else " no clear difference"
    return f"{record['ratio_low']:.2f}..{record['ratio_high']:.2f}{mark}"


def print_row(record, other):
    ratio = "-" if record["ratio"] is None else f"{record['ratio']:.2f}"
    value = in_words(record["value"], record["unit"])
    row = ROW.format(
        record["name"], value, relative(record), record["versus"], in_words(other), ratio, in_rounds(record)
    )
    print(row.rstrip(), flush=True)


def run_cases(chosen, settings):
    found = []
    print("Medians; spread: the middle half of the rounds. ratio = value / its value, and the middle half of the rounds'")
    print("own ratios. More is better for calls/s, chunks/s and MB/s, less for everything else.\n")
    print(ROW.format("figure", "value", "spread", "versus", "its value", "ratio", "in the rounds"))
    for name in chosen:
        begin = usage()
        for comparison in cases.CASES[name](settings):
            for record, other in records(comparison, compare(comparison)):
                found.append(record)
                print_row(record, other)
        cost = noise(begin, usage(), os.cpu_count())
        print(
            f"bench: {name} took {cost['wall_s']:.0f} s and {cost['cpu_s']:.0f} s of CPU time; others used "
            f"{cost['others']:.0%} of the processors; load average {os.getloadavg()[0]:.1f}",
            file=sys.stderr,
        )
    return found


def cpu_set(text):
    """The CPUs of "0" or "0,1"."""
    try:
        chosen = {int(each) for each in text.split(",")}
    except ValueError:
        raise argparse.ArgumentTypeError(f"'{text}' is no list of CPU numbers, such as 0,1") from None
    if not chosen <= os.sched_getaffinity(0):
        raise argparse.ArgumentTypeError(f"this process may only use {sorted(os.sched_getaffinity(0))}")
    return chosen


def main():
    parser = argparse.ArgumentParser(
        prog="test/bench/run", description="Measures skep against what users would use instead."
    )
    parser.add_argument("--build", type=pathlib.Path, required=True, help=argparse.SUPPRESS)
    parser.add_argument("--json", metavar="FILE", help="also write the figures there, as a list of records")
    parser.add_argument("--quick", action="store_true", help="few and short rounds: does it work, not how fast")
    parser.add_argument("--pin", metavar="CPUS", type=cpu_set, help="run all programs on these CPUs, such as 0,1")
    parser.add_argument("cases", metavar="CASE", nargs="*", help="of " + ", ".join(cases.CASES) + "; default: all")
    options = parser.parse_args()
    unknown = set(options.cases) - set(cases.CASES)
    if unknown:
        parser.error(f"no case named {', '.join(sorted(unknown))}; there are {', '.join(cases.CASES)}")
    if options.quick or os.getloadavg()[0] > 0.5:
        reason = "--quick" if options.quick else f"load average {os.getloadavg()[0]:.1f}"
        print(f"bench: NOISY figures ({reason})", file=sys.stderr)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    adopt_orphans()
    if options.pin:
        os.sched_setaffinity(0, options.pin)
    try:
        found = run_cases(options.cases or cases.CASES, cases.Settings(options.build, options.quick))
    except Failure as failure:
        sys.exit(f"bench: {failure}")
    except BrokenPipeError:  # nobody reads the table any more
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(141)
    except KeyboardInterrupt:
        sys.exit(130)
    finally:
        kill_children()
    if options.json:
        pathlib.Path(options.json).write_text(json.dumps(found, indent=2) + "\n")


if __name__ == "__main__":
    main()
