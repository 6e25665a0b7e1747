"""Translates C's constants (C11 6.4.4) to typed values. Constants that no type holds are refused."""

import math
import re
from fractions import Fraction

from pycparser import c_ast

from mdh.diagnostics import fail
from mdh.frontend.c.enums import Enumerator
from mdh.frontend.c.places import Places
from mdh.frontend.typing_rules import convert
from mdh.ir.dtype import F32, F64, I32, I64, U32, U64
from mdh.ir.expr import Const, Expr

MOST_DIGITS = 80
"""The most digits of an integer below 2^64, in any base and without leading zeros, because Python does not
parse numbers of any length."""
MOST_FLOAT = 4_000
"""The most characters of a floating constant. Every double is exact in 1,100, with its zeros."""
_ESCAPES = {"n": 10, "t": 9, "\\": 92, "'": 39, '"': 34, "?": 63, "r": 13, "a": 7, "b": 8, "f": 12, "v": 11}


def literal(node: c_ast.Constant, places: Places) -> Const:
    """The value of a constant. Raises Failed C113, C124."""
    text = node.value
    match node.type:
        case "long double":
            raise fail("C110", "`long double` is not supported", places.of(node),
                       help="write the constant without the suffix L: it is a double then")  # fmt: skip
        case "float" | "double":
            return _float(_joined(text), node, places)
        case "char":
            code = _character(text[1:-1])
            if code is not None:
                return Const(code, I32)
        case "string":
            raise fail("C113", "strings are not supported", places.of(node))
        case _:
            return _integer(_joined(text), node, places)
    raise fail("C113", f"the constant {text[:20]} is not supported", places.of(node))


def _joined(number: str) -> str:
    """The number without the separators between its digits (C23 6.4.4.2)."""
    return number.replace("'", "")


def check_enumerator(node: c_ast.Decl, value: Expr | None, places: Places) -> None:
    """Raises Failed C124 if an enumeration's constant does not fit int (C11 6.7.2.2)."""
    if isinstance(node, Enumerator) and isinstance(value, Const) and not -(2**31) <= value.value < 2**31:
        raise fail("C124", f"`{node.name}` is {value.value:,}, which no int holds", places.of(node),
                   help="declare it as const long")  # fmt: skip


def _character(body: str) -> int | None:
    """The code of a character constant as a signed char; None if it has more than one byte."""
    if len(body) == 1:
        return ord(body) if body.isascii() else None
    if body[0] != "\\":
        return None
    if body[1:] in _ESCAPES:
        return _ESCAPES[body[1:]]
    number = re.fullmatch(r"\\(?:x([0-9a-fA-F]{1,2})|([0-7]{1,3}))", body)
    if number is None:
        return None
    code = int(number[1], 16) if number[1] else int(number[2], 8)
    return None if code > 255 else code - 256 * (code > 127)


def _float(text: str, node: c_ast.Constant, places: Places) -> Const:
    """The constant, rounded once to the type of its suffix."""
    # the digits of a hexadecimal constant end before its exponent, which C requires
    if len(text) > MOST_FLOAT:
        what = f"the constant {_short(text)} has {len(text):,} characters, more than {MOST_FLOAT:,}"
        raise fail("C124", what, places.of(node), help="17 digits and an exponent give every double")
    t = F32 if text[-1] in "fF" else F64
    body = text.rstrip("fFlL")
    hexadecimal = body.lower().startswith("0x")
    try:
        value = float.fromhex(body) if hexadecimal else float(body)
    except OverflowError:
        value = math.inf
    out = convert(Const(value, F64), t)
    assert isinstance(out, Const)
    if not math.isfinite(out.value):
        what = f"the constant {_short(text)} is greater than any {'float' if t == F32 else 'double'}"
        raise fail("C124", what, places.of(node), help="write INFINITY where that is meant")
    if t == F32 and value not in (out.value, 0.0):
        # the double has lost on which side of the midpoint of two floats the digits are
        other = convert(Const(2 * value - out.value, F64), F32)
        assert isinstance(other, Const)
        exact = (
            (_hexadecimal(body) if hexadecimal else Fraction(body))
            if other.value == 2 * value - out.value
            else Fraction(value)
        )
        if exact != value:
            nearer = convert(Const(math.nextafter(value, math.inf * (1 if exact > value else -1)), F64), F32)
            assert isinstance(nearer, Const)
            return nearer
    return out


def _hexadecimal(body: str) -> Fraction:
    """`0x1.8p-3` exactly."""
    digits, _, exponent = body.lower().removeprefix("0x").partition("p")
    whole, _, part = digits.partition(".")
    return Fraction(int(whole + part, 16)) * Fraction(2) ** (int(exponent) - 4 * len(part))


def _integer(text: str, node: c_ast.Constant, places: Places) -> Const:
    body = text.rstrip("uUlL")
    suffix = text[len(body) :].lower()
    digits = body.lower().lstrip("0xb")
    octal = len(body) > 1 and body[0] == "0" and body.isdigit()
    n = 2**64 if len(digits) > MOST_DIGITS else int(body, 8) if octal else int(body, 0)
    decimal = body.isdigit() and not octal
    types = [I32, U32, I64, U64] if not decimal else [I32, I64]
    if "u" in suffix:
        types = [U32, U64]
    if "l" in suffix:
        types = [t for t in types if t.bits == 64]
    for t in types:
        if n < 2 ** (t.bits - (t.kind == "int")):
            return Const(n, t)
    if decimal and n < 2**64:
        what = f"no signed type holds the constant {text}"
        raise fail("C124", what, places.of(node), help=f"write {text}u, which is unsigned long")
    as_float = f"; write {body}.0 where a float is meant" if decimal and len(body) <= 24 else ""
    raise fail("C124", f"the constant {_short(text)} is greater than any integer type holds", places.of(node),
               help=f"integers end at {2**64 - 1:,}{as_float}")  # fmt: skip


def _short(text: str) -> str:
    return text if len(text) <= 24 else f"{text[:20]}…"
