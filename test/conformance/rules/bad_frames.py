"""A host that breaks the protocol is none; a worker that goes on all the same may do anything."""

from hosting import Broken
from hosting.frames import HEADER, raw_frame

from .registry import rule


def gives_up(host, data, over_control=False):
    host.send_raw(host.program.control if over_control else host.program.data, data)
    if host.exit_status() == 0:
        raise Broken("it exits with status 0, as if all were well")


@rule("gives up on a frame whose JSON is longer than the frame")
def bad_length(stage):
    gives_up(stage.ready(), HEADER.pack(10, 7) + b"{}    ")


@rule("gives up on a frame that has no room for the length of its JSON")
def short_frame(stage):
    gives_up(stage.ready(), HEADER.pack(3, 0) + b"{}    ")


@rule("gives up on a frame that holds no JSON")
def bad_json(stage):
    gives_up(stage.ready(), raw_frame(b'{"type":"call","id":1,'))


@rule("gives up on a frame that holds no object")
def no_object(stage):
    gives_up(stage.ready(), raw_frame(b"[]"))


@rule("gives up on attachments that do not add up")
def bad_attachments(stage):
    call = b'{"type":"call","id":1,"command":"echo","args":{"value":1},"attachments":[2]}'
    gives_up(stage.ready(), raw_frame(call, b"123"))


@rule("gives up on a message of an unknown type")
def unknown_message(stage):
    gives_up(stage.ready(), raw_frame(b'{"type":"moon"}'))


@rule("gives up on bad frames over the control channel, too")
def bad_control(stage):
    gives_up(stage.ready(), raw_frame(b"{"), over_control=True)
