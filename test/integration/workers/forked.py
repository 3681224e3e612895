"""A usual worker, forked from a template that is played by hand, without the part of the SDK for it."""

import os
import subprocess
import sys

from template_by_hand import serve_orders

if os.environ.get("SKEP_TEMPLATE"):
    print("the template is up", flush=True)
    serve_orders(os.environ.get("BEHAVIOUR", ""))

import skep  # noqa: E402  because it looks at the environment

worker = skep.Worker()


@worker.command
def facts():
    with open("/proc/self/stat", encoding="utf-8") as file:
        parent = int(file.read().rsplit(")", 1)[1].split()[1])
    with open(f"/proc/{parent}/cmdline", encoding="utf-8") as file:
        command = file.read().split("\0")
    return {"pid": os.getpid(), "parent": parent, "role": command[1], "arguments": sys.argv[1:], "slot": os.environ.get("SLOT")}


@worker.command
def leave(status):
    os._exit(status)


@worker.command
def die(number):
    os.kill(os.getpid(), number)


@worker.command
def say(text):
    print(text)


@worker.command
def start_orphans(count):
    """Starts processes that end without a parent in this group."""
    for _ in range(count):
        between = os.fork()
        if between == 0:
            os.fork()
            os._exit(0)
        os.waitpid(between, 0)


@worker.command
def start_stray():
    """Starts a process that leaves the worker's group."""
    return subprocess.Popen(["sleep", "1000"], start_new_session=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).pid


worker.run()
