"""What the SDK needs as it is written in C, wherever a library has put something else in its place."""

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from queue import SimpleQueue
    from socket import socket
else:
    SimpleQueue = importlib.import_module("_queue").SimpleQueue
    socket = importlib.import_module("_socket").socket

__all__ = ["SimpleQueue", "socket"]
