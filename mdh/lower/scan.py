"""Prefix sums: look-back or reduce-then-scan over blocks, a scan in shared memory over threads.

Where blocks split the scanned dim, they look back (`@combine(ticket)`); or one kernel reduces every block's
part, a second scans these totals, and the main kernel starts each block from its prefix. Inside a block, each
thread reduces its part, the threads' totals are scanned (`scan_threads`), and each thread runs over its part
again from its prefix.
"""

from collections.abc import Mapping
from dataclasses import replace
from math import prod

from mdh.decompose.regions import RegionOpening
from mdh.decompose.tiles import tiles_in_order
from mdh.hardware import Combine, Layer, Space
from mdh.ir.dtype import I32
from mdh.ir.expr import Load, Var
from mdh.ir.layout import Level
from mdh.ir.plan import PlanStep, Split, StagePlan
from mdh.ir.program import Buffer, Dim, DimKind, Output, Stage, component
from mdh.lower.fold import Fold, folds_of
from mdh.lower.look_back import look_back_buffers
from mdh.lower.nest import Nest
from mdh.lower.regions import make_regions, region_of
from mdh.lower.scan_parts import cc_index, chunk_start, scanned_dim, thread_digits
from mdh.lower.scope import OpenCarries
from mdh.lower.simple_plan import Blocking, plan_of
from mdh.lower.stages import Built, Context, build, workspaces

SCAN_THREADS = 256
LANES = (2, 4, 8, 16)


def lower_scan(context: Context, name: str, plan: StagePlan) -> Built:
    """The kernels of a stage with a ps dim."""
    folds = folds_of(plan.stage)
    splits = (s for step in plan.steps for s in step.splits if s.layer is Layer.BLK)
    blocks = prod(s.parts for s in splits if plan.stage.dims[s.dim].kind is DimKind.PS)
    built = Built()
    extra: tuple[Buffer, ...] = ()
    prefixes: dict[int, str] = {}
    passes: dict[int, tuple[str, ...]] = {}
    counter = ""
    if blocks > 1 and all(Combine.TICKET in methods for methods in plan.combines):
        counter = context.names.workspace(f"{name}_tickets")
        extra = (Buffer(counter, I32, (1,), temp=True),)
        zero = {counter}
        for f, fold in enumerate(folds):
            shape = _parts_shape(plan.stage, blocks)
            bufs = look_back_buffers(context.names, f"{name}_{f or ''}", shape, fold.types[0], context.target)
            extra, passes[f] = (*extra, *bufs), tuple(b.name for b in bufs)
            zero.add(bufs[0].name)
        built += workspaces(extra, zero)
    elif blocks > 1:
        for f, fold in enumerate(folds):
            totals, prefix = _buffers(context, plan.stage, fold, f"{name}_{f or ''}", blocks)
            built += _reduce_parts(context, f"{name}_totals{f or ''}", _without_holdings(plan), fold, totals)
            built += _scan_totals(context, f"{name}_prefix{f or ''}", plan.stage, fold, totals, prefix)
            built += workspaces((totals, prefix))
            extra, prefixes[f] = (*extra, totals, prefix), prefix.name
    # the values that are stored are maps: regions that hold them back are those of maps, behind the scans
    maps = tuple(replace(fold, op=None) for fold in folds)
    nest = _inner_last(context.nest(name, plan, (*folds, *maps), extra, regions=False))
    nest = replace(nest, passes=passes, counter=counter)
    nest = replace(nest, regions=make_regions(nest, len(folds)))
    return built + build(context, nest, _carries(nest, prefixes))


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


def _reduce_parts(context: Context, name: str, plan: StagePlan, fold: Fold, totals: Buffer) -> Built:
    """totals[part][cc] = reduction of each block's part."""
    dims = tuple(replace(d, kind=DimKind.PW) if d.kind is DimKind.PS else d for d in plan.stage.dims)
    stage = replace(plan.stage, dims=dims)
    out = Output(totals.name, cc_index(stage), Var(component(0), fold.types[0]))
    total = replace(fold, starts=(None,), outputs=(out,), exclusive=False)
    if context.machine.kind == "cpu" and not fold.ordered:
        plan = _in_lanes(plan)
    small = replace(plan, stage=stage, combines=((Combine.SHUFFLE, Combine.SHARED, Combine.KERNEL),))
    nest = context.nest(context.names.kernel(name), small, (total,), (totals,))
    return build(context, replace(nest, partials={0: (totals.name,)}))


def _scan_totals(
    context: Context, name: str, stage: Stage, fold: Fold, totals: Buffer, prefix: Buffer
) -> Built:
    """prefix[part][cc] = the start and all parts before."""
    cc = tuple(d for d in stage.dims if d.kind is DimKind.CC)
    parts = totals.shape[0]
    part = context.names.dim("part", stage)
    index = (Var(part, I32), *cc_index(stage))
    out = Output(prefix.name, index, Var(component(0), fold.types[0]))
    small = replace(fold, values=(Load(totals.name, index, totals.dtype),), outputs=(out,), exclusive=True)
    scanned = Stage(f"{stage.name}_prefix", (*cc, Dim(part, parts, DimKind.PS)), (), ())
    plan = _totals_plan(context, scanned)
    own = context.names.kernel(name)
    nest = _inner_last(context.nest(own, plan, (small,), (totals, prefix), regions=False))
    return build(context, nest, _carries(nest, {}))


def _totals_plan(context: Context, stage: Stage) -> StagePlan:
    """One block a row of totals, its threads over the parts; rows over the grid's axes."""
    gpu = context.machine.kind != "cpu"
    *rows, row = (d.extent for d in stage.dims)
    cuts = []
    for d, n in enumerate(rows):
        on_grid = d < 3 and n <= context.machine.grid_limits[d]
        tile = 1 if on_grid else n
        cuts.append(Blocking(n, tile, d if on_grid else None, tile))
    warp = context.machine.warp
    # the threads are whole warps, some of which may find nothing to do
    threads = min(SCAN_THREADS, -(-row // warp) * warp) if gpu else 1
    tile = -(-row // threads)
    cuts.append(Blocking(row, tile * threads if gpu else row, None, tile, 0 if gpu and threads > 1 else None))
    return plan_of(context.program, stage, cuts, ())


# -- inside a block ----------------------------------------------------------------------------


def _inner_last(nest: Nest) -> Nest:
    """With the scanned dim's loops inside its threads moved behind all loops over cc dims, whose vector lanes
    run one after the other then."""
    digits = thread_digits(nest)
    if not digits:
        return nest
    inner = [it for it in nest.items if isinstance(it, Level) and _is_inner(nest, it, digits)]
    d = scanned_dim(nest)
    first = next((k for k, it in enumerate(nest.items) if it in inner), len(nest.items))
    cc_after = [it for it in nest.items[first:] if isinstance(it, Level) and it.dim != d]
    rest = [it for it in nest.items[first:] if it not in cc_after]
    order = (*nest.items[:first], *(replace(it, layer=None) for it in cc_after), *rest)
    return replace(nest, tiles=tiles_in_order(nest.program, nest.plan, nest.levels, order, cpu=nest.cpu))


def _inner_start(nest: Nest) -> int:
    """Item at which a thread's own part of the scanned dim begins."""
    digits = thread_digits(nest)
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
    return level.dim == scanned_dim(nest) and place(level.step) > max(place(lv.step) for lv in digits)


def _carries(nest: Nest, prefixes: Mapping[int, str]) -> OpenCarries:
    """Running values open outside the scanned dim's first loop. prefixes: of the blocks, by scan."""
    d = scanned_dim(nest)
    start = _inner_start(nest)
    first = next((k for k, it in enumerate(nest.items) if isinstance(it, Level) and it.dim == d), start)
    first = min(first, start)
    scans = (f for f, fold in enumerate(nest.folds) if fold.op is not None)
    carries = tuple(region_of(nest, f, RegionOpening(first, Space.RM)) for f in scans)
    return OpenCarries(first, start, carries, prefixes)


# -- totals of parts in vector lanes -----------------------------------------------------------


def _in_lanes(plan: StagePlan) -> StagePlan:
    """The points of a CPU's chunk become lanes, whose sums are added up at the end."""
    *outer, last = plan.steps
    splits = tuple(_lane(plan, last, s) for s in last.splits)
    return replace(plan, steps=(*outer, replace(last, splits=splits)))


def _lane(plan: StagePlan, step: PlanStep, s: Split) -> Split:
    scanned = plan.stage.dims[s.dim].kind is DimKind.PS
    fits = scanned and step.unroll == 0 and s.layer is None and s.tile == 1 and s.parts in LANES
    return replace(s, layer=Layer.VEC) if fits else s
