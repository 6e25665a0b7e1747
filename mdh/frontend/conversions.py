"""Which conversions can be left out of an update of an element; the others make it another operation."""

from mdh.ir.dtype import EIGHTHS, DType
from mdh.ir.expr import Cast, Const, Expr, Load


def strip(e: Expr, t: DType) -> Expr:
    """`e` without outer conversions that do not change a sum, product or bit operation held in type t.

    Integers modulo 2^n forget what a wider type adds, and a float may be held in more precision. A conversion
    to 8 bits is never left out: it saturates.
    """
    while isinstance(e, Cast) and e.dtype not in EIGHTHS and _wide(e.dtype, t):
        e = e.arg
    return e


def _wide(t: DType, held: DType) -> bool:
    return t == held or (
        t.is_float == held.is_float and (t.bits > held.bits or (not t.is_float and t.bits == held.bits))
    )


def lossless(a: DType, b: DType) -> bool:
    """Whether every value of type a is one of type b."""
    if a == b:
        return True
    if a.is_float:
        return b.is_float and b.bits > a.bits
    if b.is_float:
        return a.bits < b.bits and b.bits > 16
    return b.bits > a.bits and (a.kind == "uint" or b.kind == "int")


def kept(e: Expr) -> Expr:
    """`e` without outer conversions that keep its value."""
    while isinstance(e, Cast) and lossless(e.arg.dtype, e.dtype):
        e = e.arg
    return e


def is_compared(e: Expr, target: Load) -> bool:
    """Whether `e` stands for the element in a comparison, with its whole value."""
    return kept(e) == target


def same_order(compared: Expr, stored: Expr) -> bool:
    """Whether the compared value orders like the stored one, so that the better of two values does not depend
    on a third.

    A conversion to a float keeps the order. A conversion to an integer that cannot hold all values does not,
    from a wider integer or from a float: then the converted values must be compared.
    """
    x, s = kept(compared), kept(stored)
    if isinstance(x, Const) and isinstance(s, Const):
        return x.value == s.value
    return x == s or (isinstance(s, Cast) and s.dtype.is_float and kept(s.arg) == x)
