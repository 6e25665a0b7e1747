"""Literals: the type and value of a number as it is written (C11 6.4.4)."""

import math
import re
import struct
from fractions import Fraction

from mdh.reference.c.types import (
    BRAIN,
    DOUBLE,
    FLOAT,
    HALF,
    INT,
    LLONG,
    LONG,
    UINT,
    ULLONG,
    ULONG,
    Type,
)

_FLOATING = re.compile(r"0[xX][0-9a-fA-F.]*[pP][0-9+-]+|[0-9.]+(?:[eE][+-]?[0-9]+)?")
_SUFFIXES = {"": DOUBLE, "f": FLOAT, "l": DOUBLE, "f16": HALF, "bf16": BRAIN, "f32": FLOAT, "f64": DOUBLE}
_ESCAPES = {"n": 10, "t": 9, "r": 13, "a": 7, "b": 8, "f": 12, "v": 11, "0": 0}


def number(text: str) -> tuple[Type, int | float]:
    """Type and value. Raises ValueError if the text is no number."""
    if text.startswith("'"):
        return INT, _character(text[1:-1])
    # C23 allows apostrophes between digits
    plain = text.lower().replace("'", "")
    hexadecimal = plain.startswith("0x")
    if ("p" in plain) if hexadecimal else any(c in plain for c in ".e"):
        return _floating(plain)
    if not hexadecimal and plain.endswith("f"):
        return _floating(plain)
    return _integer(plain)


def _character(body: str) -> int:
    if not body.startswith("\\"):
        code = ord(body)
    elif body[1] == "x":
        code = int(body[2:], 16)
    elif body[1].isdigit():
        code = int(body[1:], 8)
    else:
        code = _ESCAPES.get(body[1], ord(body[1]))
    # char is signed
    return code - 256 if code > 127 else code


def _floating(text: str) -> tuple[Type, float]:
    match = _FLOATING.match(text)
    if match is None:
        raise ValueError(text)
    digits, type_ = match[0], _SUFFIXES[text[match.end() :]]
    value = float.fromhex(digits) if digits.startswith("0x") else float(digits)
    if not math.isfinite(value):
        return type_, math.inf
    return type_, value if type_ is DOUBLE or value == 0 else _odd(value, digits)


def _odd(value: float, digits: str) -> float:
    """The double next to the number whose last bit is 1, if no double equals the number.

    Rounded to a narrower type, it gives the same as the number itself, because it is never half-way by
    chance.
    """
    exact = _hexadecimal(digits) if digits.startswith("0x") else Fraction(digits)
    if exact == value or struct.unpack("<Q", struct.pack("<d", value))[0] & 1:
        return value
    return math.nextafter(value, math.inf if exact > value else -math.inf)


def _hexadecimal(digits: str) -> Fraction:
    mantissa, exponent = digits[2:].split("p")
    point = len(mantissa) - 1 - mantissa.index(".") if "." in mantissa else 0
    scale = Fraction(2) ** (int(exponent) - 4 * point)
    return int(mantissa.replace(".", ""), 16) * scale


def _integer(text: str) -> tuple[Type, int]:
    """C11 6.4.4.1: the first type of the list that holds the value."""
    digits = text.rstrip("ul")
    suffix = text[len(digits) :]
    if digits.startswith("0x"):
        value, decimal = int(digits, 16), False
    elif digits.startswith("0b"):
        value, decimal = int(digits, 2), False
    elif digits.startswith("0") and len(digits) > 1:
        value, decimal = int(digits, 8), False
    else:
        value, decimal = int(digits), True
    longs = suffix.count("l")
    signed, unsigned = (INT, LONG, LLONG)[longs:], (UINT, ULONG, ULLONG)[longs:]
    pairs = zip(signed, unsigned, strict=True)
    if "u" in suffix:
        candidates = unsigned
    elif decimal:
        candidates = signed
    else:
        candidates = tuple(t for pair in pairs for t in pair)
    for t in candidates:
        if value <= t.high:
            return t, value
    return ULLONG, value & ULLONG.high
