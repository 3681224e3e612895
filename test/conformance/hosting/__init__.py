"""Plays the host of one worker, for the rules to be tried on it."""

from .host import Host
from .outcome import Broken, NotApplicable
from .stage import Stage

__all__ = ["Broken", "Host", "NotApplicable", "Stage"]
