"""Memory of user code that becomes an attachment without a copy."""

import operator
from typing import TYPE_CHECKING, Optional

from .._wire.channel import allocate
from .call import uninterrupted_here

if TYPE_CHECKING:
    from .._wire.shared_memory import SharedMemory

_memory: "Optional[SharedMemory]" = None  # of this worker and its host


def connect(memory: "SharedMemory") -> None:
    """Lets shared() use the memory that this worker shares with its host."""
    global _memory
    _memory = memory


def shared(nbytes: int) -> memoryview:
    """Returns memory that becomes an attachment without a copy, if the host shares memory.

        image = numpy.ndarray((height, width), "f4", skep.shared(height * width * 4))

    Return it, yield it or pass it to a tool: the memory itself, a slice of an eighth of it or more, or an array over it.
    Its bytes then are as they were in this moment: later changes stay in this worker, and take memory of their own, page
    by page. So memory is passed on once. Later uses are copies, as are small slices, memory that another process or a
    device has mapped, and ordinary memory.
    This function returns ordinary memory outside of a pool, before the on_start hooks, in a forked child, and with a size
    that the host does not share.

    Args:
        nbytes: the size, 1 or more.
    Returns:
        A writable view of bytes, all 0. The memory is freed with the last view of it.
    Raises:
        ValueError: `nbytes` is less than 1.
        TypeError: `nbytes` is not an integer.
        MemoryError: there is too little memory.

    Thread-safe.
    """
    size = operator.index(nbytes)
    if size < 1:
        raise ValueError(f"shared memory has 1 byte or more, not {size}")
    view = None
    if _memory is not None:
        with uninterrupted_here():
            view = _memory.make(size)
    return allocate(size) if view is None else view
