"""Folds: results as the lowering sees them, and what combining two partial results means.

A record result (argmin/argmax) carries one component more than the C shows: the position of the point in C's
order, which decides ties whatever the order of evaluation (state: key, position, payload…).
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace

from mdh.ir.construct import equal
from mdh.ir.domain import domain_of
from mdh.ir.dtype import I32, I64, DType, integer_range
from mdh.ir.expr import Binary, Call, Cast, Const, Expr, Select, Var
from mdh.ir.factor import factored
from mdh.ir.program import DimKind, Operator, Output, Result, Stage

POSITION_LIMIT = 2**31 - 1


@dataclass(frozen=True, slots=True)
class Fold:
    """One result: `values[c]` is combined over the reduction dims in `types[c]`; see program.Result.

    components[k] is the state component that `Var(component(k))` of the outputs stands for.
    """

    op: Operator | None
    values: tuple[Expr, ...]
    starts: tuple[Expr | None, ...]
    types: tuple[DType, ...]
    outputs: tuple[Output, ...]
    components: tuple[int, ...]
    exclusive: bool = False
    unstarted: bool = False
    """The C begins at the operator's identity, which is then the result of no points."""
    factor: Expr | None = None
    """Of a finished sum: all its terms share it."""
    finishing: Expr | None = None
    """Of a pass: the finished sum, from component 0, which was summed."""
    inside: tuple[Expr, ...] = ()
    """The values where the point is in the stage's domain, if it has one."""

    @property
    def record(self) -> bool:
        return self.op is not None and self.op.name in ("argmin", "argmax")

    def suffix(self, c: int) -> str:
        """Of the name of the buffer that holds component c of the state."""
        return "" if c == 0 else "_pos" if c == 1 else f"_value{c - 1}"

    @property
    def selects(self) -> bool:
        """Combining chooses one of the two states, and so names each of them more than once."""
        return self.record or (self.op is not None and self.op.name in ("min", "max"))

    @property
    def ordered(self) -> bool:
        """The state passes from one region to the next: none begins at the identity and is merged later."""
        return self.op is not None and self.op.ordered


def folds_of(stage: Stage, turns: Mapping[str, int] = {}) -> tuple[Fold, ...]:
    """turns: as of `domain_of`."""
    domain = domain_of(stage, turns)
    folds = tuple(_fold(stage, r) for r in stage.results)
    if stage.host is not None:
        folds = tuple(replace(x, finishing=e) for x, e in zip(folds, stage.host.finishing, strict=True))
    if domain is None:
        return folds
    pairs = zip(folds, domain.inside.results, strict=True)
    return tuple(replace(fold, inside=(r.values[0], *fold.values[1:])) for fold, r in pairs)


def _fold(stage: Stage, r: Result) -> Fold:
    if r.op is None or r.op.name not in ("argmin", "argmax"):
        term = factored(stage, r)
        values = (term.rest, *r.values[1:])
        components = tuple(range(len(r.values)))
        began = r.starts[0] is None
        return Fold(r.op, values, r.starts, r.types, r.outputs, components, r.exclusive, began, term.factor)
    position, dtype = _position(stage)
    start: Expr | None = None if r.starts[0] is None else Const(-1, dtype)
    # a payload that is the position, and starts like it, is not carried twice
    same = [k for k, v in enumerate(r.values) if k and v == position and r.starts[k] == start is not None]
    rest = [k for k in range(1, len(r.values)) if k not in same]
    return Fold(
        r.op,
        (r.values[0], position, *(r.values[k] for k in rest)),
        (r.starts[0], start, *(r.starts[k] for k in rest)),
        (r.types[0], dtype, *(r.types[k] for k in rest)),
        r.outputs,
        (0, *(1 if k in same else 2 + rest.index(k) for k in range(1, len(r.values)))),
        r.exclusive,
    )


def _position(stage: Stage) -> tuple[Expr, DType]:
    """The point's number in C's order over the reduction dims."""
    dims = [d for d in stage.dims if d.kind is not DimKind.CC]
    dtype = I32 if math.prod(d.extent for d in dims) < POSITION_LIMIT else I64
    out: Expr | None = None
    for d in dims:
        var: Expr = Var(d.name, I32) if dtype is I32 else Cast(Var(d.name, I32), dtype)
        if out is None:
            out = var
        else:
            scaled = Binary("*", out, Const(d.extent, dtype), dtype)
            out = Binary("+", scaled, var, dtype)
    # no dimension is reduced: a point has its record to itself
    return Const(0, dtype) if out is None else out, dtype


def identity(fold: Fold) -> tuple[Const, ...]:
    """The neutral state: combining it with any state that some point made gives that state."""
    assert fold.op is not None
    t = fold.types[0]
    match fold.op.name:
        case "min" | "max" if fold.op.nan and t.is_float and not fold.unstarted:
            return (Const(math.nan, t),)
        case "argmax" | "argmin":
            last = Const(integer_range(fold.types[1])[1], fold.types[1])
            pos = last if fold.op.tie == "first" else Const(-2, fold.types[1])
            return (fold.op.identity(t), pos, *(_number(0, p) for p in fold.types[2:]))
        case _:
            return (fold.op.identity(t),)


def _number(n: int, t: DType) -> Const:
    return Const(float(n) if t.is_float else n, t)


def combine(fold: Fold, a: tuple[Expr, ...], b: tuple[Expr, ...]) -> tuple[Expr, ...]:
    """The state of a (earlier) and b (later) together. Operands of records must be cheap to repeat."""
    assert fold.op is not None
    t = fold.types[0]
    match fold.op.name:
        case "+" | "*" | "&" | "|" | "^" as op:
            both = Binary(op, a[0], b[0], t)
            half = fold.op.rounded
            return (both if half is None else Cast(Cast(both, half), t),)
        case "&&" | "||" as op:
            return (_as(Binary(op, a[0], b[0], I32), t),)
        case "min" | "max":
            kept, half = _extreme(fold.op, t, a[0], b[0]), fold.op.rounded
            return (kept if half is None else Cast(Cast(kept, half), t),)
        case "argmax" | "argmin" as op:
            take = better(fold, a, b, ">" if op == "argmax" else "<")
            return tuple(Select(take, y, x, c) for x, y, c in zip(a, b, fold.types, strict=True))
        case other:
            raise AssertionError(other)


def follow(fold: Fold, a: tuple[Expr, ...], b: tuple[Expr, ...]) -> tuple[Expr, ...]:
    """The state of a record a and of one point b that is later than all in a, where the record starts from
    memory: that start takes the place of points that are no better than the identity."""
    assert fold.op is not None and fold.starts[0] is not None
    sign = (">" if fold.op.name == "argmax" else "<") + ("" if fold.op.tie == "first" else "=")
    take = Binary(sign, b[0], a[0], I32)
    return tuple(Select(take, y, x, c) for x, y, c in zip(a, b, fold.types, strict=True))


def _extreme(op: Operator, t: DType, a: Expr, b: Expr) -> Expr:
    """Of floats in order, C's own comparison. In any other order a NaN among the values is passed over: the
    state `a` begins at a number, and stays where the comparison is false."""
    if op.nan and t.is_float:
        return Call("f" + op.name, (a, b), t)
    if not t.is_float and t.bits < I32.bits:
        return Cast(Call("i" + op.name, (Cast(a, I32), Cast(b, I32)), I32), t)
    if not t.is_float:
        return Call("i" + op.name, (a, b), t)
    sign = ">" if op.name == "max" else "<"
    if not op.ordered:
        return Select(Binary(sign, b, a, I32), b, a, t)
    if op.takes:
        return Select(Binary(sign + "=" * (op.tie == "first"), a, b, I32), a, b, t)
    return Select(Binary(sign + "=" * (op.tie == "last"), b, a, I32), b, a, t)


def better(fold: Fold, a: tuple[Expr, ...], b: tuple[Expr, ...], sign: str) -> Expr:
    """True where the later state b replaces a: a better key, or the tie rule on positions."""
    assert fold.op is not None
    tie = "<" if fold.op.tie == "first" else ">"
    same = Binary("&&", equal(b[0], a[0]), Binary(tie, b[1], a[1], I32), I32)
    return Binary("||", Binary(sign, b[0], a[0], I32), same, I32)


def _as(e: Expr, t: DType) -> Expr:
    return e if t is I32 or t == I32 else Cast(e, t)
