"""Expressions as C text, with the parentheses that C needs and readers want, and no more."""

from typing import assert_never

from mdh.hardware import Space
from mdh.ir.dtype import DType
from mdh.ir.expr import Binary, Call, Cast, Const, Expr, Load, Select, Unary, Var, children
from mdh.ir.intrinsic import Intrinsic
from mdh.ir.kernel import Buf
from mdh.target.dialect import Dialect, ExprText, PrintScope
from mdh.target.literals import literal
from mdh.target.offset import offset
from mdh.target.operators import swizzle_name

RANK = {
    "||": 4, "&&": 5, "|": 6, "^": 7, "&": 8, "==": 9, "!=": 9, "<": 10, "<=": 10, ">": 10, ">=": 10,
    "<<": 11, ">>": 11, "+": 12, "-": 12, "*": 13, "/": 13, "%": 13,
}  # fmt: skip
"""How tightly C's binary operators bind (C11 6.5.5 to 6.5.14)."""

ASSIGNMENT, CONDITIONAL, UNARY, POSTFIX = 2, 3, 14, 16

_COMPARED = frozenset({"==", "!=", "<", "<=", ">", ">="})
_BITS = frozenset({"&", "|", "^", "<<", ">>"})


def text(e: Expr, scope: PrintScope, dialect: Dialect, floor: int = 0) -> str:
    """`e` as C, in parentheses where it binds less tightly than `floor`."""
    piece = render(e, scope, dialect)
    return piece.text if piece.rank >= floor else f"({piece.text})"


def render(e: Expr, scope: PrintScope, dialect: Dialect) -> ExprText:
    vector = dialect.vector(e, scope)
    if vector is not None:
        return vector
    match e:
        case Const(value, dtype):
            out = literal(value, dtype, dialect.long_suffix)
            return ExprText(out, UNARY if out.startswith("-") else POSTFIX)
        case Var(name, _):
            return ExprText(scope.name(name), POSTFIX)
        case Load():
            return _load(e, scope, dialect)
        case Unary(op, arg, _):
            inner = text(arg, scope, dialect, UNARY)
            return ExprText(f"{op}({inner})" if inner.startswith(op) else op + inner, UNARY)
        case Binary():
            return _binary(e, scope, dialect)
        case Select(cond, then, other, _):
            parts = (text(cond, scope, dialect, CONDITIONAL + 1), text(then, scope, dialect, CONDITIONAL + 1))
            return ExprText(
                f"{parts[0]} ? {parts[1]} : {text(other, scope, dialect, CONDITIONAL)}", CONDITIONAL
            )
        case Cast():
            return dialect.cast(e, scope)
        case Call(Intrinsic.BLOCK_ID | Intrinsic.THREAD_ID | Intrinsic.CLUSTER_RANK, _, _):
            out = dialect.coordinate(e, scope)
            return ExprText(out, UNARY if out.startswith("(") else POSTFIX)
        case Call():
            return dialect.call(e, scope)
        case _:
            assert_never(e)


def _binary(e: Binary, scope: PrintScope, dialect: Dialect) -> ExprText:
    rank = RANK[e.op]
    sides = []
    for side, least in ((e.left, rank), (e.right, rank + 1)):
        wrap = isinstance(side, Binary) and _confusing(e.op, side.op)
        sides.append(text(side, scope, dialect, POSTFIX if wrap else least))
    return ExprText(f"{sides[0]} {e.op} {sides[1]}", rank)


def _confusing(outer: str, inner: str) -> bool:
    """Pairs whose order few readers know and compilers warn about: && in ||, sums in bit operators, and
    comparisons of comparisons."""
    if outer in _COMPARED and inner in _COMPARED:
        return True
    if {outer, inner} & _BITS:
        return outer != inner or outer in ("<<", ">>")
    return outer == "||" and inner == "&&"


def place(buf: Buf, index: tuple[Expr, ...], scope: PrintScope, dialect: Dialect, extra: int = 0) -> str:
    """The lvalue `A[i * 2048 + k]`, or `acc` for a buffer of one register."""
    name = scope.name(buf.name)
    if is_single(buf):
        return name
    where = text(dialect.subscript(buf, offset(buf, index, scope.known, extra), scope), scope, dialect)
    if buf.swizzle:
        where = f"{swizzle_name(buf)}({where})"
    return f"{name}[{where}]"


def is_single(buf: Buf) -> bool:
    """A register buffer of one element is a plain variable."""
    return buf.space is Space.RM and buf.elements == 1


def _load(e: Load, scope: PrintScope, dialect: Dialect) -> ExprText:
    buf = scope.buffers[e.buffer]
    where = place(buf, e.index, scope, dialect)
    return dialect.load(buf, where, e.lanes, scope=scope)


def lanes_of(e: Expr, scope: PrintScope, known: dict[int, int] | None = None) -> int:
    """Lanes of a vector expression, 1 for a scalar. known: by `id`, what was found of its parts, and is added
    to: who asks about every part of a deep expression needs no more time than for the whole."""
    if known is None:
        return _lanes(e, scope, None)
    if id(e) not in known:
        known[id(e)] = _lanes(e, scope, known)
    return known[id(e)]


def _lanes(e: Expr, scope: PrintScope, known: dict[int, int] | None) -> int:
    match e:
        case Const() | Var():
            return 1
        case Load(buffer, _, _, lanes):
            return max(lanes, scope.buffers[buffer].lanes)
        case Binary(_, left, right, _):
            return max(lanes_of(left, scope, known), lanes_of(right, scope, known))
        case Call(Intrinsic.LANE, _, _):
            return 1
        case Call(Intrinsic.IOTA, (Const(int() as n), *_), _):
            return n
        case _:
            return max((lanes_of(c, scope, known) for c in children(e)), default=1)


def same_value_type(a: DType, b: DType, dialect: Dialect) -> bool:
    return dialect.value_type(a) == dialect.value_type(b)
