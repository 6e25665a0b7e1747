"""Typed expressions as C (`ir.syntax`)."""

from math import copysign, isinf, isnan
from typing import assert_never

from mdh.ir import syntax as c
from mdh.ir.dtype import BF16, F16, F32, F64, I8, I16, I32, I64, U8, U16, U32, U64, DType
from mdh.ir.expr import Binary, Call, Cast, Const, Expr, Load, Select, Unary, Var

_WORDS = {
    F32: "float", F64: "double", F16: "_Float16", BF16: "__bf16", I8: "int8_t", I16: "int16_t", I32: "int",
    I64: "int64_t", U8: "uint8_t", U16: "uint16_t", U32: "uint32_t", U64: "uint64_t",
}  # fmt: skip
_SUFFIX = {I64: "l", U32: "u", U64: "ul"}


def is_spelled(t: DType) -> bool:
    """Whether C has a word for the type. Floats of eight bits are structs, which have none here."""
    return t in _WORDS


def c_type(t: DType) -> c.CType:
    return c.CType((_WORDS[t],))


def c_expression(e: Expr) -> c.Expression:
    """The expression in C, with the same types."""
    match e:
        case Const(value, t):
            return c_number(value, t)
        case Var(name):
            return c.Name(name)
        case Load(buffer, index):
            return c.Element(buffer, tuple(map(c_expression, index)))
        case Unary(op, arg):
            return c.Prefix(op, c_expression(arg))
        case Binary(op, left, right):
            return c.Infix(op, c_expression(left), c_expression(right))
        case Select(cond, then, other):
            return c.Conditional(c_expression(cond), c_expression(then), c_expression(other))
        case Cast(arg, t):
            return c.Conversion(c_type(t), c_expression(arg))
        case Call("abs", args, t):
            return c.Invocation("abs" if t == I32 else "labs", tuple(map(c_expression, args)))
        case Call(fn, args, t):
            return c.Invocation(f"{fn}f" if t == F32 else fn, tuple(map(c_expression, args)))
        case _:
            assert_never(e)


def c_number(value: int | float, t: DType) -> c.Expression:
    """A constant. C has no negative literals, and no words for NaN."""
    if t.is_float and t not in (F32, F64):
        return c.Conversion(c_type(t), c_number(value, F32))
    if isnan(value):
        infinity = c.Name("INFINITY")
        return c.Conversion(c_type(t), c.Infix("-", infinity, infinity))
    if copysign(1, value) < 0:
        return c.Prefix("-", c_number(-value, t))
    if isinf(value):
        return c.Conversion(c_type(t), c.Name("INFINITY"))
    if t.is_float:
        return c.Number(f"{float(value)!r}{'f' if t == F32 else ''}")
    plain = c.Number(f"{int(value)}{_SUFFIX.get(t, '')}")
    return plain if t in (I32, *_SUFFIX) else c.Conversion(c_type(t), plain)
