"""Attachments of calls and results."""

import hashlib
import os

from hosting import Broken

from .registry import rule


def echo(host, parts):
    answer = host.result(host.call("echo", value=None, attachments=parts))
    sizes = [len(part) for part in answer.attachments]
    if sizes != [len(part) for part in parts]:
        raise Broken(f"attachments of {[len(part) for part in parts]} bytes come back with {sizes} bytes")
    if list(answer.attachments) != parts:
        raise Broken(f"attachments of {sizes} bytes come back changed")


@rule("takes and sends attachments, empty ones among them")
def attachments(stage):
    host = stage.ready()
    echo(host, [b"12345", b"", bytes(range(256)) * 4])
    echo(host, [b""])
    host.serves()


@rule("takes and sends attachments of megabytes")
def large_attachments(stage):
    block = hashlib.sha256(b"skep").digest() * (1 << 15)
    echo(stage.ready(), [block[:-1], os.urandom(3), block])


@rule("takes attachments with a call that makes no use of them")
def unused_attachments(stage):
    host = stage.ready()
    host.result(host.call("add", a=1, b=2, attachments=[b"\0\0\0\4\0\0\0\2{}"]))
    host.serves()
