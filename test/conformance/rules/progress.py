"""Reports of progress."""

from hosting import Broken

from .registry import rule


@rule("reports progress before it answers")
def progress(stage):
    host = stage.ready()
    call = host.call("report", steps=3)
    host.result(call)
    fractions = [report["fraction"] for report in host.referee.calls[call].progress]
    if not fractions or fractions != sorted(fractions):
        raise Broken(f"the fractions that it reports are {fractions}")
    host.serves()
