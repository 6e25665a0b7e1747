"""Numbers as C writes them: shortest decimal that reads back exactly, no undefined extremes."""

import math
import struct

from mdh.ir.dtype import BF16, F16, F32, F64, DType


def literal(value: float, dtype: DType, long_suffix: str) -> str:
    """`value` as a literal of the type expressions of `dtype` compute in (16-bit floats: float).

    long_suffix: `LL` (C++) or `L` (OpenCL C). A negative literal starts with `-` or stands in parentheses.
    """
    if dtype.is_float:
        return float_literal(float(value), dtype)
    return integer_literal(int(value), dtype, long_suffix)


def float_literal(value: float, dtype: DType) -> str:
    value = rounded(value, dtype)
    if math.isnan(value):
        return "NAN"
    if math.isinf(value):
        return "INFINITY" if value > 0 else "-INFINITY"
    if dtype == F64:
        return repr(value)
    text = next(t for p in range(1, 18) if rounded(float(t := f"{value:.{p}g}"), F32) == value)
    if "e" not in text and "." not in text:
        text += ".0"
    return text + "f"


def integer_literal(value: int, dtype: DType, long_suffix: str) -> str:
    """The type's least value is written as a difference: C has no negative literals."""
    wide = dtype.bits == 64
    suffix = ("U" if dtype.kind == "uint" and dtype.bits >= 32 else "") + (long_suffix if wide else "")
    value %= 1 << dtype.bits
    if dtype.kind == "int" and value >= 1 << (dtype.bits - 1):
        value -= 1 << dtype.bits
        if dtype.bits >= 32 and value == -(1 << (dtype.bits - 1)):
            return f"({value + 1}{suffix} - 1)"
    return f"{value}{suffix}"


def rounded(value: float, dtype: DType) -> float:
    """`value` rounded to the nearest `dtype`, to infinity beyond its range."""
    if dtype == F64 or math.isnan(value) or math.isinf(value):
        return value
    if dtype == BF16:
        return _rounded_bf16(value)
    code = "<e" if dtype == F16 else "<f"
    try:
        return float(struct.unpack(code, struct.pack(code, value))[0])
    except OverflowError:
        return math.copysign(math.inf, value)


def _rounded_bf16(value: float) -> float:
    single = rounded(value, F32)
    if math.isinf(single):
        return single
    bits = struct.unpack("<I", struct.pack("<f", single))[0]
    bits = (bits + 0x7FFF + ((bits >> 16) & 1)) & 0xFFFF0000
    return float(struct.unpack("<f", struct.pack("<I", bits & 0xFFFFFFFF))[0])
