"""Opening and closing regions: identity in, one merge outward, starting value and epilogue exactly once.

Source: language.md section 5: "Partial results accumulate across them and are merged outward once, when the
run ends. The starting value enters once; the epilogue runs once, after the last reduction is combined."
"""

from collections.abc import Callable
from dataclasses import replace

from mdh.hardware import THREADED, Layer, Space, SyncScope
from mdh.ir.affine import offset
from mdh.ir.construct import ZERO, conjunction, load_each, loop, mul, num, store_each, when
from mdh.ir.expr import Const, Expr, Load, Var
from mdh.ir.kernel import Alloc, Barrier, Buf, For, ForKind, If, Stmt, Store
from mdh.ir.layout import Level
from mdh.ir.program import DimKind
from mdh.lower.deal import deal, over_box, wrap
from mdh.lower.finish import begin, bind, finish, reduction_loops, store_state
from mdh.lower.fold import Fold, combine, identity
from mdh.lower.nest import Nest
from mdh.lower.open_edges import open_part
from mdh.lower.scope import Region, Scope
from mdh.lower.threads import combine_threads, split_threads
from mdh.lower.trip_counts import trip_counts
from mdh.lower.write_back import at_coordinates, of_any_thread, wide_stores, width

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
        nest.declarations.synchronise(region.bufs)
        meet = [Barrier(SyncScope.BLOCK, f"{region.bufs[0].name} opens")]
    if fold.op is None or _filled_once(nest, region):
        return meet if again else []
    return [*meet, *fill(nest, region.bufs, identity(fold)), *meet]


def fill(nest: Nest, bufs: tuple[Buf, ...], values: tuple[Const, ...]) -> list[Stmt]:
    """Every element of SM buffers, by all threads together."""
    return over_box(nest, bufs[0].shape, f"z_{bufs[0].name}", lambda at: store_each(bufs, at, values))


def close_region(nest: Nest, region: Region, scope: Scope) -> list[Stmt]:
    """Merge the region into the next one outward, or into the output."""
    if region.space is Space.SM and nest.threads > 1:
        return _close_shared(nest, region, scope)
    return close_each(nest, region, scope)


def _resume(nest: Nest, region: Region, scope: Scope) -> list[Stmt]:
    """The elements of an ordered reduction's region go on from the region around it, or from memory."""
    return close_over(nest, region, scope, lambda known: _start(nest, region, known))


def _start(nest: Nest, region: Region, scope: Scope) -> list[Stmt]:
    index = region.index(scope.values)
    parent = _parent(nest, region)
    if parent is None:
        body = begin(nest, region.fold, region.bufs[0].name, index, scope, region.opens)
    else:
        held = Load(parent.bufs[0].name, parent.index(scope.values), parent.bufs[0].dtype)
        body = [Store(region.bufs[0].name, index, held)]
    return _guarded(nest, scope, None, body)


def _parent(nest: Nest, region: Region) -> Region | None:
    """The region of the same fold around this one."""
    mine = nest.regions_of(region.fold)
    k = mine.index(region)
    return mine[k - 1] if k else None


def close_each(nest: Nest, region: Region, scope: Scope) -> list[Stmt]:
    """Merge the elements of a private region for which the scope has values of some variables."""
    return close_over(nest, region, scope, lambda known: _merge(nest, region, known))


def _filled_once(nest: Nest, region: Region) -> bool:
    """Whether the next region inward of a reduction has all terms when it closes: its results then are those
    of the shared region, which needs no starting values."""
    fold = nest.folds[region.fold]
    inner = next((r for r in nest.regions_of(region.fold) if r.opens > region.opens), None)
    if region.space is not Space.SM or inner is None or region.lanes or fold.ordered:
        return False
    return reduction_loops(nest, inner.opens) == reduction_loops(nest, region.opens)


def close_over(nest: Nest, region: Region, scope: Scope, inner: Inner) -> list[Stmt]:
    """`inner` for every element of a region that its unit holds."""
    threads = () if nest.cpu else THREADED
    order = [v for v in _store_order(nest, region) if nest.levels.of_var(v).layer not in threads]
    order = [v for v in order if v not in scope.values]
    return _through(nest, region, order, scope, inner)


def _through(nest: Nest, region: Region, order: list[str], scope: Scope, inner: Inner) -> list[Stmt]:
    """Loops over the variables of `order`, on a CPU up to where the edge cuts them."""
    if not order:
        return inner(scope)
    var, *rest = order
    level = nest.levels.of_var(var)
    lanes = any(isinstance(it, Level) and it.layer is Layer.VEC and it.var == var for it in nest.items)
    kind = ForKind.VEC if lanes else ForKind.UNROLL if region.space is Space.RM else ForKind.SEQ

    def part(start: int, stop: int, known: Scope) -> For:
        return loop(var, stop, _through(nest, region, rest, known, inner), kind, start=start)

    opened = open_part(nest, level, scope, frozenset(rest))
    if opened is not None and rest and _last_of_dim(nest, level, rest):
        inside = replace(scope, inside=scope.inside | {level.dim})
        whole, edge = (_through(nest, region, rest, known, inner) for known in (inside, scope))
        return [loop(var, level.parts, [If(opened.whole, tuple(whole), tuple(edge))], kind)]
    ends = trip_counts(nest, level, scope, frozenset(rest))
    if ends is None:
        return [part(0, level.parts, scope)]
    out: list[Stmt] = []
    if ends.whole:
        out.append(part(0, ends.whole, scope.limited(var, ends.whole)))
    if ends.begun > ends.whole:
        out.append(part(ends.whole, ends.begun, scope.at_part(var, ends.whole)))
    return out


def _last_of_dim(nest: Nest, level: Level, rest: list[str]) -> bool:
    """Of the loops still to come, only lanes of a vector go on in the level's dimension."""
    mine = [nest.levels.of_var(v) for v in rest if nest.levels.of_var(v).dim == level.dim]
    return len(mine) == 1 and mine[0].layer is Layer.VEC


def _store_order(nest: Nest, region: Region) -> list[str]:
    """The region's loops with the output's neighbouring elements innermost."""
    o = nest.folds[region.fold].outputs[0]
    access = nest.access(o.index)
    if access is None or len(access) != len(nest.buffers[o.buffer].shape):
        return list(region.loops)
    flat = offset([nest.levels.over(index) for index in access], nest.dm_buf(o.buffer).strides)
    return sorted(region.loops, key=lambda v: -abs(flat.coefficient(v)))


def _merge(nest: Nest, region: Region, scope: Scope) -> list[Stmt]:
    """One element of a private region, at the current level variables."""
    fold = nest.folds[region.fold]
    out: list[Stmt] = []
    index = region.index(scope.values)
    if fold.op is None:
        values = load_each(region.bufs, index)
        return _guarded(nest, scope, None, _outward(nest, region, values, scope))
    state = _across_lanes(nest, region, fold, index, out) if region.lanes else None
    if state is None:
        state = load_each(region.bufs, index)
    leader: Expr | None = None
    if region.space is Space.RM and split_threads(nest):
        state, leader = combine_threads(nest, region.fold, state, out)
        if all(nest.dm_buf(o.buffer).space is Space.RM for o in fold.outputs):
            # each thread keeps the result in its registers
            leader = None
    outward = _outward(nest, region, state, scope)
    parent = _parent(nest, region)
    if parent is not None and _filled_once(nest, parent):
        # elements past the edge need no guard: shared memory has room for them, and nothing reads them
        return [*out, *when(leader, outward)]
    return [*out, *_guarded(nest, scope, leader, outward)]


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
        out.append(loop(lane, n, (store,), ForKind.VEC))
        rows.append(row)
    states = [load_each(rows, (num(i),)) for i in range(n)]
    while len(states) > 1:
        pairs = [states[i : i + 2] for i in range(0, len(states), 2)]
        states = [bind(nest, "sum", combine(fold, *p), out) if len(p) == 2 else p[0] for p in pairs]
    return states[0]


def _guarded(nest: Nest, scope: Scope, leader: Expr | None, body: list[Stmt]) -> list[Stmt]:
    """`body` where the output element exists, by one unit of those that share a reduction."""
    return when(conjunction([leader, nest.exists(scope, DimKind.CC, DimKind.PS)]), body)


def _outward(nest: Nest, region: Region, state: tuple[Expr, ...], scope: Scope) -> list[Stmt]:
    """Into the enclosing region of the same fold, else into the output."""
    parent = _parent(nest, region)
    fold = nest.folds[region.fold]
    if parent is None:
        return finish(nest, region.fold, state, scope, region.opens)
    index = parent.index(scope.values)
    if parent.lanes:
        index = (*index[: len(index) - len(parent.lanes)], *(ZERO for _ in parent.lanes))
    if fold.op is None or fold.ordered or _filled_once(nest, parent):
        return store_each(parent.bufs, index, state)
    return store_state(nest, fold, parent.bufs, index, state)


def _close_shared(nest: Nest, region: Region, scope: Scope) -> list[Stmt]:
    """All threads together write a shared region's elements, neighbours to neighbours in the output."""
    shape = list(region.bufs[0].shape)
    # where the stage reads its own output, those reads of device memory must be over as well
    scope_of = SyncScope.DEVICE if nest.stage.read & nest.stage.written else SyncScope.BLOCK
    meet = Barrier(scope_of, f"{region.bufs[0].name} is complete")
    names = [var for axis in region.axes for var, _ in axis]
    if len(set(names)) < len(names):
        return [meet, *_by_variables(nest, region, sorted(set(names), key=names.index), scope)]
    lanes = width(nest, region, scope)
    counts = [*shape[:-1], shape[-1] // lanes] if lanes > 1 else shape
    dealt = deal(nest, counts, f"m_{region.bufs[0].name}")
    at = dealt.coordinates if lanes == 1 else (*dealt.coordinates[:-1], mul(dealt.coordinates[-1], lanes))
    inner = at_coordinates(nest, region, at, scope)
    if lanes > 1:
        body: list[Stmt] = list(wide_stores(nest, region, at, lanes, inner))
    else:
        state = load_each(region.bufs, at)
        body = _outward(nest, region, state, inner)
    unroll = lanes > 1 or _filled_once(nest, region)
    return [meet, *wrap(dealt, _guarded(nest, inner, None, body), unroll=unroll)]


def _by_variables(nest: Nest, region: Region, names: list[str], scope: Scope) -> list[Stmt]:
    """The same where a variable counts along several dimensions (`C[i][i + j]`): a region then has elements
    that belong to no point. The threads go through the values of the variables."""
    counts = [nest.levels.of_var(var).parts for var in names]
    dealt = deal(nest, counts, f"m_{region.bufs[0].name}")
    values = dict(zip(names, dealt.coordinates, strict=True))
    inner = of_any_thread(scope, values)
    body = _outward(nest, region, load_each(region.bufs, region.index(values)), inner)
    return wrap(dealt, _guarded(nest, inner, None, body), unroll=_filled_once(nest, region))
