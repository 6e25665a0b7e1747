"""Addresses of arrays that kernels can take as they are, in a fraction of a microsecond each.

Every call of a kernel asks for them. numpy's own attributes take a microsecond for an address, so the fields
of the array object are read instead, whose order numpy's binary interface fixes. Whatever is not plainly
right gives None: `mdh.device.arrays` then looks closer, and says what is wrong.
"""

import ctypes
import sys
from collections.abc import Callable
from typing import Any

import numpy as np

Reader = Callable[[Any], int | None]
"""The address of an array of the right library, type, shape, layout and place, else None."""
Stream = Callable[[], tuple[int, ...]]
"""The stream that a library of arrays works on now, in the calling thread; none for memory of the host."""
HOST = -1
"""torch's number of the device of host memory."""
_CONTIGUOUS, _ALIGNED, _WRITEABLE = 0x1, 0x100, 0x400
"""NPY_ARRAY_C_CONTIGUOUS, _ALIGNED, _WRITEABLE."""


class _Fields(ctypes.Structure):
    """PyArrayObject_fields of numpy/ndarraytypes.h, up to its flags."""

    _fields_ = [
        ("head", ctypes.c_char * object.__basicsize__),
        ("data", ctypes.c_void_p),
        ("rank", ctypes.c_int),
        ("dimensions", ctypes.c_void_p),
        ("strides", ctypes.c_void_p),
        ("base", ctypes.c_void_p),
        ("descr", ctypes.c_void_p),
        ("flags", ctypes.c_int),
    ]


def _readable() -> bool:
    """Whether the fields lie where they are expected: on CPython, with every numpy so far."""
    if sys.implementation.name != "cpython":
        return False
    one = np.zeros((3, 5), np.float32)
    two = one[:, ::2]
    two.flags.writeable = False
    held, gaps = _Fields.from_address(id(one)), _Fields.from_address(id(two))
    whole = _CONTIGUOUS | _ALIGNED | _WRITEABLE
    return (
        (held.data, held.rank, held.descr) == (one.ctypes.data, 2, id(one.dtype))
        and held.flags & whole == whole
        and gaps.flags & whole == _ALIGNED
    )


_READABLE = _readable()


def host_reader(dtype: np.dtype[Any], shape: tuple[int, ...], *, written: bool) -> Reader:
    """For numpy arrays in row-major order."""
    fields, ndarray, descr = _Fields.from_address, np.ndarray, id(dtype)
    wanted = _CONTIGUOUS | _ALIGNED | (_WRITEABLE if written else 0)

    def read(array: Any) -> int | None:
        if type(array) is not ndarray:
            return None
        found = fields(id(array))
        if found.descr != descr or found.flags & wanted != wanted or array.shape != shape:
            return None
        address: int | None = found.data
        return address

    return read if _READABLE else nothing


def nothing(array: Any) -> int | None:
    """The reader that knows no array."""
    return None


def torch_reader(dtype: np.dtype[Any], shape: tuple[int, ...], number: int, align: int) -> Reader:
    """For torch's tensors on the GPU `number`, or in HOST memory."""
    torch = sys.modules["torch"]
    tensor = torch.Tensor
    # ml_dtypes calls narrow floats as torch does
    wanted = getattr(torch, dtype.name, None)

    def read(array: Any) -> int | None:
        if type(array) is not tensor or array.dtype is not wanted or array.shape != shape:
            return None
        if not (array.is_cpu if number == HOST else array.is_cuda and array.get_device() == number):
            return None
        if not array.is_contiguous() or array.is_neg():
            return None
        address: int = array.data_ptr()
        return None if address % align or not address else address

    return read if wanted is not None else nothing


def cupy_reader(dtype: np.dtype[Any], shape: tuple[int, ...], number: int, align: int) -> Reader:
    """For cupy's arrays on the GPU `number`."""
    ndarray = sys.modules["cupy"].ndarray

    def read(array: Any) -> int | None:
        if type(array) is not ndarray or array.dtype != dtype or array.shape != shape:
            return None
        data = array.data
        if data.device_id != number or not array.flags.c_contiguous:
            return None
        address: int = data.ptr
        return None if address % align else address

    return read


def library_of(kind: type) -> str:
    """`torch`, `cupy`, where a type is theirs and they are loaded."""
    name = str(kind.__module__).partition(".")[0]
    return name if name in sys.modules else ""


def stream_reader(kind: type, spec: str) -> Stream:
    """For arrays of type `kind` on the device `spec`."""
    library, number = library_of(kind), int(spec.partition(":")[2] or 0)
    if spec.startswith("cuda") and library == "torch":
        torch = sys.modules["torch"]
        raw = getattr(torch._C, "_cuda_getCurrentRawStream", None)
        if raw is not None:
            return lambda: (raw(number),)
        return lambda: (int(torch.cuda.current_stream(number).cuda_stream),)
    if spec.startswith("cuda") and library == "cupy":
        current = sys.modules["cupy"].cuda.get_current_stream
        return lambda: (int(current().ptr),)
    return lambda: ()
