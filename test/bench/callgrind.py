"""Counts the instructions of a program with Valgrind, less those of the benchmark's workers."""

import pathlib
import subprocess
import sys

WORKERS = "skep::bench::fake_pool::answer*"  # not the host's: not counted


def quietly(*command):
    """What the command prints. Ends this program if the command fails."""
    run = subprocess.run(command, text=True, capture_output=True, stdin=subprocess.DEVNULL, timeout=600)
    if run.returncode:
        sys.exit(f"{run.stderr}{sys.argv[0]}: failed: {' '.join(map(str, command))}")
    return run.stdout


def profile(folder, program, *arguments, options=()):
    """The path of the profile of one run."""
    file = pathlib.Path(folder) / "-".join(map(str, arguments))
    tool = ("--tool=callgrind", f"--callgrind-out-file={file}", f"--toggle-collect={WORKERS}", "--collect-atstart=yes")
    quietly("valgrind", *tool, *options, program, *map(str, arguments))
    return file
