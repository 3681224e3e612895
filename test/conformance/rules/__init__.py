"""The rules of PROTOCOL.md for workers, by topic."""

from .registry import RULES, Rule

# Each of them registers its rules; they are tried in this order.
from . import start, calls, attachments, shared, limits, control, cancels, recalls, streams, progress, tools, endings, bad_frames

__all__ = ["RULES", "Rule"]
