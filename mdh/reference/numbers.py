"""C's scalar types as numpy types, and their rounding constants."""

import math
import sys
from typing import Any

import ml_dtypes
import numpy as np
from numpy.typing import NDArray

from mdh.ir.dtype import BF16, EIGHTHS, F8E4M3, F8E5M2, F16, F32, F64, DType, integer_range

Array = NDArray[Any]

_FLOATS: dict[DType, np.dtype[Any]] = {
    F8E4M3: np.dtype(ml_dtypes.float8_e4m3fn),
    F8E5M2: np.dtype(ml_dtypes.float8_e5m2),
    F16: np.dtype(np.float16),
    BF16: np.dtype(ml_dtypes.bfloat16),
    F32: np.dtype(np.float32),
    F64: np.dtype(np.float64),
}
_PRECISION = {F8E4M3: 4, F8E5M2: 3, F16: 11, BF16: 8, F32: 24, F64: 53}
_SMALLEST = {
    F8E4M3: 2.0**-9, F8E5M2: 2.0**-16, F16: 2.0**-24, BF16: 2.0**-133, F32: 2.0**-149, F64: 2.0**-1074
}  # fmt: skip
_LARGEST = {
    F8E4M3: 448.0, F8E5M2: 57344.0, F16: 65504.0, BF16: 2.0**128 - 2.0**120, F32: 2.0**128 - 2.0**104,
    F64: sys.float_info.max,
}  # fmt: skip


def numpy_dtype(t: DType) -> np.dtype[Any]:
    """The numpy type of the same width and kind (of bf16 and 8-bit floats: that of ml_dtypes)."""
    return _FLOATS[t] if t.is_float else np.dtype(f"{t.kind}{t.bits}")


def converted(a: Array, t: DType) -> Array:
    """`a` as type `t`, as C converts it; 8-bit floats as mdh.h does, which saturates."""
    held = numpy_dtype(t)
    if a.dtype == held:
        return a
    with np.errstate(all="ignore"):
        if t in EIGHTHS and a.dtype.kind not in "biu":
            a = np.clip(a, -_LARGEST[t], _LARGEST[t])
        return a.astype(held)


def precision(t: DType) -> int:
    """Significant bits of a float type, the hidden one included."""
    return _PRECISION[t]


def unit_roundoff(t: DType) -> float:
    """The largest relative error of one rounding to nearest, 2^-p. For doubles twice that, because the values
    that they are compared with are doubles too."""
    return 2.0 ** (1 - _PRECISION[t] if t == F64 else -_PRECISION[t])


def smallest(t: DType) -> float:
    """The smallest positive (subnormal) number: the absolute error of rounding near zero."""
    return _SMALLEST[t]


def largest(t: DType) -> float:
    """The largest finite number."""
    return _LARGEST[t]


def holds(t: DType, value: int | float) -> bool:
    """Whether the type has the value, rounded if it is a float. An infinity must be given as one."""
    if not t.is_float:
        low, high = integer_range(t)
        return low <= value <= high
    if isinstance(value, int) and abs(value) > sys.float_info.max:
        return False
    with np.errstate(over="ignore"):
        return not math.isfinite(value) or bool(
            np.isfinite(np.asarray(value, np.float64).astype(numpy_dtype(t)))
        )


def range_text(t: DType) -> str:
    """The finite values of a type: `-128 to 127`."""
    if t.is_float:
        return f"-{_LARGEST[t]:.6g} to {_LARGEST[t]:.6g}"
    low, high = integer_range(t)
    return f"{low} to {high}"
