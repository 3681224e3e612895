"""Tells what this process has got of the process that started it."""

import ctypes
import os
import resource
import sys

import skep

worker = skep.Worker()
libc = ctypes.CDLL(None, use_errno=True)
PR_GET_TIMERSLACK = 30
SYS_IOPRIO_GET = {"x86_64": 252, "aarch64": 31}.get(os.uname().machine)
SYS_GET_MEMPOLICY = {"x86_64": 239, "aarch64": 236}.get(os.uname().machine)


def text_of(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def status(key):
    return next(line.split(":")[1].strip() for line in text_of("/proc/self/status").splitlines()
                if line.startswith(key + ":"))


def memory_policy():
    mode = ctypes.c_int()
    nodes = (ctypes.c_ulong * 16)()
    failed = libc.syscall(SYS_GET_MEMPOLICY, ctypes.byref(mode), nodes, 1024, None, 0)
    return None if failed else [mode.value, nodes[0]]


@worker.command
def surroundings():
    return {
        "directory": os.getcwd(),
        "argv0": text_of("/proc/self/cmdline").split("\0")[0],
        "executable": sys.executable,
        "prefix": sys.prefix,
        "base_prefix": sys.base_prefix,
        "cpus": sorted(os.sched_getaffinity(0)),
        "policy": os.sched_getscheduler(0),
        "niceness": os.getpriority(os.PRIO_PROCESS, 0),
        "io_priority": libc.syscall(SYS_IOPRIO_GET, 1, 0),
        "timer_slack": libc.prctl(PR_GET_TIMERSLACK, 0, 0, 0, 0),
        "memory_policy": memory_policy(),
        "umask": status("Umask"),
        "files": list(resource.getrlimit(resource.RLIMIT_NOFILE)),
        "core": list(resource.getrlimit(resource.RLIMIT_CORE)),
        "session": os.getsid(0) == os.getpid(),
        "group": os.getpgrp() == os.getpid(),
        "terminal": text_of("/proc/self/stat").rpartition(")")[2].split()[4],
        "personality": text_of("/proc/self/personality").strip(),
        "oom_score": text_of("/proc/self/oom_score_adj").strip(),
        "capabilities": [status(key) for key in ("CapInh", "CapBnd", "CapAmb", "NoNewPrivs", "Seccomp")],
        "user": [os.getuid(), os.geteuid(), os.getgid(), os.getgroups()],
        "cgroup": text_of("/proc/self/cgroup"),
        "namespaces": {name: os.readlink("/proc/self/ns/" + name) for name in ("mnt", "net", "pid", "user", "uts")},
    }


@worker.command
def variables():
    return dict(os.environ)


@worker.command
def read_terminal():
    """As a program does that asks for a password."""
    try:
        with open("/dev/tty", "rb", buffering=0) as terminal:
            return terminal.read(1).decode()
    except OSError as error:
        return type(error).__name__


@worker.command
def die():
    os._exit(1)


worker.run()
