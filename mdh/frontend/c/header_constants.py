"""Macros without parameters of limits.h, stdint.h, float.h, math.h and stdbool.h: values and C types.

As on Linux with 64 bits: long has 64 bits, char is signed. A limit has the type that its values are
promoted to.
"""

import math
import re

from mdh.ir.dtype import F32, F64, I8, I16, I32, I64, U8, U16, U32, U64, DType, integer_range, promote_integer

_SIGNED = {
    "SCHAR": I8, "CHAR": I8, "SHRT": I16, "INT": I32, "LONG": I64, "LLONG": I64, "INT8": I8, "INT16": I16,
    "INT32": I32, "INT64": I64, "INT_LEAST8": I8, "INT_LEAST16": I16, "INT_LEAST32": I32,
    "INT_LEAST64": I64, "INT_FAST8": I8, "INT_FAST16": I64, "INT_FAST32": I64, "INT_FAST64": I64,
    "INTMAX": I64, "INTPTR": I64, "PTRDIFF": I64,
}  # fmt: skip
_UNSIGNED = {
    "UCHAR": U8, "USHRT": U16, "UINT": U32, "ULONG": U64, "ULLONG": U64, "UINT8": U8, "UINT16": U16,
    "UINT32": U32, "UINT64": U64, "UINT_LEAST8": U8, "UINT_LEAST16": U16, "UINT_LEAST32": U32,
    "UINT_LEAST64": U64, "UINT_FAST8": U8, "UINT_FAST16": U64, "UINT_FAST32": U64, "UINT_FAST64": U64,
    "UINTMAX": U64, "UINTPTR": U64, "SIZE": U64,
}  # fmt: skip
_INTEGERS = {
    "true": 1, "false": 0, "CHAR_BIT": 8, "FLT_RADIX": 2, "FLT_MANT_DIG": 24, "DBL_MANT_DIG": 53,
    "FLT_DIG": 6, "DBL_DIG": 15, "DECIMAL_DIG": 21, "FLT_DECIMAL_DIG": 9, "DBL_DECIMAL_DIG": 17,
    "FLT_MIN_EXP": -125, "FLT_MAX_EXP": 128, "DBL_MIN_EXP": -1021, "DBL_MAX_EXP": 1024,
    "FLT_MIN_10_EXP": -37, "FLT_MAX_10_EXP": 38, "DBL_MIN_10_EXP": -307, "DBL_MAX_10_EXP": 308,
}  # fmt: skip
_FLOATS = {
    "INFINITY": math.inf, "HUGE_VALF": math.inf, "NAN": math.nan, "FLT_MAX": 3.4028234663852886e38,
    "FLT_MIN": 1.1754943508222875e-38, "FLT_EPSILON": 1.1920928955078125e-07, "FLT_TRUE_MIN": 2.0**-149,
}  # fmt: skip
_DOUBLES = {
    "HUGE_VAL": math.inf, "DBL_MAX": 1.7976931348623157e308, "DBL_MIN": 2.2250738585072014e-308,
    "DBL_EPSILON": 2.220446049250313e-16, "DBL_TRUE_MIN": 2.0**-1074,
    "M_E": math.e, "M_LOG2E": 1.4426950408889634074, "M_LOG10E": 0.43429448190325182765,
    "M_LN2": 0.69314718055994530942, "M_LN10": 2.30258509299404568402, "M_PI": math.pi,
    "M_PI_2": 1.57079632679489661923, "M_PI_4": 0.78539816339744830962, "M_1_PI": 0.31830988618379067154,
    "M_2_PI": 0.63661977236758134308, "M_2_SQRTPI": 1.12837916709551257390,
    "M_SQRT2": 1.41421356237309504880, "M_SQRT1_2": 0.70710678118654752440,
}  # fmt: skip


def _limits() -> dict[str, tuple[int | float, DType]]:
    out: dict[str, tuple[int | float, DType]] = {}
    for name, t in (_SIGNED | _UNSIGNED).items():
        out[f"{name}_MAX"] = integer_range(t)[1], promote_integer(t)
        if t.kind == "int":
            out[f"{name}_MIN"] = integer_range(t)[0], promote_integer(t)
    return out


CONSTANTS: dict[str, tuple[int | float, DType]] = (
    _limits()
    | {name: (n, I32) for name, n in _INTEGERS.items()}
    | {name: (x, F32) for name, x in _FLOATS.items()}
    | {name: (x, F64) for name, x in _DOUBLES.items()}
)


def header_of(name: str) -> frozenset[str]:
    """The headers that define a constant."""
    if name in ("true", "false"):
        return frozenset(("stdbool.h",))
    if name.startswith(("FLT_", "DBL_", "DECIMAL_")):
        return frozenset(("float.h",))
    if name in _FLOATS or name in _DOUBLES:
        return frozenset(("math.h",))
    if re.match(r"U?INT(_?[A-Z]+)?\d|U?INT(MAX|PTR)|PTRDIFF|SIZE", name):
        return frozenset(("stdint.h", "inttypes.h"))
    return frozenset(("limits.h",))
