"""Plays the template of a pool by hand, for programs without the SDK, or without the part of it for templates."""

import fcntl
import json
import os
import signal
import socket
import sys
import time

F_SETSIG, O_ASYNC = 10, 0o20000


def become_worker(line, order, descriptors):
    """Continues as the worker that the order describes."""
    os.setsid()
    for end in descriptors[4:6]:
        fcntl.fcntl(end, fcntl.F_SETOWN, -os.getpid())
        fcntl.fcntl(end, F_SETSIG, signal.SIGKILL)
        fcntl.fcntl(end, fcntl.F_SETFL, os.O_RDWR | O_ASYNC)
    line.close()
    data, control, output, errors = (fcntl.fcntl(each, fcntl.F_DUPFD, 16) for each in descriptors[:4])
    for each in descriptors:
        os.close(each)
    for number, descriptor in ((1, output), (2, errors), (3, data), (4, control)):
        os.dup2(descriptor, number)
        os.close(descriptor)
    for name, value in order["environment"].items():
        if value is None:
            os.environ.pop(name, None)
        else:
            os.environ[name] = value
    sys.argv += order["arguments"]


def fork_worker(line, order, descriptors):
    """Returns in the worker; the template goes on."""
    between = os.fork()
    if between:
        os.waitpid(between, 0)
        return False
    worker = os.fork()
    if worker:
        socket.send_fds(line, [json.dumps({"type": "forked", "pid": worker}).encode()], [os.pidfd_open(worker)])
        os._exit(0)
    become_worker(line, order, descriptors)
    return True


def serve_orders(behaviour=""):
    """Returns in a worker, which has its part of the environment."""
    line = socket.socket(fileno=int(os.environ["SKEP_TEMPLATE_FD"]))
    if behaviour == "slow":
        time.sleep(1000)
    objections = ["3 threads: a, b, c"] if behaviour == "refuse" else []
    report = {"type": "template", "version": 1, "pid": os.getpid(), "objections": objections}
    line.send(json.dumps(report).encode())
    while True:
        text, descriptors, _, _ = socket.recv_fds(line, 1 << 16, 6)
        if not text:
            sys.exit(0)
        if behaviour == "hang":
            time.sleep(1000)
        if behaviour == "lie":
            socket.send_fds(line, [json.dumps({"type": "forked", "pid": os.getppid()}).encode()], [os.pidfd_open(os.getppid())])
        elif behaviour == "fail":
            line.send(json.dumps({"type": "failed", "error": "fork: no"}).encode())
        elif fork_worker(line, json.loads(text), descriptors):
            return
        for each in descriptors:
            os.close(each)
