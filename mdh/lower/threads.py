"""Re-composition inside a block: the parts of a reduction that threads hold meet by shuffles or in SM.

Source: language.md section 5: lanes of a warp `shuffle`, warps or threads of a block `shared`.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from math import prod

from mdh.hardware import THREADED, UNIT_AXES, Combine, Layer, Space
from mdh.ir.construct import (
    ZERO,
    add,
    conjunction,
    digit,
    equal,
    less,
    load_each,
    mod,
    number,
    store_each,
    when,
)
from mdh.ir.dtype import I32
from mdh.ir.expr import Call, Const, Expr, Select, Var
from mdh.ir.intrinsic import Intrinsic
from mdh.ir.kernel import Buf, If, Let, Stmt
from mdh.ir.layout import Level
from mdh.ir.plan import StagePlan
from mdh.ir.program import DimKind
from mdh.lower.finish import bind, named
from mdh.lower.fold import Fold, combine, identity
from mdh.lower.nest import Nest

WARP = 32


@dataclass(frozen=True, slots=True)
class ThreadDigit:
    """A digit of the linear thread id, (tid / stride) mod parts, and of a level: (var / piece) mod parts."""

    level: Level
    stride: int
    parts: int
    piece: int = 1

    @property
    def value(self) -> Expr:
        return digit(Var(self.level.var), self.piece, self.parts, self.level.parts)


def thread_stride(plan: StagePlan, layer: Layer | None, axis: int) -> int:
    """Linear thread ids per unit of a layer's axis: x fastest, lanes before warps before warp groups."""
    stride = 1
    for inner in reversed(THREADED):
        for a in range(len(UNIT_AXES)):
            if inner == layer and a == axis:
                return stride
            stride *= plan.axis_parts(inner, a)
    return stride


def split_threads(nest: Nest) -> list[ThreadDigit]:
    """The thread levels that split a reduction, smallest stride first."""
    found = [
        ThreadDigit(lv, thread_stride(nest.plan, lv.layer, lv.axis) * lv.piece, lv.parts)
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
    within: list[ThreadDigit] = []
    if Combine.SHUFFLE in nest.plan.combines[f] and nest.machine.shuffle:
        halves = [_at_warp(nest, d) for d in digits]
        within = [lane for lane, _ in halves if lane is not None]
        digits = [rest for _, rest in halves if rest is not None]
    for d in within:
        state = _butterfly(nest, fold, d.stride, d.stride * d.parts, state, out)
    if digits:
        state = _shared(nest, fold, digits, within, state, out)
    leaders: list[Expr] = [equal(Var(d.level.var), 0) for d in split_threads(nest)]
    return state, conjunction(leaders)


def _at_warp(nest: Nest, d: ThreadDigit) -> tuple[ThreadDigit | None, ThreadDigit | None]:
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
    nest: Nest,
    fold: Fold,
    digits: list[ThreadDigit],
    done: list[ThreadDigit],
    state: tuple[Expr, ...],
    out: list[Stmt],
) -> tuple[Expr, ...]:
    """The units of `digits` meet in shared memory, where lanes already combined send one value: warps are
    read by every warp and combined by shuffles once more, other units combine in a tree."""
    parts = prod(d.parts for d in digits)
    lanes = prod(d.parts for d in done)
    groups = nest.threads // parts // lanes
    unit = number((d.value, d.parts) for d in reversed(digits))
    group = other_threads(nest, [d.level.var for d in (*digits, *done)])
    if lanes == WARP:
        return _over_warps(nest, fold, unit, parts, group, groups, state, out)
    rows = _scratch(nest, fold, (parts, groups))
    sender = conjunction([equal(d.value, 0) for d in done])
    u = nest.fresh("unit")
    out.append(Let(u, unit))
    send = store_each(rows, (Var(u), group), state)
    out.extend(when(sender, send))
    half = 1
    while half * 2 < parts:
        half *= 2
    while half >= 1:
        out.extend(_tree_level(nest, fold, rows, u, group, half, parts, sender))
        half //= 2
    first = (ZERO, group)
    return bind(nest, "whole", load_each(rows, first), out)


def _over_warps(
    nest: Nest, fold: Fold, unit: Expr, parts: int, group: Expr, groups: int, state: tuple[Expr, ...],
    out: list[Stmt],
) -> tuple[Expr, ...]:  # fmt: skip
    """Each warp leaves its part; the lanes of every warp read those of its group, one each, and combine them:
    the block meets once. Then every lane has the whole, so lanes beyond these read the same again."""
    rows = _scratch(nest, fold, (groups, parts))
    lane = named(nest, "lane", mod(Var(nest.tid), WARP), out)
    sends = equal(lane, 0)
    own = (group, unit)
    out.append(If(sends, tuple(store_each(rows, own, state))))
    lanes = 1 << (parts - 1).bit_length()
    place: Expr = lane if lanes == WARP else mod(lane, lanes)
    read: tuple[Expr, ...] = load_each(rows, (group, place))
    if parts < lanes:
        there = less(place, parts)
        read = tuple(Select(there, e, c, e.dtype) for e, c in zip(read, identity(fold), strict=True))
    return _butterfly(nest, fold, 1, parts, read, out)


def _tree_level(
    nest: Nest, fold: Fold, rows: tuple[Buf, ...], u: str, group: Expr, half: int, parts: int,
    sender: Expr | None,
) -> list[Stmt]:  # fmt: skip
    """Units below `half` take in the unit `half` above them."""
    mine = (Var(u), group)
    theirs = (add(Var(u), half), group)
    body: list[Stmt] = []
    a = bind(nest, "mine", load_each(rows, mine), body)
    b = bind(nest, "theirs", load_each(rows, theirs), body)
    body.extend(store_each(rows, mine, combine(fold, a, b)))
    paired = less(Var(u), parts - half) if half * 2 > parts else None
    return when(conjunction([sender, less(Var(u), half), paired]), body)


def _scratch(nest: Nest, fold: Fold, shape: tuple[int, int]) -> tuple[Buf, ...]:
    """Rows in shared memory, one buffer for each component of the state."""
    return tuple(
        nest.declare(Buf(f"meet_{t.name}{c or ''}", Space.SM, t, shape, (shape[1], 1), align=16))
        for c, t in enumerate(fold.types)
    )


def other_threads(nest: Nest, used: Iterable[str]) -> Expr:
    """Number of the set of threads that share a reduction: the digits of all thread levels but those used."""
    others = set(used)
    rest = (lv for lv in nest.thread_levels() if lv.var not in others)
    fastest = sorted(rest, key=lambda lv: thread_stride(nest.plan, lv.layer, lv.axis) * lv.piece)
    return number((Var(lv.var), lv.parts) for lv in reversed(fastest))
