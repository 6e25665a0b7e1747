"""Prefix sums inside a block: running values, and how units scan their own parts of the points.

A thread that shares a row with others runs over its part twice. First it reduces the part; the totals of the
threads are scanned (`scan_threads`); then it stores the prefixes, from that of its part on. A thread that has
the row to itself takes in point after point.

A CPU may scan a few points at a time, where the schedule unrolls the scanned dim's innermost loop. The points
of such a chunk are scanned from the identity, which chunks do side by side; the running value joins each
prefix as it is stored. So the chain from chunk to chunk is one operation long, not one a point.
"""

from dataclasses import replace
from math import prod

from mdh.hardware import Space
from mdh.ir.construct import loops
from mdh.ir.dtype import DType
from mdh.ir.expr import Expr, Load, Var
from mdh.ir.kernel import Alloc, Buf, ForKind, If, Let, Stmt, Store
from mdh.ir.layout import Level, row_major
from mdh.ir.program import DimKind, Stage
from mdh.lower.finish import cast, outputs, part_index
from mdh.lower.fold import combine, identity
from mdh.lower.look_back import look_back
from mdh.lower.nest import Emit, Nest
from mdh.lower.point import at_point
from mdh.lower.scan_threads import scan_threads, units_of
from mdh.lower.scope import (
    KeptPrefixes,
    OpenCarries,
    ReducePart,
    Region,
    ScanChunk,
    ScanPart,
    ScanParts,
    Scope,
)
from mdh.lower.unguarded import needed_in_scan

KEPT_BYTES = 128
"""Bytes of a thread's part that registers keep between the two runs over it."""


def scanned_dim(nest: Nest) -> int:
    return next(d for d, dim in enumerate(nest.stage.dims) if dim.kind is DimKind.PS)


def thread_digits(nest: Nest) -> list[Level]:
    """Thread levels of the scanned dim, most significant first."""
    mine = {lv.var for lv in nest.thread_levels()}
    return [lv for lv in nest.levels.by_dim[scanned_dim(nest)] if lv.var in mine]


def chunk_start(nest: Nest) -> int | None:
    """The item of the loop that runs over a chunk, None where points are taken in one by one."""
    found = [k for k, it in enumerate(nest.items) if isinstance(it, Level)]
    if not nest.cpu or not found or any(fold.ordered for fold in nest.folds):
        return None
    last = nest.items[found[-1]]
    assert isinstance(last, Level)
    scanned = nest.stage.dims[last.dim].kind is DimKind.PS
    return found[-1] if scanned and nest.plan.steps[last.step].unroll == 0 else None


def cc_index(stage: Stage) -> tuple[Expr, ...]:
    """The element of a row of prefixes: the index over all other dims."""
    return tuple(Var(d.name) for d in stage.dims if d.kind is DimKind.CC)


# -- running values ----------------------------------------------------------------------------


def open_carries(nest: Nest, carries: OpenCarries, scope: Scope, inner: Emit) -> list[Stmt]:
    """Running values, and what `inner` makes below them."""
    out: list[Stmt] = []
    for f, region in enumerate(carries.carries):
        out.extend(Alloc(b) for b in region.bufs)
        out.extend(_first_values(nest, f, region, carries.prefixes.get(f), scope))
    parts = ScanParts(carries.parts_at, carries.carries)
    return [*out, *inner(nest, replace(scope, leaf=parts))]


def _first_values(nest: Nest, f: int, region: Region, prefix: str | None, scope: Scope) -> list[Stmt]:
    """What the running value of each cc element starts from: the block's prefix, the start, the identity."""
    fold = nest.folds[f]
    t = fold.types[0]
    if prefix is not None:
        index = (part_index(nest, f, Scope()), *_element(nest, scope))
        value: Expr = Load(prefix, index, t)
    elif fold.starts[0] is not None:
        value = cast(nest.translate(fold.starts[0], scope), t)
    else:
        value = identity(fold)[0]
    cond = nest.exists(scope, DimKind.CC)
    index = region.index(scope.values)
    store: Stmt = Store(region.bufs[0].name, index, value)
    # threads that hold no element read their value too, on the way through the barriers
    spare = (Store(region.bufs[0].name, index, identity(fold)[0]),) if thread_digits(nest) else ()
    body = store if cond is None else If(cond, (store,), spare)
    extents = [nest.levels.of_var(var).parts for var in region.loops]
    return loops(region.loops, extents, [body], ForKind.UNROLL)


def _element(nest: Nest, scope: Scope) -> tuple[Expr, ...]:
    return nest.indices(cc_index(nest.stage), scope)


def scan_parts(nest: Nest, parts: ScanParts, scope: Scope, inner: Emit) -> list[Stmt]:
    """One unit's part, scan after scan. inner: makes the loops over it."""
    digits = thread_digits(nest)
    chunked = chunk_start(nest) is not None
    out: list[Stmt] = []
    for f, carry in enumerate(parts.carries):
        index = carry.index(scope.values)
        if digits:
            out.extend(_over_threads(nest, f, carry, digits, scope, inner))
        elif chunked:
            out.extend(_chunk(nest, f, carry, scope, inner))
        else:
            out.extend(at_point(nest, scope, _take_in(nest, f, carry.bufs[0].name, index, scope)))
    return out


# -- at a point --------------------------------------------------------------------------------


def _take_in(nest: Nest, f: int, name: str, index: tuple[Expr, ...], scope: Scope) -> list[Stmt]:
    """The running value name[index] takes the point in and is stored (before that, if exclusive)."""
    fold = nest.folds[f]
    t = fold.types[0]
    held, point = nest.fresh("held"), nest.fresh("point")
    value = cast(nest.translate(fold.values[0], scope), t)
    new = combine(fold, (Var(held, t),), (Var(point, t),))[0]
    after = nest.fresh("prefix")
    shown = Var(held, t) if fold.exclusive else Var(after, t)
    return [
        Let(held, Load(name, index, t), t),
        Let(point, value, t),
        Let(after, new, t),
        Store(name, index, Var(after, t)),
        *_store(nest, f, shown, scope),
    ]


def map_of(nest: Nest, f: int) -> int:
    """The fold that stands for the stored values of scan f: beside each scan there is one."""
    return f + sum(fold.op is not None for fold in nest.folds)


def _store(nest: Nest, f: int, value: Expr, scope: Scope) -> list[Stmt]:
    """The outputs of fold f at a point, in device memory or in the innermost region that holds them."""
    held = nest.regions_of(map_of(nest, f))
    stores = outputs(nest, nest.folds[f], (value,), scope)
    if not held:
        return stores
    index = held[-1].index(scope.values)
    return [
        Store(b.name, index, s.value)
        for b, s in zip(held[-1].bufs, stores, strict=True)
        if isinstance(s, Store)
    ]


# -- chunks ------------------------------------------------------------------------------------


def _chunk(nest: Nest, f: int, carry: Region, scope: Scope, inner: Emit) -> list[Stmt]:
    """The loop over a chunk. The running value is in the region `carry`."""
    fold = nest.folds[f]
    t = fold.types[0]
    running = nest.register("mine", t)
    before = nest.fresh("carry")
    index = carry.index(scope.values)
    total = combine(fold, (Var(before, t),), (Load(running.name, (), t),))[0]
    return [
        Let(before, Load(carry.bufs[0].name, index, t), t),
        Alloc(running, identity(fold)[0]),
        *inner(nest, replace(scope, leaf=ScanChunk(f, running, before))),
        Store(carry.bufs[0].name, index, total),
    ]


def chunk_point(nest: Nest, chunk: ScanChunk, scope: Scope) -> list[Stmt]:
    """One point of a chunk."""
    fold = nest.folds[chunk.fold]
    t = fold.types[0]
    point, part, prefix = (nest.fresh(stem) for stem in ("point", "part", "prefix"))
    before: Expr = Load(chunk.running.name, (), t)
    shown = before if fold.exclusive else Var(part, t)
    body = [
        Let(point, cast(nest.translate(fold.values[0], scope), t), t),
        Let(part, combine(fold, (before,), (Var(point, t),))[0], t),
        Let(prefix, combine(fold, (Var(chunk.carry, t),), (shown,))[0], t),
        Store(chunk.running.name, (), Var(part, t)),
        *_store(nest, chunk.fold, Var(prefix, t), scope),
    ]
    return at_point(nest, scope, body)


# -- two passes of each thread -----------------------------------------------------------------


def _over_threads(
    nest: Nest, f: int, carry: Region, digits: list[Level], scope: Scope, inner: Emit
) -> list[Stmt]:
    """Each thread reduces its part, the threads' totals are scanned, each thread runs over its part again."""
    fold = nest.folds[f]
    t = fold.types[0]
    mine = nest.register("mine", t)
    kept = _kept(nest, t, scope)
    stores = map_of(nest, f)
    overruns = bool(nest.regions_of(stores))
    out: list[Stmt] = [Alloc(mine, identity(fold)[0])]
    if kept is not None:
        out.append(Alloc(kept.buf))
    first = replace(scope, leaf=ReducePart(f, mine, kept, overruns))
    out.extend(inner(replace(nest, regions=()), first))
    before, total = scan_threads(nest, fold, Load(mine.name, (), t), digits, out)
    index = carry.index(scope.values)
    name = nest.fresh("carry")
    held: Expr = Load(carry.bufs[0].name, index, t)
    if f in nest.passes:
        held = combine(fold, (held,), (_passed(nest, f, total, digits, scope, out),))[0]
    out.append(Let(name, held, t))
    out.append(Store(mine.name, (), combine(fold, (Var(name, t),), (before,))[0]))
    regions = tuple(r for r in nest.regions if r.fold == stores or r.opens <= scope.position)
    second = replace(scope, leaf=ScanPart(f, mine, kept, overruns))
    out.extend(inner(replace(nest, regions=regions), second))
    out.append(Store(carry.bufs[0].name, index, combine(fold, (Var(name, t),), (total,))[0]))
    return out


def reduce_point(nest: Nest, part: ReducePart, scope: Scope) -> list[Stmt]:
    """One point in the first pass."""
    fold, total, kept = nest.folds[part.fold], part.total, part.kept
    t = fold.types[0]
    value = cast(nest.translate(fold.values[0], scope), t)
    point = nest.fresh("point")
    held: Expr = Load(total.name, (), t)
    new = combine(fold, (held,), (Var(point, t),))[0]
    if kept is None:
        return _at(nest, part, scope, [Let(point, value, t), Store(total.name, (), new)])
    after = nest.fresh("prefix")
    here = Store(kept.buf.name, kept.index(scope), held if fold.exclusive else Var(after, t))
    lets = [Let(point, value, t), Let(after, new, t)]
    return _at(nest, part, scope, [*lets, here, Store(total.name, (), Var(after, t))])


def scan_point(nest: Nest, part: ScanPart, scope: Scope) -> list[Stmt]:
    """One point in the second pass."""
    fold, before, kept = nest.folds[part.fold], part.before, part.kept
    if kept is None:
        return _at(nest, part, scope, _take_in(nest, part.fold, before.name, (), scope))
    t = fold.types[0]
    after = nest.fresh("prefix")
    inside = Load(kept.buf.name, kept.index(scope), t)
    let = Let(after, combine(fold, (Load(before.name, (), t),), (inside,))[0], t)
    return _at(nest, part, scope, [let, *_store(nest, part.fold, Var(after, t), scope)])


def _at(nest: Nest, part: ReducePart | ScanPart, scope: Scope, body: list[Stmt]) -> list[Stmt]:
    return at_point(nest, scope, body, needed_in_scan(nest, scope) if part.overruns else None)


def _kept(nest: Nest, t: DType, scope: Scope) -> KeptPrefixes | None:
    """None where a part is too long for registers, or copies stand inside it, which would be made twice."""
    items = nest.items[scope.position :]
    inside = [it for it in items if isinstance(it, Level)]
    shape = tuple(lv.parts for lv in inside)
    if nest.copies(items) or prod(shape) * t.bytes > KEPT_BYTES:
        return None
    strides = row_major(shape)
    return KeptPrefixes(Buf(nest.fresh("kept"), Space.RM, t, shape, strides), tuple(lv.var for lv in inside))


def _passed(nest: Nest, f: int, total: Expr, digits: list[Level], scope: Scope, out: list[Stmt]) -> Expr:
    """What all earlier blocks make of this element."""
    unit, group, units = units_of(nest, digits)
    exists = nest.exists(scope, DimKind.CC)
    part = part_index(nest, f, scope)
    element = _element(nest, scope)
    return look_back(nest, f, total, part, element, unit, group, nest.threads // units, exists, out)
