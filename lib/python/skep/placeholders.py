"""Attachments in the places of a value that stand for them: {"$attachment": 0}"""

from typing import Any, Sequence


def with_attachments(value: Any, attachments: Sequence[Any]) -> Any:
    """The value with each placeholder replaced by its attachment."""
    if type(value) is list:
        return [with_attachments(item, attachments) for item in value]
    if type(value) is not dict:
        return value
    index = value.get("$attachment")
    if len(value) == 1 and type(index) is int and 0 <= index < len(attachments):
        return attachments[index]
    return {key: with_attachments(item, attachments) for key, item in value.items()}
