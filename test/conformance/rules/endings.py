"""What ends a worker."""

import signal

from hosting import Broken
from hosting.host import AMPLE, QUIET

from .registry import rule

HOST_GONE = 70


def expect_orderly_end(host):
    status = host.exit_status()
    if status != 0:
        raise Broken(f"it exits with status {status} instead of 0")


def expect_end_without_host(host):
    status = host.exit_status()
    if status not in (HOST_GONE, -signal.SIGKILL):  # the latter takes what the worker has started with it
        raise Broken(f"it exits with status {status} instead of {HOST_GONE}")


@rule("exits with status 0 on shutdown")
def shutdown(stage):
    host = stage.ready()
    host.value("add", a=1, b=2)
    host.shutdown()
    expect_orderly_end(host)


@rule("finishes on shutdown what is running")
def shutdown_busy(stage):
    stage.need_control_channel()
    host = stage.ready()
    call = host.call("slow", ms=host.noticeable)
    host.until_busy()
    host.shutdown()
    host.result(call)
    expect_orderly_end(host)


@rule("finishes on shutdown a call that waits for the host's answer")
def shutdown_asking(stage):
    host = stage.ready()
    call = host.call("ask", name="lookup", args={})
    asked = host.tool_call()
    host.shutdown()
    host.listen(QUIET)
    host.answer_tool(asked, 7)
    host.result(call)
    expect_orderly_end(host)


@rule("begins nothing new after shutdown")
def shutdown_waiting(stage):
    stage.need_control_channel()
    host = stage.ready()
    running = [host.call("slow", ms=host.noticeable) for _ in range(host.referee.capacity)]
    waiting = host.call("add", a=1, b=2)
    host.until_busy(len(running))
    host.shutdown()
    for call in running:
        host.result(call)
    expect_orderly_end(host)
    answer = host.referee.calls[waiting].answer
    if answer and answer.message["type"] == "result":
        raise Broken("a call that was waiting has been done after the shutdown")


@rule("finishes on shutdown a stream that waits for credit")
def shutdown_stream(stage):
    host = stage.ready()
    call = host.call("tokens", count=10, stream={**AMPLE, "chunks": 1})
    host.chunks(call, 1)
    host.shutdown()
    host.grant(call, 100, 0)
    host.result(call)
    host.chunks(call, 10)
    expect_orderly_end(host)


@rule("ends on SIGTERM")
def sigterm(stage):
    host = stage.ready()
    host.program.terminate()
    host.exit_status()


@rule("ends on SIGTERM in the middle of a call")
def sigterm_busy(stage):
    host = stage.ready()
    host.call("slow", ms=int(host.patience * 4000))
    host.listen(QUIET)
    host.program.terminate()
    host.exit_status()


@rule("exits with status 70 when the host is gone")
def host_gone(stage):
    host = stage.ready()
    for channel in host.program.channels:
        host.close(channel)
    expect_end_without_host(host)


@rule("exits with status 70 when the data channel ends")
def data_ends(stage):
    host = stage.ready()
    host.close(host.program.data)
    expect_end_without_host(host)


@rule("exits with status 70 when the control channel ends")
def control_ends(stage):
    stage.need_control_channel()
    host = stage.ready()
    host.close(host.program.control)
    expect_end_without_host(host)


@rule("exits with status 70 when the control channel ends in the middle of a call")
def control_ends_busy(stage):
    stage.need_control_channel()
    host = stage.ready()
    host.call("slow", ms=int(host.patience * 4000))
    host.until_busy()
    host.close(host.program.control)
    expect_end_without_host(host)


@rule("exits when the host is gone while it waits for the host's answer")
def host_gone_asking(stage):
    host = stage.ready()
    host.call("ask", name="lookup", args={})
    host.tool_call()
    for channel in host.program.channels:
        host.close(channel)
    expect_end_without_host(host)


@rule("exits with status 70 when the host is gone before the welcome")
def host_gone_early(stage):
    host = stage.start()
    host.wait_for(lambda: host.referee.hello, "hello")
    for channel in host.program.channels:
        host.close(channel)
    expect_end_without_host(host)
