"""Tensor maps: what the copy engine must know of an array, as the driver encodes it.

Source: CUDA driver API, cuTensorMapEncodeTiled.
"""

import ctypes
from itertools import accumulate
from operator import mul
from typing import Any

from mdh.device.cuda_driver import driver, must
from mdh.ir.copy_engine import TensorMap
from mdh.ir.dtype import (
    BF16,
    F8E4M3,
    F8E5M2,
    F16,
    F32,
    F64,
    I8,
    I16,
    I32,
    I64,
    TF32,
    U8,
    U16,
    U32,
    U64,
)

TYPES = {
    F8E4M3: 0, F8E5M2: 0,
    U8: 0, I8: 0, U16: 1, I16: 1, U32: 2, I32: 3, U64: 4, I64: 5, F16: 6, F32: 7, F64: 8, BF16: 9,
    TF32: 11,
}  # fmt: skip
"""CUtensorMapDataType. Elements are only moved, so that bytes of either sign are the same; only those of f32
that are read as tf32 are rounded to it."""
SWIZZLES = {0: 0, 32: 1, 64: 2, 128: 3}
"""CUtensorMapSwizzle, by bytes of its span."""
PROMOTION = 2
"""CU_TENSOR_MAP_L2_PROMOTION_L2_128B. Wider ones fetch too much of rows that begin at odd multiples of 16
bytes:
a product of such factors took 906 instead of 756 us."""
_SIZE, _ALIGN = 128, 64
"""Bytes of CUtensorMap."""


def encoded_map(said: TensorMap, address: int) -> Any:
    """The argument of a kernel, for the array at an address in device memory. Raises DriverError."""
    memory = (ctypes.c_char * (_SIZE + _ALIGN))()
    out = (ctypes.c_char * _SIZE).from_buffer(memory, -ctypes.addressof(memory) % _ALIGN)
    rank = len(said.shape)
    extents = tuple(reversed(said.shape))
    pitches = [n * said.dtype.bytes for n in accumulate(extents, mul)][:-1]
    longs, words = ctypes.c_uint64 * rank, ctypes.c_uint32 * rank
    status = driver().cuTensorMapEncodeTiled(
        out, TYPES[said.dtype], rank, ctypes.c_void_p(address), longs(*extents), longs(*pitches, 0),
        words(*reversed(said.passed)), words(*reversed(said.steps or (1,) * rank)), 0,
        SWIZZLES[said.swizzle], PROMOTION, 0,
    )  # fmt: skip
    must(status)
    return out
