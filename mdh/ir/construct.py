"""Constructors for what the lowering writes most: arithmetic on indices, loops that count, guards.

All arithmetic here is on `int`. Where an operand is a Python number, it stands for the constant.
"""

from collections.abc import Iterable, Sequence

from mdh.ir.dtype import I32
from mdh.ir.expr import Binary, Const, Expr, Load
from mdh.ir.kernel import Buf, For, ForKind, If, Stmt, Store

ZERO = Const(0, I32)


def num(e: Expr | int) -> Expr:
    return Const(e, I32) if isinstance(e, int) else e


def add(a: Expr | int, b: Expr | int) -> Binary:
    return Binary("+", num(a), num(b), I32)


def sub(a: Expr | int, b: Expr | int) -> Binary:
    return Binary("-", num(a), num(b), I32)


def mul(a: Expr | int, b: Expr | int) -> Binary:
    return Binary("*", num(a), num(b), I32)


def div(a: Expr | int, b: Expr | int) -> Binary:
    return Binary("/", num(a), num(b), I32)


def mod(a: Expr | int, b: Expr | int) -> Binary:
    return Binary("%", num(a), num(b), I32)


def equal(a: Expr | int, b: Expr | int) -> Binary:
    return Binary("==", num(a), num(b), I32)


def less(a: Expr | int, b: Expr | int) -> Binary:
    return Binary("<", num(a), num(b), I32)


def greater(a: Expr | int, b: Expr | int) -> Binary:
    return Binary(">", num(a), num(b), I32)


def at_most(a: Expr | int, b: Expr | int) -> Binary:
    return Binary("<=", num(a), num(b), I32)


def at_least(a: Expr | int, b: Expr | int) -> Binary:
    return Binary(">=", num(a), num(b), I32)


def scaled(e: Expr, n: int) -> Expr:
    """e * n, folded where e is a constant or n is 1."""
    if isinstance(e, Const):
        return Const(int(e.value) * n, I32)
    return e if n == 1 else mul(e, n)


def shifted(e: Expr, n: int) -> Expr:
    """e + n, folded where e is a constant or n is 0."""
    if isinstance(e, Const):
        return Const(int(e.value) + n, I32)
    return e if n == 0 else add(e, n)


def digit(e: Expr, radix: int, parts: int, whole: int) -> Expr:
    """The digit (e / radix) mod parts of a mixed-radix number e, where e < whole."""
    out = e if radix == 1 else div(e, radix)
    return out if radix * parts >= whole else mod(out, parts)


def number(digits: Iterable[tuple[Expr, int]]) -> Expr:
    """The mixed-radix number of digits that come with the number of their values, the slowest first."""
    out: Expr | None = None
    for e, parts in digits:
        out = e if out is None else add(mul(out, parts), e)
    return ZERO if out is None else out


def conjunction(terms: Sequence[Expr | None]) -> Expr | None:
    """All of the terms; None stands for what always holds."""
    out: Expr | None = None
    for term in terms:
        if term is not None:
            out = term if out is None else Binary("&&", out, term, I32)
    return out


def loop(
    var: str,
    stop: Expr | int,
    body: Iterable[Stmt],
    kind: ForKind = ForKind.SEQ,
    factor: int = 0,
    *,
    start: Expr | int = 0,
    step: int = 1,
) -> For:
    """`body` for each var from `start` up to `stop`, which it does not reach."""
    return For(var, num(start), num(stop), num(step), tuple(body), kind, factor)


def loops(
    names: Sequence[str], extents: Sequence[int], body: Iterable[Stmt], kind: ForKind = ForKind.SEQ
) -> list[Stmt]:
    """A loop for each name up to its extent, the first one outermost."""
    inner = list(body)
    for name, extent in zip(reversed(names), reversed(extents), strict=True):
        inner = [loop(name, extent, inner, kind)]
    return inner


def when(cond: Expr | None, body: Iterable[Stmt]) -> list[Stmt]:
    """`body` behind a guard. None: always."""
    return list(body) if cond is None else [If(cond, tuple(body))]


def load_each(bufs: Iterable[Buf], index: tuple[Expr, ...]) -> tuple[Expr, ...]:
    """The element of every buffer at one index: the components of a state lie in buffers of their own."""
    return tuple(Load(b.name, index, b.dtype) for b in bufs)


def store_each(bufs: Iterable[Buf], index: tuple[Expr, ...], state: Iterable[Expr]) -> list[Stmt]:
    """The components of a state, each into its buffer."""
    return [Store(b.name, index, e) for b, e in zip(bufs, state, strict=True)]
