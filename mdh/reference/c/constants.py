"""Object-like macros of <limits.h>, <stdint.h>, <float.h>, <math.h> and <stdbool.h>: types and values."""

import math
import sys

from mdh.reference.c.types import (
    DOUBLE,
    FLOAT,
    I8,
    I16,
    INT,
    LLONG,
    LONG,
    U8,
    U16,
    UINT,
    ULLONG,
    ULONG,
    Type,
    promoted,
)


def _limits() -> dict[str, tuple[Type, int | float]]:
    """A limit has the type that its values are promoted to (C11 5.2.4.2.1, 7.20.2)."""
    out: dict[str, tuple[Type, int | float]] = {}
    signed = {
        "SCHAR": I8, "CHAR": I8, "SHRT": I16, "INT": INT, "LONG": LONG, "LLONG": LLONG,
        "INT8": I8, "INT16": I16, "INT32": INT, "INT64": LONG,
        "INT_LEAST8": I8, "INT_LEAST16": I16, "INT_LEAST32": INT, "INT_LEAST64": LONG,
        "INT_FAST8": I8, "INT_FAST16": LONG, "INT_FAST32": LONG, "INT_FAST64": LONG,
        "INTMAX": LONG, "INTPTR": LONG, "PTRDIFF": LONG, "SSIZE": LONG, "WCHAR": INT,
    }  # fmt: skip
    unsigned = {
        "UCHAR": U8, "USHRT": U16, "UINT": UINT, "ULONG": ULONG, "ULLONG": ULLONG,
        "UINT8": U8, "UINT16": U16, "UINT32": UINT, "UINT64": ULONG,
        "UINT_LEAST8": U8, "UINT_LEAST16": U16, "UINT_LEAST32": UINT, "UINT_LEAST64": ULONG,
        "UINT_FAST8": U8, "UINT_FAST16": ULONG, "UINT_FAST32": ULONG, "UINT_FAST64": ULONG,
        "UINTMAX": ULONG, "UINTPTR": ULONG, "SIZE": ULONG,
    }  # fmt: skip
    for name, t in signed.items():
        out[f"{name}_MAX"] = promoted(t), t.high
        out[f"{name}_MIN"] = promoted(t), t.low
    for name, t in unsigned.items():
        out[f"{name}_MAX"] = promoted(t), t.high
    return out


_INTEGERS: dict[str, tuple[Type, int | float]] = {
    "true": (INT, 1), "false": (INT, 0), "CHAR_BIT": (INT, 8),
    "FLT_RADIX": (INT, 2), "FLT_MANT_DIG": (INT, 24), "DBL_MANT_DIG": (INT, 53),
    "FLT_DIG": (INT, 6), "DBL_DIG": (INT, 15), "DECIMAL_DIG": (INT, 21),
    "FLT_DECIMAL_DIG": (INT, 9), "DBL_DECIMAL_DIG": (INT, 17),
    "FLT_MIN_EXP": (INT, -125), "FLT_MAX_EXP": (INT, 128),
    "DBL_MIN_EXP": (INT, -1021), "DBL_MAX_EXP": (INT, 1024),
    "FLT_MIN_10_EXP": (INT, -37), "FLT_MAX_10_EXP": (INT, 38),
    "DBL_MIN_10_EXP": (INT, -307), "DBL_MAX_10_EXP": (INT, 308),
}  # fmt: skip
_FLOATS: dict[str, tuple[Type, int | float]] = {
    "INFINITY": (FLOAT, math.inf), "NAN": (FLOAT, math.nan),
    "HUGE_VAL": (DOUBLE, math.inf), "HUGE_VALF": (FLOAT, math.inf),
    "FLT_MAX": (FLOAT, 2.0**128 - 2.0**104), "FLT_MIN": (FLOAT, 2.0**-126),
    "FLT_EPSILON": (FLOAT, 2.0**-23), "FLT_TRUE_MIN": (FLOAT, 2.0**-149),
    "DBL_MAX": (DOUBLE, sys.float_info.max), "DBL_MIN": (DOUBLE, sys.float_info.min),
    "DBL_EPSILON": (DOUBLE, sys.float_info.epsilon), "DBL_TRUE_MIN": (DOUBLE, 5e-324),
    "M_E": (DOUBLE, math.e), "M_LOG2E": (DOUBLE, 1.4426950408889634),
    "M_LOG10E": (DOUBLE, 0.4342944819032518), "M_LN2": (DOUBLE, 0.6931471805599453),
    "M_LN10": (DOUBLE, 2.302585092994046), "M_PI": (DOUBLE, math.pi), "M_PI_2": (DOUBLE, math.pi / 2),
    "M_PI_4": (DOUBLE, math.pi / 4), "M_1_PI": (DOUBLE, 0.3183098861837907),
    "M_2_PI": (DOUBLE, 0.6366197723675814), "M_2_SQRTPI": (DOUBLE, 1.1283791670955126),
    "M_SQRT2": (DOUBLE, 1.4142135623730951), "M_SQRT1_2": (DOUBLE, 0.7071067811865476),
}  # fmt: skip

CONSTANTS: dict[str, tuple[Type, int | float]] = _limits() | _INTEGERS | _FLOATS
