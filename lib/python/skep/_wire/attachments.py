"""Attachments of the messages that a worker sends: in the frame, or in memory that it shares with its host."""

from typing import Callable, List, Sequence, Union


class SharedAttachment:
    """An attachment that lies in shared memory, not in the frame of its message."""

    __slots__ = ("nbytes", "item", "__weakref__")

    nbytes: int
    item: bytes  # stands for the attachment in the message

    def __len__(self) -> int:
        """The bytes of the frame that the attachment takes."""
        return 0

    def prepare(self) -> None:
        """Completes the item. Called once, directly before the frame is sent, with the channel's lock held."""


Attachment = Union[memoryview, SharedAttachment]

# Moves attachments of a message to shared memory, as far as there is room.
Share = Callable[[Sequence[memoryview]], Sequence[Attachment]]


def keep_in_frame(attachments: Sequence[memoryview]) -> Sequence[Attachment]:
    """Share without shared memory."""
    return attachments


def attachment_member(attachments: Sequence[Attachment]) -> List[bytes]:
    """Returns the member of a message that describes its attachments, in parts; nothing if there are none.

    The items of shared attachments are parts of their own, because prepare() may complete them.
    """
    if not attachments:
        return []
    parts: List[bytes] = []
    text: List[bytes] = []
    separator = b',"attachments":['
    for attachment in attachments:
        text.append(separator)
        separator = b","
        if isinstance(attachment, SharedAttachment):
            parts += (b"".join(text), attachment.item)
            text.clear()
        else:
            text.append(b"%d" % len(attachment))
    text.append(b"]")
    return [*parts, b"".join(text)]


def prepare(attachments: Sequence[Attachment]) -> List[memoryview]:
    """Prepares the shared attachments of a message for sending. Returns the others."""
    in_frame: List[memoryview] = []
    for attachment in attachments:
        if isinstance(attachment, SharedAttachment):
            attachment.prepare()
        else:
            in_frame.append(attachment)
    return in_frame


def message_size(body: Sequence[bytes], attachments: Sequence[Attachment]) -> int:
    """Returns the bytes of a message: its JSON and all its attachments. The credit of a stream counts them."""
    size = sum(map(len, body))
    return size + sum(attachment.nbytes for attachment in attachments) if attachments else size
