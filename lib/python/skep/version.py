"""The versions of this package and of the wire protocol it speaks."""

__version__ = "0.1.0"
PROTOCOL_VERSION = 1
