"""Which conversions an update of an element may do without: the others make it another operation."""

from mdh.ir.dtype import DType
from mdh.ir.expr import Cast, Const, Expr, Load


def strip(e: Expr, t: DType) -> Expr:
    """`e` without the conversions around it that make no difference to a sum, product or bits held in type t.

    Integers modulo 2^n forget what a wider type adds; a float may be held in more precision.
    """
    while isinstance(e, Cast) and _wide(e.dtype, t):
        e = e.arg
    return e


def _wide(t: DType, held: DType) -> bool:
    return t == held or (
        t.is_float == held.is_float and (t.bits > held.bits or (not t.is_float and t.bits == held.bits))
    )


def lossless(a: DType, b: DType) -> bool:
    """Every value of type a is one of type b."""
    if a == b:
        return True
    if a.is_float:
        return b.is_float and b.bits > a.bits
    if b.is_float:
        return a.bits < b.bits and b.bits > 16
    return b.bits > a.bits and (a.kind == "uint" or b.kind == "int")


def kept(e: Expr) -> Expr:
    """`e` without the conversions around it that keep its value."""
    while isinstance(e, Cast) and lossless(e.arg.dtype, e.dtype):
        e = e.arg
    return e


def is_compared(e: Expr, target: Load) -> bool:
    """`e` stands for the element in a comparison, with its whole value."""
    return kept(e) == target


def same_order(compared: Expr, stored: Expr) -> bool:
    """What is compared is as large as what is stored: the better of two values does not depend on the third.

    A conversion to a float keeps the order. One to an integer that cannot hold all values does not, be it
    from a wider integer or from a float: the comparison must be of converted values then.
    """
    x, s = kept(compared), kept(stored)
    if isinstance(x, Const) and isinstance(s, Const):
        return x.value == s.value
    return x == s or (isinstance(s, Cast) and s.dtype.is_float and kept(s.arg) == x)
