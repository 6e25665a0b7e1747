"""Where the rules for vectors as values differ from C's for scalars, in OpenCL C and in GNU C.

A comparison of vectors yields masks (0 or -1) as wide as its operands, and a selection wants a mask as
wide as its values; both sides of a selection and all arguments of a function must be vectors.
"""

from typing import Protocol

from mdh.hardware import Space
from mdh.ir.dtype import F32, I8, I16, I32, I64, NARROW, DType
from mdh.ir.expr import COMPARISONS, Binary, Call, Cast, Const, Expr, Load, Select, Unary
from mdh.ir.intrinsic import Intrinsic
from mdh.target.clike import CONDITIONAL, POSTFIX, RANK, UNARY, lanes_of, place, render, text
from mdh.target.dialect import Dialect, ExprText, PrintScope

MASKS = {8: I8, 16: I16, 32: I32, 64: I64}


class Vectors(Dialect, Protocol):
    """A dialect whose vectors are values. both, either, neither: what joins and negates masks."""

    both: str
    either: str
    neither: str

    def repeated(self, dtype: DType, lanes: int, value: str, *, stored: bool = False) -> str:
        """A vector whose lanes all are the scalar `value`: of values, or of elements as they are stored."""

    def converted(self, dtype: DType, lanes: int, value: str) -> str:
        """A vector `value` with each lane converted to the value type of `dtype`."""

    def chosen(self, mask: ExprText, then: str, other: str, dtype: DType, lanes: int) -> ExprText:
        """Lane by lane `then` where the mask is set, else `other`."""

    def alike(self, then: str, other: str, dtype: DType, lanes: int) -> str:
        """Both sides of a choice that a scalar makes, `then : other`."""

    def numbers(self, dtype: DType, values: str, lanes: int) -> ExprText:
        """The vector of these numbers, in a list."""

    def picked(self, vector: str, number: int) -> str:
        """One lane of a vector."""


def vector_piece(e: Expr, scope: PrintScope, dialect: Vectors) -> ExprText | None:
    """Text of a vector expression that needs a spelling of its own, else None."""
    if isinstance(e, Call) and e.fn in (Intrinsic.LANE, Intrinsic.IOTA):
        return _lane(e, scope, dialect) if e.fn == Intrinsic.LANE else _iota(e, dialect)
    if not isinstance(e, Binary | Unary | Select):
        return None
    lanes = lanes_of(e, scope)
    if lanes == 1:
        return None
    match e:
        case Select(cond, then, other, dtype):
            first, second = (widened(v, lanes, scope, dialect, CONDITIONAL + 1) for v in (then, other))
            if lanes_of(cond, scope) > 1:
                mask = _mask(cond, lanes, value_bits(dtype), scope, dialect)
                return dialect.chosen(mask, first, second, dtype, lanes)
            test = cond if not cond.dtype.is_float else Binary("!=", cond, Const(0, cond.dtype), I32)
            sides = dialect.alike(first, second, dtype, lanes)
            return ExprText(f"{text(test, scope, dialect, CONDITIONAL + 1)} ? {sides}", CONDITIONAL)
        case Binary("<<" | ">>" as op, left, right, t) if left.dtype != right.dtype:
            return render(Binary(op, left, Cast(right, left.dtype), t), scope, dialect)
        case Binary(op, _, _, _) if op in COMPARISONS:
            return _truth(e, lanes, scope, dialect)
        case Unary("!", _, _):
            return _truth(e, lanes, scope, dialect)
        case Binary(_, left, right, t) if left.dtype == right.dtype and _promoted(t):
            return _narrow(e, lanes, scope, dialect)
        case _:
            return None


def _promoted(t: DType) -> bool:
    """A scalar of that type becomes an int in arithmetic, which no vector of it is combined with."""
    return not t.is_float and t.bits < I32.bits


def _narrow(e: Binary, lanes: int, scope: PrintScope, dialect: Vectors) -> ExprText | None:
    """`1 + v` of narrow integers: the scalar side as a vector of their type."""
    sides = (e.left, e.right)
    if not any(lanes_of(x, scope) == 1 and not isinstance(x, Load | Cast) for x in sides):
        return None
    rank = RANK[e.op]
    parts = [
        widened(x, lanes, scope, dialect, least) for x, least in zip(sides, (rank, rank + 1), strict=True)
    ]
    return ExprText(f"{parts[0]} {e.op} {parts[1]}", rank)


def widened(e: Expr, lanes: int, scope: PrintScope, dialect: Vectors, floor: int = 0) -> str:
    """`e` as a vector of `lanes`: a scalar is repeated."""
    if lanes == 1 or lanes_of(e, scope) > 1:
        return text(e, scope, dialect, floor)
    return dialect.repeated(e.dtype, lanes, text(e, scope, dialect))


def value_bits(dtype: DType) -> int:
    """Bits of the type that values of `dtype` are computed in."""
    return F32.bits if dtype in NARROW else dtype.bits


def _truth(e: Expr, lanes: int, scope: PrintScope, dialect: Vectors) -> ExprText:
    """A condition as C's 0 or 1: the negated mask."""
    mask = _mask(e, lanes, I32.bits, scope, dialect)
    return ExprText(f"-({mask.text})" if mask.rank < POSTFIX else f"-{mask.text}", UNARY)


def _mask(e: Expr, lanes: int, bits: int, scope: PrintScope, dialect: Vectors) -> ExprText:
    """A condition as a mask (0 or -1) of `bits` a lane."""
    match e:
        case Binary("&&" | "||" as op, left, right, _):
            joint = dialect.both if op == "&&" else dialect.either
            sides = []
            for side in (left, right):
                piece = _mask(side, lanes, bits, scope, dialect)
                sides.append(piece.text if piece.rank > RANK["&&"] and joint == op else f"({piece.text})")
            return ExprText(f"{sides[0]} {joint} {sides[1]}", RANK[joint])
        case Unary("!", arg, _):
            piece = _mask(arg, lanes, bits, scope, dialect)
            return ExprText(f"{dialect.neither}({piece.text})", UNARY)
        case Binary(op, left, right, _) if op in COMPARISONS:
            rank = RANK[op]
            out = f"{text(left, scope, dialect, rank)} {op} {text(right, scope, dialect, rank + 1)}"
            vector = lanes_of(e, scope) > 1
            return _resized(ExprText(out, rank), value_bits(left.dtype), lanes, bits, dialect, vector=vector)
        case _:
            vector = lanes_of(e, scope) > 1
            out = f"{text(e, scope, dialect, RANK['=='])} != 0"
            return _resized(
                ExprText(out, RANK["!="]), value_bits(e.dtype), lanes, bits, dialect, vector=vector
            )


def _resized(
    piece: ExprText, have: int, lanes: int, want: int, dialect: Vectors, *, vector: bool
) -> ExprText:
    if not vector:
        return ExprText(dialect.repeated(MASKS[want], lanes, f"-({piece.text})"), UNARY)
    if have == want:
        return piece
    return ExprText(dialect.converted(MASKS[want], lanes, piece.text), POSTFIX)


def _lane(e: Call, scope: PrintScope, dialect: Vectors) -> ExprText:
    vector, k = e.args
    if isinstance(k, Const):
        return ExprText(dialect.picked(text(vector, scope, dialect, POSTFIX), int(k.value)), POSTFIX)
    assert isinstance(vector, Load), "a variable lane is read from a register buffer"
    buf = scope.buffers[vector.buffer]
    assert buf.space is Space.RM
    where = place(buf, vector.index, scope, dialect)
    kind = dialect.value_type(buf.dtype)
    return ExprText(f"((const {kind} *)&{where})[{text(k, scope, dialect)}]", POSTFIX)


def _iota(e: Call, dialect: Vectors) -> ExprText:
    count = e.args[0]
    assert isinstance(count, Const)
    lanes = int(count.value)
    return dialect.numbers(e.dtype, ", ".join(map(str, range(lanes))), lanes)
