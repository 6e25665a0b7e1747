"""Opening and closing regions: identity in, one merge outward, starting value and epilogue exactly once.

Source: language.md section 5: "Partial results accumulate across them and are merged outward once, when the
run ends. The starting value enters once; the epilogue runs once, after the last reduction is combined."
"""

from collections.abc import Callable
from dataclasses import replace

from mdh.hardware import THREADED, Layer, Space, SyncScope
from mdh.ir.affine import Affine
from mdh.ir.dtype import I32
from mdh.ir.expr import Binary, Const, Expr, Load, Var
from mdh.ir.kernel import Alloc, Barrier, Buf, For, ForKind, If, Let, Stmt, Store
from mdh.ir.layout import Level
from mdh.lower.cut import cut_of
from mdh.lower.finish import begin, finish, store_state
from mdh.lower.fold import Fold, combine, identity
from mdh.lower.nest import Nest, Region, Scope, conjunction, dm_buf
from mdh.lower.spread import deal
from mdh.lower.threads import combine_threads, split_threads
from mdh.lower.write_back import at_coordinates, kept_guards, wide_stores, width

MOST_ROUNDS = 16
"""Rounds of a cooperative copy that are unrolled."""
Inner = Callable[[Scope], list[Stmt]]


def open_region(nest: Nest, region: Region, scope: Scope) -> list[Stmt]:
    """Declare the region; a reduction's results start at the identity, or go on where they are."""
    fold = nest.folds[region.fold]
    if region.space is Space.RM:
        first = identity(fold) if fold.op is not None else None
        rows: list[Stmt] = [Alloc(b, None if first is None else first[c]) for c, b in enumerate(region.bufs)]
        return [*rows, *_resume(nest, region, scope)] if fold.ordered else rows
    meet: list[Stmt] = []
    again = nest.plan.grid.persistent or any(isinstance(it, Level) for it in nest.items[: region.opens])
    if nest.threads > 1:
        # between opening and closing each element has one owner, so these two are the region's only barriers
        nest.managed.update(b.name for b in region.bufs)
        meet = [Barrier(SyncScope.BLOCK, f"{region.bufs[0].name} opens")]
    if fold.op is None:
        return meet if again else []
    return [*meet, *fill(nest, region.bufs, identity(fold)), *meet]


def fill(nest: Nest, bufs: tuple[Buf, ...], values: tuple[Const, ...]) -> list[Stmt]:
    """Every element of SM buffers, by all threads together."""
    shape = list(bufs[0].shape)
    if nest.threads > 1:
        dealt = deal(nest, shape, f"z_{bufs[0].name}")
        body: tuple[Stmt, ...] = tuple(
            Store(b.name, dealt.coordinates, v) for b, v in zip(bufs, values, strict=True)
        )
        return wrap_rounds(dealt.counter, dealt.rounds, dealt.guard, (*dealt.lets, *body))
    names = [nest.fresh(f"z_{bufs[0].name}{k}") for k in range(len(shape))]
    index = tuple(Var(n) for n in names)
    inner: tuple[Stmt, ...] = tuple(Store(b.name, index, v) for b, v in zip(bufs, values, strict=True))
    for name, extent in zip(reversed(names), reversed(shape), strict=True):
        inner = (For(name, Const(0, I32), Const(extent, I32), Const(1, I32), inner),)
    return list(inner)


def wrap_rounds(counter: str, rounds: int, guard: Expr | None, body: tuple[Stmt, ...]) -> list[Stmt]:
    """`rounds` turns of a cooperative loop, guarded where the last is ragged."""
    if guard is not None:
        body = (If(guard, body),)
    if rounds == 1:
        return list(body)
    return [For(counter, Const(0, I32), Const(rounds, I32), Const(1, I32), body)]


def close_region(nest: Nest, region: Region, scope: Scope) -> list[Stmt]:
    """Merge the region into the next one outward, or into the output."""
    if region.space is Space.SM and nest.threads > 1:
        return _close_shared(nest, region, scope)
    return _each(nest, region, scope, lambda known: _merge(nest, region, known))


def _resume(nest: Nest, region: Region, scope: Scope) -> list[Stmt]:
    """The elements of an ordered reduction's region go on from the region around it, or from memory."""
    return _each(nest, region, scope, lambda known: _start(nest, region, known))


def _start(nest: Nest, region: Region, scope: Scope) -> list[Stmt]:
    index = region.index(scope.values)
    mine = [r for r in nest.regions if r.fold == region.fold]
    k = mine.index(region)
    if k == 0:
        body = begin(nest, region.fold, region.bufs[0].name, index, scope, region.opens)
    else:
        parent = mine[k - 1]
        held = Load(parent.bufs[0].name, parent.index(scope.values), parent.bufs[0].dtype)
        body = [Store(region.bufs[0].name, index, held)]
    return _guarded(nest, scope, None, body)


def _each(nest: Nest, region: Region, scope: Scope, inner: Inner) -> list[Stmt]:
    """`inner` for every element of a region that its unit holds."""
    threads = () if nest.cpu else THREADED
    order = [v for v in _store_order(nest, region) if nest.levels.of_var(v).layer not in threads]
    return _through(nest, region, order, scope, inner)


def _through(nest: Nest, region: Region, order: list[str], scope: Scope, inner: Inner) -> list[Stmt]:
    """Loops over the variables of `order`, on a CPU up to where the edge cuts them."""
    if not order:
        return inner(scope)
    var, *rest = order
    level = nest.levels.of_var(var)
    lanes = any(isinstance(it, Level) and it.layer is Layer.VEC and it.var == var for it in nest.items)
    kind = ForKind.VEC if lanes else ForKind.UNROLL if region.space is Space.RM else ForKind.SEQ

    def loop(start: int, stop: int, known: Scope) -> For:
        body = tuple(_through(nest, region, rest, known, inner))
        return For(var, Const(start, I32), Const(stop, I32), Const(1, I32), body, kind)

    ends = cut_of(nest, level, scope, frozenset(rest)) if nest.cpu else None
    if ends is None:
        return [loop(0, level.parts, scope)]
    out: list[Stmt] = []
    if ends.whole:
        out.append(loop(0, ends.whole, scope.limited(var, ends.whole)))
    if ends.begun > ends.whole:
        out.append(loop(ends.whole, ends.begun, scope.at_part(var, ends.whole)))
    return out


def _store_order(nest: Nest, region: Region) -> list[str]:
    """The region's loops with the output's neighbouring elements innermost."""
    o = nest.folds[region.fold].outputs[0]
    access = nest.access(o.index)
    if access is None or len(access) != len(nest.buffers[o.buffer].shape):
        return list(region.loops)
    flat = Affine()
    for index, n in zip(access, dm_buf(nest.buffers[o.buffer], readonly=False).strides, strict=True):
        flat = flat + nest.over_levels(index).scale(n)
    return sorted(region.loops, key=lambda v: -abs(flat.coefficient(v)))


def _merge(nest: Nest, region: Region, scope: Scope) -> list[Stmt]:
    """One element of a private region, at the current level variables."""
    fold = nest.folds[region.fold]
    out: list[Stmt] = []
    index = region.index(scope.values)
    if fold.op is None:
        values = tuple(Load(b.name, index, b.dtype) for b in region.bufs)
        return _guarded(nest, scope, None, _outward(nest, region, values, scope))
    state = _across_lanes(nest, region, fold, index, out) if region.lanes else None
    if state is None:
        state = tuple(Load(b.name, index, b.dtype) for b in region.bufs)
    leader: Expr | None = None
    if region.space is Space.RM and split_threads(nest):
        state, leader = combine_threads(nest, region.fold, state, out)
    out.extend(_guarded(nest, scope, leader, _outward(nest, region, state, scope)))
    return out


def _across_lanes(
    nest: Nest, region: Region, fold: Fold, index: tuple[Expr, ...], out: list[Stmt]
) -> tuple[Expr, ...]:
    """Combine what vector lanes hold of one element, pairwise."""
    lane = region.lanes[-1]
    n = nest.levels.of_var(lane).parts
    rows = []
    for b in region.bufs:
        row = Buf(nest.fresh(f"{b.name}_lanes"), Space.RM, b.dtype, (n,), (1,))
        out.append(Alloc(row))
        store = Store(row.name, (Var(lane),), Load(b.name, index, b.dtype))
        out.append(For(lane, Const(0, I32), Const(n, I32), Const(1, I32), (store,), ForKind.VEC))
        rows.append(row)
    states: list[tuple[Expr, ...]] = [
        tuple(Load(r.name, (Const(i, I32),), r.dtype) for r in rows) for i in range(n)
    ]
    while len(states) > 1:
        states = [
            _bound(nest, fold, combine(fold, states[i], states[i + 1]), out)
            if i + 1 < len(states)
            else states[i]
            for i in range(0, len(states), 2)
        ]
    return states[0]


def _bound(nest: Nest, fold: Fold, state: tuple[Expr, ...], out: list[Stmt]) -> tuple[Expr, ...]:
    names = [nest.fresh("sum") for _ in state]
    out.extend(Let(n, e, t) for n, e, t in zip(names, state, fold.types, strict=True))
    return tuple(Var(n, t) for n, t in zip(names, fold.types, strict=True))


def _guarded(nest: Nest, scope: Scope, leader: Expr | None, body: list[Stmt]) -> list[Stmt]:
    """`body` where the output element exists, by one unit of those that share a reduction."""
    cond = nest.condition(kept_guards(nest, scope), scope)
    both = conjunction([c for c in (leader, cond) if c is not None])
    return body if both is None else [If(both, tuple(body))]


def _outward(nest: Nest, region: Region, state: tuple[Expr, ...], scope: Scope) -> list[Stmt]:
    """Into the enclosing region of the same fold, else into the output."""
    outer = [r for r in nest.regions if r.fold == region.fold]
    k = outer.index(region)
    fold = nest.folds[region.fold]
    if k == 0:
        return finish(nest, region.fold, state, scope, region.opens)
    parent = outer[k - 1]
    index = parent.index(scope.values)
    if parent.lanes:
        index = (*index[: len(index) - len(parent.lanes)], *(Const(0, I32) for _ in parent.lanes))
    if fold.op is None or fold.ordered:
        return [Store(b.name, index, v) for b, v in zip(parent.bufs, state, strict=True)]
    return store_state(nest, fold, parent.bufs, index, state)


def _close_shared(nest: Nest, region: Region, scope: Scope) -> list[Stmt]:
    """All threads together write a shared region's elements, neighbours to neighbours in the output."""
    shape = list(region.bufs[0].shape)
    # where the stage reads its own output, those reads of device memory must be over as well
    scope_of = SyncScope.DEVICE if nest.stage.read & nest.stage.written else SyncScope.BLOCK
    meet = Barrier(scope_of, f"{region.bufs[0].name} is complete")
    lanes = width(nest, region, scope)
    if lanes > 1:
        dealt = deal(nest, [*shape[:-1], shape[-1] // lanes], f"m_{region.bufs[0].name}")
        *outer, last = dealt.coordinates
        at = (*outer, Binary("*", last, Const(lanes, I32), I32))
        inner = at_coordinates(nest, region, at, scope)
        body = _guarded(nest, inner, None, list(wide_stores(nest, region, at, lanes, inner)))
        turns = wrap_rounds(dealt.counter, dealt.rounds, dealt.guard, (*dealt.lets, *body))
        return [meet, *(_unrolled(s) for s in turns)]
    dealt = deal(nest, shape, f"m_{region.bufs[0].name}")
    inner = at_coordinates(nest, region, dealt.coordinates, scope)
    state = tuple(Load(b.name, dealt.coordinates, b.dtype) for b in region.bufs)
    body = _guarded(nest, inner, None, _outward(nest, region, state, inner))
    return [meet, *wrap_rounds(dealt.counter, dealt.rounds, dealt.guard, (*dealt.lets, *body))]


def _unrolled(s: Stmt) -> Stmt:
    """Several rounds of loads and stores on their way at once."""
    short = isinstance(s, For) and isinstance(s.stop, Const) and s.stop.value <= MOST_ROUNDS
    return replace(s, kind=ForKind.UNROLL) if short and isinstance(s, For) else s
