"""Environment and handshake."""

import os

from hosting import Broken, NotApplicable
from hosting.host import QUIET

from .registry import rule


@rule("says hello first: with the protocol's version, the token, its process id")
def hello(stage):
    host = stage.start()
    host.wait_for(lambda: host.referee.hello, "hello")
    pid = host.referee.hello["pid"]
    try:
        group = os.getpgid(pid)
    except ProcessLookupError:
        group = None
    if group != host.program.process.pid:
        raise Broken(f"its hello names process {pid}, which is none of those that were started")


@rule("waits for the welcome before it says that it is ready, and says nothing else before")
def handshake_order(stage):
    host = stage.start()
    host.wait_for(lambda: host.referee.hello, "hello")
    host.listen(QUIET)
    host.greet()
    host.listen(QUIET)


@rule("ignores members of the welcome that it does not know")
def welcome_members(stage):
    host = stage.start()
    host.wait_for(lambda: host.referee.hello, "hello")
    host.limits["moon_bytes"] = 1
    host.welcome(previous_exit="segfault", moon={"phase": [0.5]})
    host.wait_for(lambda: host.referee.is_ready, "ready")
    host.serves()


@rule("answers pings that come behind the welcome, before it is ready or soon after")
def early_ping(stage):
    host = stage.start()
    host.wait_for(lambda: host.referee.hello, "hello")
    host.welcome()
    host.pong(host.ping())
    host.wait_for(lambda: host.referee.is_ready, "ready")


@rule("exits with a message, and not with 0, where SKEP_PROTOCOL is a version that it does not know")
def other_version(stage):
    host = stage.start(protocol="4711")
    status = host.exit_status()
    if host.referee.hello:
        raise Broken("it says hello to a host that speaks another version")
    if status == 0:
        raise Broken("it exits with status 0")
    if not stage.output_tail():
        raise Broken("it exits without a message")


@rule("prints nothing to stdout, where that is for frames")
def clean_stdout(stage):
    if not stage.is_stdio:
        raise NotApplicable("stdout is free")
    host = stage.ready()  # anything that is no frame shows in the end
    host.answer(host.call("fail", message="to be logged elsewhere"))
    host.serves()
