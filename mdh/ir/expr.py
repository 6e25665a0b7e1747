"""Scalar expressions: one language for index functions, scalar functions and kernel text.

At program level a `Load` names a buffer of the program and its index is a function of the stage's
dimensions (`Var`s named after them); at kernel level the same nodes name kernel buffers and loop variables.
Integer arithmetic is C's: `/` truncates. Comparisons and logical operators yield I32 (0 or 1).
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from math import copysign
from typing import assert_never

from mdh.ir.dtype import I32, DType


@dataclass(frozen=True, slots=True)
class Const:
    value: int | float
    dtype: DType

    def __eq__(self, other: object) -> bool:
        """-0.0 and 0.0 are different constants."""
        if not isinstance(other, Const) or self.dtype != other.dtype:
            return False
        a, b = self.value, other.value
        return a is b or (a == b and (a != 0 or copysign(1, a) == copysign(1, b)))

    def __hash__(self) -> int:
        return hash((self.value, self.dtype))


@dataclass(frozen=True, slots=True)
class Var:
    """A dimension, loop variable, scalar parameter, local (`Let`) or accumulator component."""

    name: str
    dtype: DType = I32


@dataclass(frozen=True, slots=True)
class Load:
    """An element of a buffer; in kernels `lanes` > 1 loads that many contiguous elements as a vector."""

    buffer: str
    index: tuple["Expr", ...]
    dtype: DType
    lanes: int = 1


@dataclass(frozen=True, slots=True)
class Unary:
    """`-`, `!`, `~`."""

    op: str
    arg: "Expr"
    dtype: DType


@dataclass(frozen=True, slots=True)
class Binary:
    """`+ - * / % & | ^ << >> < <= > >= == != && ||`; operands already have their common type."""

    op: str
    left: "Expr"
    right: "Expr"
    dtype: DType


@dataclass(frozen=True, slots=True)
class Select:
    """C's `cond ? then : other`; only the chosen side is evaluated."""

    cond: "Expr"
    then: "Expr"
    other: "Expr"
    dtype: DType


@dataclass(frozen=True, slots=True)
class Cast:
    arg: "Expr"
    dtype: DType


@dataclass(frozen=True, slots=True)
class Call:
    """A function of math.h by the name of its double version (`sqrt`, `exp`, `fmax`, `fabs`, `pow`…), or
    integer `abs`. `dtype` gives the precision: `expf(x)` is `Call("exp", (x,), F32)`."""

    fn: str
    args: tuple["Expr", ...]
    dtype: DType


Expr = Const | Var | Load | Unary | Binary | Select | Cast | Call

COMPARISONS = frozenset({"<", "<=", ">", ">=", "==", "!=", "&&", "||"})


def map_children(e: Expr, f: Callable[[Expr], Expr]) -> Expr:
    """`e` with `f` applied to each direct child; the same object if nothing changes."""
    match e:
        case Const() | Var():
            return e
        case Binary(op, left, right, dtype):
            a, b = f(left), f(right)
            return e if a is left and b is right else Binary(op, a, b, dtype)
        case Load(buffer, index, dtype, lanes):
            at = mapped(index, f)
            return e if at is index else Load(buffer, at, dtype, lanes)
        case Cast(arg, dtype):
            a = f(arg)
            return e if a is arg else Cast(a, dtype)
        case Unary(op, arg, dtype):
            a = f(arg)
            return e if a is arg else Unary(op, a, dtype)
        case Select(cond, then, other, dtype):
            parts = (cond, then, other)
            c, a, b = changed = mapped(parts, f)
            return e if changed is parts else Select(c, a, b, dtype)
        case Call(fn, args, dtype):
            given = mapped(args, f)
            return e if given is args else Call(fn, given, dtype)
        case _:
            assert_never(e)


def mapped(each: tuple[Expr, ...], f: Callable[[Expr], Expr]) -> tuple[Expr, ...]:
    """`f` of each expression; the same object if nothing changes."""
    new = tuple(map(f, each))
    for a, b in zip(new, each, strict=True):
        if a is not b:
            return new
    return each


def children(e: Expr) -> tuple[Expr, ...]:
    match e:
        case Const() | Var():
            return ()
        case Load():
            return e.index
        case Unary() | Cast():
            return (e.arg,)
        case Binary():
            return (e.left, e.right)
        case Select():
            return (e.cond, e.then, e.other)
        case Call():
            return e.args
        case _:
            assert_never(e)


def without_casts(e: Expr) -> Expr:
    """The operand inside the outermost casts."""
    while isinstance(e, Cast):
        e = e.arg
    return e


def walk(e: Expr) -> Iterator[Expr]:
    """`e` and all its descendants, parents first."""
    left = [e]
    while left:
        node = left.pop()
        yield node
        # the kinds that are met most often
        if type(node) is Binary:
            left += (node.right, node.left)
        elif type(node) is Load:
            left += node.index[::-1]
        elif type(node) is not Var and type(node) is not Const:
            left.extend(reversed(children(node)))


def loads(e: Expr) -> Iterator[Load]:
    return (n for n in walk(e) if isinstance(n, Load))


def substitute(e: Expr, values: dict[str, Expr]) -> Expr:
    """Replace each `Var` that `values` names."""
    if isinstance(e, Var):
        return values.get(e.name, e)
    return map_children(e, lambda c: substitute(c, values))
