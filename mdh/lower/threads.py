"""Re-composition inside a block: the parts of a reduction that threads hold meet by shuffles or in SM.

Source: language.md section 5: lanes of a warp `shuffle`, warps or threads of a block `shared`.
"""

from dataclasses import dataclass, replace
from math import prod

from mdh.hardware import THREADED, Combine, Layer, Space
from mdh.ir.dtype import I32, DType
from mdh.ir.expr import Binary, Call, Const, Expr, Load, Select, Var
from mdh.ir.intrinsic import Intrinsic
from mdh.ir.kernel import Buf, If, Let, Stmt, Store
from mdh.ir.layout import Level
from mdh.ir.plan import StagePlan
from mdh.ir.program import DimKind
from mdh.lower.finish import bind, named
from mdh.lower.fold import Fold, combine, identity
from mdh.lower.nest import Nest, conjunction

WARP = 32


@dataclass(frozen=True, slots=True)
class Digit:
    """A digit of the linear thread id, (tid / stride) mod parts, and of a level: (var / piece) mod parts."""

    level: Level
    stride: int
    parts: int
    piece: int = 1

    @property
    def value(self) -> Expr:
        e: Expr = Var(self.level.var)
        if self.piece > 1:
            e = Binary("/", e, Const(self.piece, I32), I32)
        return (
            e if self.piece * self.parts >= self.level.parts else Binary("%", e, Const(self.parts, I32), I32)
        )


def thread_stride(plan: StagePlan, layer: Layer | None, axis: int) -> int:
    """Linear thread ids per unit of a layer's axis: x fastest, lanes before warps before warp groups."""
    stride = 1
    for inner in reversed(THREADED):
        for a in range(3):
            if inner == layer and a == axis:
                return stride
            stride *= plan.axis_parts(inner, a)
    return stride


def split_threads(nest: Nest) -> list[Digit]:
    """The thread levels that split a reduction, smallest stride first."""
    found = [
        Digit(lv, thread_stride(nest.plan, lv.layer, lv.axis) * lv.piece, lv.parts)
        for lv in nest.thread_levels()
        if nest.stage.dims[lv.dim].kind is DimKind.PW
    ]
    return sorted(found, key=lambda d: d.stride)


def combine_threads(
    nest: Nest, f: int, state: tuple[Expr, ...], out: list[Stmt]
) -> tuple[tuple[Expr, ...], Expr | None]:
    """(the combined state, the condition under which a thread holds it)."""
    fold = nest.folds[f]
    digits = split_threads(nest)
    within: list[Digit] = []
    if Combine.SHUFFLE in nest.plan.combines[f] and nest.machine.shuffle:
        halves = [_at_warp(nest, d) for d in digits]
        within = [lane for lane, _ in halves if lane is not None]
        digits = [rest for _, rest in halves if rest is not None]
    for d in within:
        state = _shuffle(nest, fold, d, state, out)
    if digits:
        state = _shared(nest, fold, digits, within, state, out)
    leaders: list[Expr] = [Binary("==", Var(d.level.var), Const(0, I32), I32) for d in split_threads(nest)]
    return state, conjunction(leaders)


def _at_warp(nest: Nest, d: Digit) -> tuple[Digit | None, Digit | None]:
    """A digit cut into lanes of one warp at power-of-two distances (all lanes taking part), and the rest."""
    lanes = 1
    if nest.threads % WARP == 0 and d.stride & (d.stride - 1) == 0:
        while d.parts % (lanes * 2) == 0 and d.stride * lanes * 2 <= WARP:
            lanes *= 2
    if lanes > 1 and d.stride * d.parts > WARP and d.stride * lanes < WARP:
        lanes = 1
    if lanes == 1:
        return None, d
    if lanes == d.parts:
        return d, None
    return replace(d, parts=lanes), replace(d, stride=d.stride * lanes, parts=d.parts // lanes, piece=lanes)


def _shuffle(nest: Nest, fold: Fold, d: Digit, state: tuple[Expr, ...], out: list[Stmt]) -> tuple[Expr, ...]:
    return _butterfly(nest, fold, d.stride, d.stride * d.parts, state, out)


def _butterfly(
    nest: Nest, fold: Fold, first: int, stop: int, state: tuple[Expr, ...], out: list[Stmt]
) -> tuple[Expr, ...]:
    """Lanes at distances `first`, twice that, … below `stop` exchange and combine: after it every lane of the
    group holds the whole, the lowest one in the order of the lanes."""
    state = bind(nest, "part", state, out)
    offset = first
    while offset < stop:
        other: tuple[Expr, ...] = tuple(
            Call(Intrinsic.SHFL_XOR, (e, Const(offset, I32)), t)
            for e, t in zip(state, fold.types, strict=True)
        )
        other = bind(nest, "other", other, out) if fold.record or _chooses(fold) else other
        state = bind(nest, "part", combine(fold, state, other), out)
        offset *= 2
    return state


def _chooses(fold: Fold) -> bool:
    """The operator names a side twice, or leaves its right side out where the left one decides: all lanes of
    a warp must exchange."""
    return fold.op is not None and fold.op.name in ("min", "max", "&&", "||")


def _shared(
    nest: Nest, fold: Fold, digits: list[Digit], done: list[Digit], state: tuple[Expr, ...], out: list[Stmt]
) -> tuple[Expr, ...]:
    """The units of `digits` meet in shared memory, where lanes already combined send one value: warps are
    read by every warp and combined by shuffles once more, other units combine in a tree."""
    parts = prod(d.parts for d in digits)
    lanes = prod(d.parts for d in done)
    groups = nest.threads // parts // lanes
    unit = _number([(d.value, d.parts) for d in digits])
    group = other_threads(nest, [*digits, *done])
    if lanes == WARP:
        return _over_warps(nest, fold, unit, parts, group, groups, state, out)
    rows = tuple(_scratch(nest, c, t, parts, groups) for c, t in enumerate(fold.types))
    sender = conjunction([Binary("==", d.value, Const(0, I32), I32) for d in done])
    u = nest.fresh("unit")
    out.append(Let(u, unit))
    send: tuple[Stmt, ...] = tuple(
        Store(r.name, (Var(u), group), e) for r, e in zip(rows, state, strict=True)
    )
    out.extend(send if sender is None else (If(sender, send),))
    half = 1
    while half * 2 < parts:
        half *= 2
    while half >= 1:
        out.append(_tree_level(nest, fold, rows, u, group, half, parts, sender))
        half //= 2
    first = (Const(0, I32), group)
    return bind(nest, "whole", tuple(Load(r.name, first, r.dtype) for r in rows), out)


def _over_warps(
    nest: Nest, fold: Fold, unit: Expr, parts: int, group: Expr, groups: int, state: tuple[Expr, ...],
    out: list[Stmt],
) -> tuple[Expr, ...]:  # fmt: skip
    """Each warp leaves its part; the lanes of every warp read those of its group, one each, and combine them:
    the block meets once."""
    rows = tuple(
        nest.declare(Buf(f"meet_{t.name}{c or ''}", Space.SM, t, (groups, parts), (parts, 1), align=16))
        for c, t in enumerate(fold.types)
    )
    lane = named(nest, "lane", I32, Binary("%", Var(nest.tid), Const(WARP, I32), I32), out)
    sends = Binary("==", lane, Const(0, I32), I32)
    own = (group, unit)
    out.append(If(sends, tuple(Store(r.name, own, e) for r, e in zip(rows, state, strict=True))))
    full = parts & (parts - 1) == 0
    place: Expr = lane if parts == WARP or not full else Binary("%", lane, Const(parts, I32), I32)
    read: tuple[Expr, ...] = tuple(Load(r.name, (group, place), r.dtype) for r in rows)
    if not full:
        there = Binary("<", lane, Const(parts, I32), I32)
        read = tuple(Select(there, e, c, e.dtype) for e, c in zip(read, identity(fold), strict=True))
    return _butterfly(nest, fold, 1, parts, read, out)


def _tree_level(
    nest: Nest,
    fold: Fold,
    rows: tuple[Buf, ...],
    u: str,
    group: Expr,
    half: int,
    parts: int,
    sender: Expr | None,
) -> Stmt:
    """Units below `half` take in the unit `half` above them."""
    mine = (Var(u), group)
    theirs = (Binary("+", Var(u), Const(half, I32), I32), group)
    body: list[Stmt] = []
    a = bind(nest, "mine", tuple(Load(r.name, mine, r.dtype) for r in rows), body)
    b = bind(nest, "theirs", tuple(Load(r.name, theirs, r.dtype) for r in rows), body)
    body.extend(Store(r.name, mine, e) for r, e in zip(rows, combine(fold, a, b), strict=True))
    terms: list[Expr] = [] if sender is None else [sender]
    terms.append(Binary("<", Var(u), Const(half, I32), I32))
    if half * 2 > parts:
        terms.append(Binary("<", Var(u), Const(parts - half, I32), I32))
    cond = conjunction(terms)
    assert cond is not None
    return If(cond, tuple(body))


def _scratch(nest: Nest, component: int, t: DType, parts: int, groups: int) -> Buf:
    buf = Buf(f"meet_{t.name}{component or ''}", Space.SM, t, (parts, groups), (groups, 1), align=16)
    return nest.declare(buf)


def _number(digits: list[tuple[Expr, int]]) -> Expr:
    """Mixed-radix number, the first digit fastest."""
    out: Expr | None = None
    for var, parts in reversed(digits):
        out = var if out is None else Binary("+", Binary("*", out, Const(parts, I32), I32), var, I32)
    assert out is not None
    return out


def other_threads(nest: Nest, used_digits: list[Digit]) -> Expr:
    """Number of the set of threads that share a reduction: the digits of all other thread levels."""
    used = {d.level.var for d in used_digits}
    rest = sorted(
        (lv for lv in nest.thread_levels() if lv.var not in used),
        key=lambda lv: thread_stride(nest.plan, lv.layer, lv.axis) * lv.piece,
    )
    return _number([(Var(lv.var), lv.parts) for lv in rest]) if rest else Const(0, I32)
