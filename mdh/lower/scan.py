"""Prefix sums: look-back or reduce-then-scan over blocks, a scan in shared memory over threads.

Where blocks split the scanned dim, they look back (`@combine(ticket)`); or one kernel reduces every block's
part, a second scans these totals, and the main kernel starts each block from its prefix. Inside a block, each
thread reduces its part, the threads' totals are scanned (`scan_threads`), and each thread runs over its part
again from its prefix.
"""

from dataclasses import dataclass, replace
from itertools import compress
from math import prod

from mdh.hardware import Combine, Layer, Space
from mdh.ir.dtype import I32, DType
from mdh.ir.expr import Const, Expr, Load, Var, substitute
from mdh.ir.kernel import Alloc, Buf, For, ForKind, If, Let, Stmt, Store, Workspace
from mdh.ir.layout import Level, strides_for
from mdh.ir.plan import Grid, PlanStep, Split, StagePlan
from mdh.ir.program import Buffer, Dim, DimKind, Output, Stage, component
from mdh.ir.tile import Item
from mdh.lower.emit import at_point, emit, emit_block
from mdh.lower.finish import cast, outputs, part_index
from mdh.lower.fold import Fold, combine, folds_of, identity
from mdh.lower.idle import needed_in_scan
from mdh.lower.kernel_of import kernel_of
from mdh.lower.look_back import look_back, look_back_buffers
from mdh.lower.nest import Nest, Region, Scope
from mdh.lower.regions import make_regions, region_of
from mdh.lower.scan_chunk import chunk_start, in_lanes, run_chunk
from mdh.lower.scan_threads import scan_threads, units_of
from mdh.lower.stages import Built, Context, workspace_buf

SCAN_THREADS = 256
KEPT_BYTES = 128
"""Bytes of a thread's part that registers keep between the two runs over it."""


def lower_scan(context: Context, name: str, plan: StagePlan) -> Built:
    """The kernels of a stage with a ps dim."""
    folds = folds_of(plan.stage)
    levels = [s for st in plan.steps for s in st.splits if plan.stage.dims[s.dim].kind is DimKind.PS]
    blocks = 1
    for s in levels:
        if s.layer == Layer.BLK:
            blocks *= s.parts
    built = Built([], [])
    extra: tuple[Buffer, ...] = ()
    prefixes: dict[int, str] = {}
    passes: dict[int, tuple[str, ...]] = {}
    counter = ""
    if blocks > 1 and all(Combine.TICKET in methods for methods in plan.combines):
        counter = context.names.workspace(f"{name}_tickets")
        tickets = Buffer(counter, I32, (1,), temp=True)
        built.workspaces.append(Workspace(workspace_buf(tickets), zero=True))
        extra = (tickets,)
        for f, fold in enumerate(folds):
            shape = _parts_shape(plan.stage, blocks)
            bufs = look_back_buffers(context.names, f"{name}_{f or ''}", shape, fold.types[0], context.target)
            built.workspaces.extend(Workspace(workspace_buf(b), zero=b is bufs[0]) for b in bufs)
            extra, passes[f] = (*extra, *bufs), tuple(b.name for b in bufs)
    elif blocks > 1:
        for f, fold in enumerate(folds):
            totals, prefix = _buffers(context, plan.stage, fold, f"{name}_{f or ''}", blocks)
            built.add(
                _reduce_parts(context, f"{name}_totals{f or ''}", _without_holdings(plan), fold, totals)
            )
            built.add(_scan_totals(context, f"{name}_prefix{f or ''}", plan.stage, fold, totals, prefix))
            built.workspaces.extend(Workspace(workspace_buf(b)) for b in (totals, prefix))
            extra, prefixes[f] = (*extra, totals, prefix), prefix.name
    # the values that are stored are maps: regions that hold them back are those of maps, behind the scans
    maps = tuple(replace(fold, op=None) for fold in folds)
    nest = context.nest(name, plan, (*folds, *maps), extra, regions=False)
    nest = replace(nest, items=_inner_last(nest), passes=passes, counter=counter)
    nest = replace(nest, regions=make_regions(nest, len(folds)))
    kernel, more = kernel_of(nest, context.program, context.observe, lambda n: _body(n, prefixes))
    built.kernels.append(kernel)
    built.workspaces.extend(more)
    return built


def _without_holdings(plan: StagePlan) -> StagePlan:
    """The blocks' totals are no outputs of the stage: its regions do not hold them."""
    return replace(plan, steps=tuple(replace(s, holdings=()) for s in plan.steps), decomposed=None)


# -- over blocks -------------------------------------------------------------------------------


def _buffers(context: Context, stage: Stage, fold: Fold, stem: str, blocks: int) -> tuple[Buffer, Buffer]:
    shape, t = _parts_shape(stage, blocks), fold.types[0]
    totals, prefix = (context.names.workspace(stem + s) for s in ("totals", "prefix"))
    return Buffer(totals, t, shape, temp=True), Buffer(prefix, t, shape, temp=True)


def _parts_shape(stage: Stage, blocks: int) -> tuple[int, ...]:
    return (blocks, *(d.extent for d in stage.dims if d.kind is DimKind.CC))


def _cc_index(stage: Stage) -> tuple[Expr, ...]:
    return tuple(Var(d.name, I32) for d in stage.dims if d.kind is DimKind.CC)


def _reduce_parts(context: Context, name: str, plan: StagePlan, fold: Fold, totals: Buffer) -> Built:
    """totals[part][cc] = reduction of each block's part."""
    dims = tuple(replace(d, kind=DimKind.PW) if d.kind is DimKind.PS else d for d in plan.stage.dims)
    stage = replace(plan.stage, dims=dims)
    out = Output(totals.name, _cc_index(stage), Var(component(0), fold.types[0]))
    total = replace(fold, starts=(None,), outputs=(out,), exclusive=False)
    if context.machine.kind == "cpu" and not fold.ordered:
        plan = in_lanes(plan)
    small = replace(plan, stage=stage, combines=((Combine.SHUFFLE, Combine.SHARED, Combine.KERNEL),))
    nest = context.nest(context.names.kernel(name), small, (total,), (totals,))
    kernel, more = kernel_of(replace(nest, partials={0: (totals.name,)}), context.program, context.observe)
    return Built([kernel], more)


def _scan_totals(
    context: Context, name: str, stage: Stage, fold: Fold, totals: Buffer, prefix: Buffer
) -> Built:
    """prefix[part][cc] = the start and all parts before."""
    cc = tuple(d for d in stage.dims if d.kind is DimKind.CC)
    parts = totals.shape[0]
    part = context.names.dim("part", stage)
    index = (Var(part, I32), *_cc_index(stage))
    out = Output(prefix.name, index, Var(component(0), fold.types[0]))
    small = replace(fold, values=(Load(totals.name, index, totals.dtype),), outputs=(out,), exclusive=True)
    scanned = Stage(f"{stage.name}_prefix", (*cc, Dim(part, parts, DimKind.PS)), (), ())
    plan = _totals_plan(context, scanned)
    own = context.names.kernel(name)
    nest = context.nest(own, plan, (small,), (totals, prefix), regions=False)
    nest = replace(nest, items=_inner_last(nest))
    kernel, more = kernel_of(nest, context.program, context.observe, lambda n: _body(n, {}))
    return Built([kernel], more)


def _totals_plan(context: Context, stage: Stage) -> StagePlan:
    """One block a row of totals, its threads over the parts; rows over the grid's axes."""
    extents = [d.extent for d in stage.dims]
    last = len(extents) - 1
    gpu = context.machine.kind != "cpu"
    limit = context.machine.grid_limits
    blocks = []
    for d, n in enumerate(extents[:-1]):
        on_grid = d < 3 and n <= limit[d]
        blocks.append(Split(d, n, 1, Layer.BLK, d, d) if on_grid else Split(d, n, n, None, 0, d))
    warp = context.machine.warp
    threads = min(SCAN_THREADS, -(-extents[last] // warp) * warp) if gpu else 1
    tile = -(-extents[last] // threads)
    # the threads are whole warps, some of which may find nothing to do
    row = tile * threads if gpu else extents[last]
    first = PlanStep(1, 1, (*blocks, Split(last, extents[last], row, None, 0, last)), (), ())
    inner = [Split(d, b.tile, b.tile, None, 0, d) for d, b in enumerate(blocks)]
    layer = Layer.THR if gpu and threads > 1 else None
    second = PlanStep(2, 2, (*inner, Split(last, row, tile, layer, 0, last)), (), ())
    rest = [Split(d, b.tile, 1, None, 0, d) for d, b in enumerate(blocks)]
    third = PlanStep(3, 3, (*rest, Split(last, tile, 1, None, 0, last)), (), ())
    return StagePlan(stage, (first, second, third), (0, 1, 2), Grid(), ((),))


# -- inside a block ----------------------------------------------------------------------------


def _scan_dim(nest: Nest) -> int:
    return next(d for d, dim in enumerate(nest.stage.dims) if dim.kind is DimKind.PS)


def _thread_digits(nest: Nest) -> list[Level]:
    """Thread levels of the scanned dim, most significant first."""
    mine = {lv.var for lv in nest.thread_levels()}
    return [lv for lv in nest.levels.by_dim[_scan_dim(nest)] if lv.var in mine]


def _inner_last(nest: Nest) -> tuple[Item, ...]:
    """Items with the scanned dim's loops inside its threads moved behind all loops over cc dims, whose vector
    lanes run one after the other then."""
    digits = _thread_digits(nest)
    if not digits:
        return nest.items
    inner = [it for it in nest.items if isinstance(it, Level) and _is_inner(nest, it, digits)]
    d = _scan_dim(nest)
    first = next((k for k, it in enumerate(nest.items) if it in inner), len(nest.items))
    cc_after = [it for it in nest.items[first:] if isinstance(it, Level) and it.dim != d]
    rest = [it for it in nest.items[first:] if it not in cc_after]
    return (*nest.items[:first], *(replace(it, layer=None) for it in cc_after), *rest)


def _inner_start(nest: Nest) -> int:
    """Item at which a thread's own part of the scanned dim begins."""
    digits = _thread_digits(nest)
    if not digits:
        chunk = chunk_start(nest)
        return len(nest.items) if chunk is None else chunk
    for k, it in enumerate(nest.items):
        if isinstance(it, Level) and _is_inner(nest, it, digits):
            return k
    return len(nest.items)


def _is_inner(nest: Nest, level: Level, digits: list[Level]) -> bool:
    """Is it a loop over a thread's own part: inside of the threads in code order, which labels may change."""
    place = nest.plan.code_order.index
    return level.dim == _scan_dim(nest) and place(level.step) > max(place(lv.step) for lv in digits)


def _body(nest: Nest, prefixes: dict[int, str]) -> list[Stmt]:
    """The kernel body: the running value opens outside the scanned dim's first loop."""
    d = _scan_dim(nest)
    start = _inner_start(nest)
    first = next((k for k, it in enumerate(nest.items) if isinstance(it, Level) and it.dim == d), start)
    first = min(first, start)
    scans = [f for f, fold in enumerate(nest.folds) if fold.op is not None]
    carries = tuple(region_of(nest, f, Space.RM, first, None, 0) for f in scans)

    def open_carries(n: Nest, scope: Scope) -> list[Stmt]:
        out: list[Stmt] = []
        for f, region in enumerate(carries):
            out.extend(Alloc(b) for b in region.bufs)
            out.extend(_first_values(n, f, region, prefixes.get(f), scope))
        inner = replace(n, leaf=lambda m, s: _phases(m, s, carries), leaf_at=start, opened=first)
        return [*out, *emit(inner, scope)]

    return emit_block(replace(nest, leaf=open_carries, leaf_at=first))


def _first_values(nest: Nest, f: int, region: Region, prefix: str | None, scope: Scope) -> list[Stmt]:
    """What the running value of each cc element starts from: the block's prefix, the start, the identity."""
    fold = nest.folds[f]
    t = fold.types[0]
    if prefix is not None:
        index = (part_index(nest, f, Scope()), *(nest.translate(e, scope) for e in _cc_index(nest.stage)))
        value: Expr = Load(prefix, index, t)
    elif fold.starts[0] is not None:
        value = cast(nest.translate(fold.starts[0], scope), t)
    else:
        value = identity(fold)[0]
    cc = frozenset(d for d, dim in enumerate(nest.stage.dims) if dim.kind is DimKind.CC)
    cond = nest.condition(nest.guards(scope, cc), scope)
    index = region.index(scope.values)
    store: Stmt = Store(region.bufs[0].name, index, value)
    # threads that hold no element read their value too, on the way through the barriers
    spare = (Store(region.bufs[0].name, index, identity(fold)[0]),) if _thread_digits(nest) else ()
    body: tuple[Stmt, ...] = (store if cond is None else If(cond, (store,), spare),)
    for var in reversed(region.loops):
        parts = nest.levels.of_var(var).parts
        body = (For(var, Const(0, I32), Const(parts, I32), Const(1, I32), body, ForKind.UNROLL),)
    return list(body)


def _phases(nest: Nest, scope: Scope, carries: tuple[Region, ...]) -> list[Stmt]:
    """One thread's part, for every fold: alone, or between the two passes of a scan over threads."""
    digits = _thread_digits(nest)
    out: list[Stmt] = []
    for f, region in enumerate(carries):
        if not digits and chunk_start(nest) is not None:
            out.extend(run_chunk(nest, f, region, scope, _stored))
        elif not digits:
            out.extend(_run(nest, f, region, scope))
        else:
            out.extend(_over_threads(nest, f, region, digits, scope))
    return out


def _run(nest: Nest, f: int, region: Region, scope: Scope) -> list[Stmt]:
    """At a point: the running value takes the point in and is stored (before it, if exclusive)."""
    return at_point(nest, scope, _take_in(nest, f, region.bufs[0].name, region.index(scope.values), scope))


def _take_in(nest: Nest, f: int, name: str, index: tuple[Expr, ...], scope: Scope) -> list[Stmt]:
    fold = nest.folds[f]
    t = fold.types[0]
    held, point = nest.fresh("held"), nest.fresh("point")
    value = cast(nest.translate(fold.values[0], scope), t)
    out: list[Stmt] = [Let(held, Load(name, index, t), t), Let(point, value, t)]
    new = combine(fold, (Var(held, t),), (Var(point, t),))[0]
    after = nest.fresh("prefix")
    out.append(Let(after, new, t))
    out.append(Store(name, index, Var(after, t)))
    shown = Var(held, t) if fold.exclusive else Var(after, t)
    out.extend(_stored(nest, f, shown, scope))
    return out


def _map_of(nest: Nest, f: int) -> int:
    """The fold that stands for the stored values of scan f."""
    return f + sum(fold.op is not None for fold in nest.folds)


def _stored(nest: Nest, f: int, value: Expr, scope: Scope) -> list[Stmt]:
    """The outputs of fold f at a point, in device memory or in the innermost region that holds them."""
    held = [r for r in nest.regions if r.fold == _map_of(nest, f)]
    stores = outputs(nest, nest.folds[f], (value,), scope)
    if not held:
        return list(stores)
    index = held[-1].index(scope.values)
    return [
        Store(b.name, index, s.value)
        for b, s in zip(held[-1].bufs, stores, strict=True)
        if isinstance(s, Store)
    ]


def _over_threads(nest: Nest, f: int, region: Region, digits: list[Level], scope: Scope) -> list[Stmt]:
    """Each thread reduces its part, the threads' totals are scanned, each thread runs over its part again."""
    fold = nest.folds[f]
    t = fold.types[0]
    mine = Buf(nest.fresh("mine"), Space.RM, t, (), ())
    kept = _kept(nest, t, scope)
    held_back = any(r.fold == _map_of(nest, f) for r in nest.regions)

    def at(n: Nest, s: Scope, body: list[Stmt]) -> list[Stmt]:
        return at_point(n, s, body, needed_in_scan(n, s) if held_back else None)

    def reduce_part(n: Nest, s: Scope) -> list[Stmt]:
        value = cast(n.translate(fold.values[0], s), t)
        point = n.fresh("point")
        held: Expr = Load(mine.name, (), t)
        new = combine(fold, (held,), (Var(point, t),))[0]
        if kept is None:
            return at(n, s, [Let(point, value, t), Store(mine.name, (), new)])
        after = n.fresh("prefix")
        here = Store(kept.buf.name, kept.index(s), held if fold.exclusive else Var(after, t))
        let = Let(after, new, t)
        return at(n, s, [Let(point, value, t), let, here, Store(mine.name, (), Var(after, t))])

    def run_part(n: Nest, s: Scope) -> list[Stmt]:
        if kept is None:
            return at(n, s, _take_in(n, f, mine.name, (), s))
        after = n.fresh("prefix")
        part = Load(kept.buf.name, kept.index(s), t)
        let = Let(after, combine(fold, (Load(mine.name, (), t),), (part,))[0], t)
        return at(n, s, [let, *_stored(n, f, Var(after, t), s)])

    end = len(nest.items)
    out: list[Stmt] = [Alloc(mine, identity(fold)[0])]
    if kept is not None:
        out.append(Alloc(kept.buf))
    out.extend(emit(replace(nest, leaf=reduce_part, leaf_at=end, regions=()), scope))
    before, total = scan_threads(nest, fold, Load(mine.name, (), t), digits, out)
    index = region.index(scope.values)
    carry = nest.fresh("carry")
    held: Expr = Load(region.bufs[0].name, index, t)
    if f in nest.passes:
        held = combine(fold, (held,), (_passed(nest, f, total, digits, scope, out),))[0]
    out.append(Let(carry, held, t))
    out.append(Store(mine.name, (), combine(fold, (Var(carry, t),), (before,))[0]))
    mine_or_open = (r.fold == _map_of(nest, f) or r.opens <= scope.position for r in nest.regions)
    regions = tuple(compress(nest.regions, mine_or_open))
    running = replace(nest, leaf=run_part, leaf_at=end, opened=scope.position, regions=regions)
    out.extend(emit(running, scope))
    out.append(Store(region.bufs[0].name, index, combine(fold, (Var(carry, t),), (total,))[0]))
    return out


@dataclass(frozen=True, slots=True)
class _Kept:
    """Registers for what a thread's points make of those before them in its part."""

    buf: Buf
    loops: tuple[str, ...]

    def index(self, scope: Scope) -> tuple[Expr, ...]:
        return tuple(substitute(Var(v), dict(scope.values)) for v in self.loops)


def _kept(nest: Nest, t: DType, scope: Scope) -> _Kept | None:
    """None where a part is too long for registers, or copies stand inside it, which would be made twice."""
    items = nest.items[scope.position :]
    loops = [it for it in items if isinstance(it, Level)]
    shape = tuple(lv.parts for lv in loops)
    if nest.copies(items) or prod(shape) * t.bytes > KEPT_BYTES:
        return None
    strides = strides_for(shape, tuple(range(len(shape))))
    return _Kept(Buf(nest.fresh("kept"), Space.RM, t, shape, strides), tuple(lv.var for lv in loops))


def _passed(nest: Nest, f: int, total: Expr, digits: list[Level], scope: Scope, out: list[Stmt]) -> Expr:
    """What all earlier blocks make of this element."""
    unit, group, units = units_of(nest, digits)
    cc = frozenset(d for d, dim in enumerate(nest.stage.dims) if dim.kind is DimKind.CC)
    exists = nest.condition(nest.guards(scope, cc), scope)
    element = tuple(nest.translate(e, scope) for e in _cc_index(nest.stage))
    part = part_index(nest, f, scope)
    return look_back(nest, f, total, part, element, unit, group, nest.threads // units, exists, out)
