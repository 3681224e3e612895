"""Runs the benchmarks and prints their table: report.py --build DIR [--json FILE] [--quick] [CASE...]

Every side of a comparison is a program that measures one round and prints a line of JSON. The sides take turns,
round by round, so that whatever else happens on the machine happens to all of them alike; a figure is the median
of its rounds, its ratio that median divided by its counterpart's.
"""

import argparse
import contextlib
import ctypes
import json
import os
import pathlib
import signal
import statistics
import subprocess
import sys
import time

import cases

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
    end = time.monotonic() + 3
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


def compare(comparison):
    """The rounds of a comparison: per side and key, the median."""
    rounds = {name: [] for name in comparison.sides}
    order = list(comparison.sides)
    for _ in range(comparison.rounds):
        for name in order:
            rounds[name].append(measure(comparison.sides[name], comparison.pin))
        order.append(order.pop(0))  # nobody always comes first
    return {
        name: {key: statistics.median(each[key] for each in results) for key in results[0]}
        for name, results in rounds.items()
    }


def records(comparison, medians):
    """Per figure and counterpart: what goes into the JSON, and the counterpart's value for the table."""
    for figure in comparison.figures:
        value = medians[figure.side][figure.key]
        record = {"name": figure.name, "value": value, "unit": figure.unit, "versus": "-", "ratio": None}
        if not figure.versus:
            yield record, None
        for label, side, key in figure.versus:
            other = medians[side][key]
            yield {**record, "versus": label, "ratio": value / other if other else None}, other


# --- The table ---------------------------------------------------------------------------------------------------------


def in_words(number, unit=""):
    if number is None:
        return "-"
    digits = max(0, 2 - len(str(int(abs(number)))) + 1)
    return f"{number:,.{digits}f} {unit}".rstrip()


ROW = "{:<46} {:>17}   {:<28} {:>18} {:>7}"


def print_row(record, other):
    ratio = "-" if record["ratio"] is None else f"{record['ratio']:.2f}"
    print(
        ROW.format(
            record["name"], in_words(record["value"], record["unit"]), record["versus"], in_words(other), ratio
        ),
        flush=True,
    )


def run_cases(chosen, settings):
    found = []
    print("Medians; ratio = value / its value. More is better for calls/s and chunks/s, less for everything else.\n")
    print(ROW.format("figure", "value", "versus", "its value", "ratio"))
    for name in chosen:
        begin = time.monotonic()
        for comparison in cases.CASES[name](settings):
            for record, other in records(comparison, compare(comparison)):
                found.append(record)
                print_row(record, other)
        print(f"bench: {name} took {time.monotonic() - begin:.0f} s", file=sys.stderr)
    return found


def main():
    parser = argparse.ArgumentParser(
        prog="test/bench/run", description="Measures skep against what users would use instead."
    )
    parser.add_argument("--build", type=pathlib.Path, required=True, help=argparse.SUPPRESS)
    parser.add_argument("--json", metavar="FILE", help="also write the figures there, as a list of records")
    parser.add_argument("--quick", action="store_true", help="few and short rounds: does it work, not how fast")
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
