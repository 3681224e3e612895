"""Arrays: their form in a message, and their conversion from and to the arrays of Python's libraries."""

import functools
import importlib
import math
import sys
from typing import Any, Dict, Optional, Sequence, Tuple

from .._process.diagnostics import type_name
from .json_rules import place

MAX_DIMENSIONS = 32
_MAX_BYTES = 2**63 - 1
_MEMBERS = frozenset(("$array", "dtype", "shape"))
_KINDS = "|b1 |i1 <i2 <i4 <i8 |u1 <u2 <u4 <u8 <f2 <f4 <f8 <c8 <c16"
_ITEM_SIZES = {name: int(name[2:]) for name in _KINDS.split()}

# The element types of buffers: the kind of number for each character of the struct module.
_BUFFER_KINDS = {"?": "b", **dict.fromkeys("bhilqn", "i"), **dict.fromkeys("cBHILQN", "u"), **dict.fromkeys("efd", "f")}
_BUFFER_KINDS.update(Zf="c", Zd="c")

# The kinds of numpy's types that have a form in JSON: text, bytes, times, records.
_LISTED_KINDS = "USMmV"


class ArrayError(TypeError):
    """An object is no array that can travel, or a message holds a malformed one."""


class Array:
    """An n-dimensional array, as it travels: made by skep.array(), or an argument of a worker without numpy.

    `dtype` is the type of the elements as numpy writes it, such as "<f4"; `shape` is a tuple; `data` is a memoryview of
    the bytes, in row-major order. `data.cast("f")` shows float32 elements as numbers; numpy.asarray() takes an Array.
    """

    __module__ = "skep"

    __slots__ = ("dtype", "shape", "data")

    def __init__(self, dtype: str, shape: Sequence[int], data: memoryview) -> None:
        problem = _find_problem(dtype, shape, data.nbytes)
        if problem is not None:
            raise ArrayError(problem)
        self.dtype = dtype
        self.shape: Tuple[int, ...] = tuple(shape)
        self.data = data

    @property
    def __array_interface__(self) -> Dict[str, Any]:
        """The array protocol of numpy."""
        return {"version": 3, "typestr": self.dtype, "shape": self.shape, "data": self.data}

    def __repr__(self) -> str:
        return f"skep.Array(dtype={self.dtype!r}, shape={self.shape})"


def array(source: Any) -> Array:
    """Wraps an array, to send it as bytes beside the JSON instead of as a list of numbers.

        return {"samples": skep.array(array.array("f", samples))}

    A numpy array needs no wrapper: it always travels as bytes. Elements are booleans, integers of 8 to 64 bits, floats
    of 16, 32 or 64 bits, or complex numbers of two floats of 32 or 64 bits. An array that is not contiguous in
    row-major order, or not little-endian, is copied; every other array is sent from its own memory.

    Args:
        source: an object with the buffer protocol (array.array, memoryview, bytes) or with numpy's `__array_interface__`
            or `__array__` (a tensor of torch on the CPU).
    Returns:
        The array, for a result, a chunk or an argument of a tool.
    Raises:
        TypeError: the object is no array, or the type of its elements cannot travel.
    """
    try:
        return to_array(source)
    except ArrayError as error:
        raise TypeError(str(error)) from None


def to_array(source: Any) -> Array:
    """Returns array() of a source. Raises ArrayError instead of TypeError."""
    if type(source) is Array:
        return source
    if is_numpy_array(type(source)):
        return _of_numpy(source)
    try:
        view = memoryview(source)
    except TypeError:
        return _of_interface(source)
    return _of_view(view)


def flat(view: memoryview) -> memoryview:
    """Returns the bytes of a view in row-major order, without a copy if possible."""
    # cast() requires a contiguous view without empty dimensions, of a native format.
    can_cast = view.c_contiguous and view.nbytes and len(view.format.lstrip("@")) == 1
    return view.cast("B") if can_cast else memoryview(view.tobytes())


def _of_view(view: memoryview) -> Array:
    code = view.format.lstrip("@=<")
    kind = _BUFFER_KINDS.get(code)
    if kind is None:
        raise ArrayError(f"elements of format {view.format!r} cannot travel; convert them to a number type")
    order = "|" if view.itemsize == 1 else "<"
    return Array(f"{order}{kind}{view.itemsize}", view.shape or (), flat(view))


def _of_numpy(source: Any) -> Array:
    numpy = sys.modules["numpy"]
    dtype = source.dtype.newbyteorder("<")
    if dtype.str not in _ITEM_SIZES:
        raise ArrayError(f"an array of dtype {source.dtype} cannot travel; convert it by astype(), or return tolist()")
    contiguous = numpy.asarray(source, dtype, order="C")
    return Array(dtype.str, source.shape, contiguous.reshape(-1).view(numpy.uint8).data)


def _of_interface(source: Any) -> Array:
    interface = getattr(source, "__array_interface__", None)
    numpy = load_numpy() if interface is not None or hasattr(source, "__array__") else None
    if numpy is not None:
        return _of_numpy(numpy.asarray(source))
    if type(interface) is not dict:
        raise ArrayError(f"skep.array() takes an array, not {type_name(type(source))}; array.array() makes one of a list")
    if interface.get("strides") is not None:
        raise ArrayError("an array that is not contiguous needs numpy to travel")
    shape, name = interface["shape"], interface["typestr"]
    return Array(name, shape, _interface_data(interface["data"], math.prod(shape) * _ITEM_SIZES.get(name, 0)))


def _interface_data(data: Any, size: int) -> memoryview:
    if not isinstance(data, tuple):
        return flat(memoryview(data))
    import ctypes

    return memoryview(ctypes.string_at(data[0], size))


@functools.lru_cache(maxsize=None)
def load_numpy() -> Any:
    """Returns numpy, None if it is not installed."""
    try:
        return importlib.import_module("numpy")  # no import statement: type checkers need not find numpy
    except ImportError:
        return None


def is_numpy_array(kind: type) -> bool:
    """Returns true for numpy's arrays, but not for masked arrays: their data says nothing about the mask."""
    numpy: Any = sys.modules.get("numpy")
    return numpy is not None and issubclass(kind, numpy.ndarray) and not issubclass(kind, numpy.ma.MaskedArray)


def to_sendable(source: Any) -> Any:
    """Returns a numpy array as an Array, or as a list if its elements are text, bytes, times or records."""
    return source.tolist() if source.dtype.kind in _LISTED_KINDS else _of_numpy(source)


def form(value: Array, index: int) -> Dict[str, Any]:
    """Returns the JSON that stands for an array, whose bytes are the attachment of that index."""
    return {"$array": {"$attachment": index}, "dtype": value.dtype, "shape": list(value.shape)}


def has_form(value: Dict[Any, Any]) -> bool:
    """Returns true for a dict that stands for an array if its `$array` refers to an attachment."""
    return len(value) == len(_MEMBERS) and "$array" in value and value.keys() == _MEMBERS


def from_form(value: Dict[str, Any], data: memoryview, path: Sequence[Any]) -> Any:
    """Returns the array that a dict stands for: a read-only array of numpy if it is installed, else an Array.

    Raises ArrayError, with the place at the end of `path`, if the array is malformed.
    """
    dtype, shape = value["dtype"], value["shape"]
    problem = _find_problem(dtype, shape, data.nbytes)
    if problem is not None:
        raise ArrayError(f"{place(str(path[0]), path[1:])} is malformed: {problem}")
    numpy = load_numpy()
    if numpy is None:
        return Array(dtype, shape, data)
    try:
        received = numpy.ndarray(tuple(shape), dtype, data)
    except (TypeError, ValueError) as error:  # beyond the limits of this version of numpy
        raise ArrayError(f"{place(str(path[0]), path[1:])} is no array for numpy: {error}") from None
    return received if received.flags.aligned else _read_only(received.copy())


def _read_only(copy: Any) -> Any:
    copy.flags.writeable = False
    return copy


def _find_problem(dtype: Any, shape: Any, size: int) -> Optional[str]:
    """Returns the reason why an array cannot have this type, shape and number of bytes."""
    if type(dtype) is not str or dtype not in _ITEM_SIZES:
        return f"its dtype must be one of {', '.join(_ITEM_SIZES)}, not {dtype!r}"
    if not isinstance(shape, (list, tuple)) or len(shape) > MAX_DIMENSIONS:
        return f"its shape must be a list of at most {MAX_DIMENSIONS} extents"
    if any(type(extent) is not int or extent < 0 for extent in shape):
        return "each extent of its shape must be an integer, 0 or more"
    is_too_large = _ITEM_SIZES[dtype] * math.prod(filter(None, shape)) > _MAX_BYTES
    needed = f"more than {_MAX_BYTES}" if is_too_large else _ITEM_SIZES[dtype] * math.prod(shape)
    return None if needed == size else f"dtype {dtype} and shape {list(shape)} take {needed} bytes, but its data has {size}"
