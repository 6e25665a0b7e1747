"""The body of a kernel: loops, copy points, regions and what stands inside of them, in code order."""

from collections.abc import Mapping
from dataclasses import replace
from itertools import combinations
from typing import assert_never

from mdh.hardware import Engine, Layer, Space, SyncScope
from mdh.ir.construct import conjunction, less, loop, sub
from mdh.ir.expr import Expr, Var
from mdh.ir.kernel import Alloc, Barrier, Comment, Commit, For, ForKind, If, Stmt, Wait
from mdh.ir.layout import MOST_PEELS, Level
from mdh.ir.matrix import MmaWait
from mdh.ir.program import DimKind
from mdh.lower.atoms import emit_atoms
from mdh.lower.boxes import boxed, emit_boxed, emit_boxed_loop, inflight, release_last
from mdh.lower.carried import begin_pass, rescaled
from mdh.lower.close import close_region, open_region
from mdh.lower.close_boxed import clips, close_boxed, result_boxes
from mdh.lower.copies import emit_copy, plan_copies
from mdh.lower.domain import around_block, split
from mdh.lower.finish import stated_width
from mdh.lower.fragments import stated
from mdh.lower.group_atoms import emit_group_atoms
from mdh.lower.inner import computed_at, emit_inner
from mdh.lower.nest import Emit, Nest, all_parts, whole_parts
from mdh.lower.open_edges import OpenEnds, open_ends, open_part
from mdh.lower.pipeline_loop import emit_pipelined, pipelined_at
from mdh.lower.point import emit_point
from mdh.lower.promotion import close_first, open_first
from mdh.lower.scan_parts import chunk_point, open_carries, reduce_point, scan_parts, scan_point
from mdh.lower.scatter_point import scatter_point
from mdh.lower.scope import (
    POINT,
    Atoms,
    Instance,
    Key,
    Leaf,
    OpenCarries,
    Point,
    ReducePart,
    Region,
    Role,
    ScanChunk,
    ScanPart,
    ScanParts,
    Scatter,
    Scope,
)
from mdh.lower.stream import finish_stream, shared_loop
from mdh.lower.trip_counts import TripCounts, trip_counts
from mdh.lower.turns import in_order
from mdh.lower.unguarded import filled, lanes_slack, moved_back
from mdh.lower.window import emit_window

MOST_EDGES = 2
"""Dimensions in which blocks may be cut and still have versions of their own on a CPU."""
MOST_CUTS = 3
"""The same on a CPU, the versions of the block among them."""


def emit_block(nest: Nest, leaf: Leaf, live: Mapping[Key, Instance] | None = None) -> list[Stmt]:
    """The whole body: where blocks have remainders that need guards, full blocks run a version without.
    live: the tiles around it, of a stage inside of another one's kernel."""
    edges = [
        lv
        for lv in nest.levels.all
        if lv.layer in (Layer.BLK, Layer.CLU, Layer.DEV, Layer.NOD) and not lv.exact and not lv.cyclic
    ]
    scope = Scope(leaf, live or {})
    if not edges or nest.role is Role.LOAD or clips(nest, {lv.dim for lv in edges}):
        body = emit(nest, scope)
    elif all(nest.stage.dims[lv.dim].kind is not DimKind.CC for lv in edges):
        body = _around(nest, scope, _versions(nest, edges, scope, _item))
    else:
        body = _versions(nest, edges, scope, emit)
    return around_block(nest, scope, body)


def _inner_block(nest: Nest, live: Mapping[Key, Instance]) -> list[Stmt]:
    return emit_block(nest, POINT, live)


def _versions(nest: Nest, edges: list[Level], scope: Scope, emit: Emit) -> list[Stmt]:
    """Full blocks without guards, the others with them."""
    sums = [lv for lv in edges if nest.stage.dims[lv.dim].kind is DimKind.PW]
    copied = any(s.region is Space.SM for step in nest.plan.steps for s in step.stagings)
    if len(sums) == 1 and sums[0].full_parts and copied and not nest.cpu and nest.role is None:
        return _by_parts(nest, sums[0], [lv for lv in edges if lv is not sums[0]], scope, emit)
    opened = [lv for lv in edges if lv.open is not None]
    if opened and nest.cpu and len(opened) < len(edges):
        return _by_open(nest, opened, [lv for lv in edges if lv.open is None], scope, emit)
    scope = replace(scope, peels=1)
    interior = emit(nest, replace(scope, full=scope.full | {lv.var for lv in edges}))
    if any(lv.full_parts == 0 for lv in edges):
        return emit(nest, scope)
    cond = conjunction([less(Var(lv.var), whole_parts(lv)) for lv in edges])
    assert cond is not None
    split = nest.cpu and len(edges) <= MOST_EDGES and not opened
    edge = _edges(nest, edges, scope, emit) if split else emit(nest, scope)
    return [If(cond, (Comment("whole tiles"), *interior), (Comment("tiles cut by the edge"), *edge))]


def _by_open(nest: Nest, opened: list[Level], others: list[Level], scope: Scope, emit: Emit) -> list[Stmt]:
    """On a CPU: versions of the blocks that are full along open dimensions, and of those that are not.

    opened, others: the levels over open dimensions, and those whose last part is known.
    """
    full = replace(scope, full=scope.full | {lv.var for lv in opened})
    cond = conjunction([less(Var(lv.var), whole_parts(lv)) for lv in opened])
    assert cond is not None
    whole, edge = (_versions(nest, others, known, emit) for known in (full, scope))
    return [If(cond, tuple(whole), tuple(edge))]


def _by_parts(nest: Nest, level: Level, edges: list[Level], scope: Scope, emit: Emit) -> list[Stmt]:
    """Blocks with a whole part of a reduction, and those with its last part: both know where the part ends.
    So only the last turn of a loop over it has guards, which cost most where threads copy.

    edges: of other dimensions. Blocks with the last part have no versions of their own for them, for they
    are few.
    """
    within = replace(scope, full=scope.full | {level.var})
    whole = _versions(nest, edges, within, emit) if edges else emit(nest, within)
    last = emit(nest, replace(scope, peels=1).at_part(level.var, level.full_parts))
    cond = less(Var(level.var), level.full_parts)
    return [If(cond, (Comment("whole parts of the reduction"), *whole), (Comment("the last part"), *last))]


def _edges(nest: Nest, edges: list[Level], scope: Scope, emit: Emit) -> list[Stmt]:
    """On a CPU: a version for each way in which the block is the last one, whose loops end at the edge."""
    out: list[Stmt] = []
    for last in reversed([c for n in range(1, len(edges) + 1) for c in combinations(edges, n)]):
        inside = [lv for lv in edges if lv not in last]
        fixed = {lv.var: lv.full_parts for lv in last}
        full = scope.full | {lv.var for lv in inside}
        body = emit(nest, replace(scope, fixed=fixed, full=full))
        test = conjunction([less(Var(lv.var), lv.full_parts) for lv in inside]) if out else None
        out = body if test is None else [If(test, tuple(body), tuple(out))]
    return out


def emit(nest: Nest, scope: Scope) -> list[Stmt]:
    """Everything from item `scope.position` on, with the regions that open there around it."""
    begun, scope = begin_pass(nest, scope)
    return [*begun, *_around(nest, scope, _item(nest, scope))]


def _around(nest: Nest, scope: Scope, inner: list[Stmt]) -> list[Stmt]:
    """`inner` between the opening and the closing of the regions at the scope's position."""
    opening = [r for r in nest.regions if r.opens == scope.position]
    if not opening or nest.role is Role.LOAD:
        return inner
    before = [s for r in opening for s in (*open_region(nest, r, scope), *open_first(nest, r))]
    after = [s for r in reversed(opening) for s in _closed(nest, r, scope)]
    ended: list[Stmt] = [MmaWait(0)] if inflight(nest) else []
    if nest.role is Role.MATH and scope.position == min(r.opens for r in nest.regions):
        inner = in_order(nest, inner)
        ended += release_last(nest)
        after = finish_stream(nest, opening[0], after)
    ended += [s for r in opening for s in close_first(nest, r)]
    return [*before, *inner, *ended, *after]


def _closed(nest: Nest, region: Region, scope: Scope) -> list[Stmt]:
    boxes = result_boxes(nest, region)
    return close_region(nest, region, scope) if boxes is None else close_boxed(nest, region, boxes, scope)


def _item(nest: Nest, scope: Scope) -> list[Stmt]:
    """Everything from item `scope.position` on, inside of the regions that open there."""
    if nest.role is Role.LOAD and not nest.copies(nest.items[scope.position :]):
        return []
    match scope.leaf:
        case OpenCarries(at) as carries if at == scope.position:
            return open_carries(nest, carries, scope, _item)
        case ScanParts(at) as parts if at == scope.position:
            return scan_parts(nest, parts, scope, _item)
        case Atoms(at) if at == scope.position:
            return emit_atoms(nest, scope) if nest.warp_atoms else emit_group_atoms(nest, scope)
    if scope.position == len(nest.items):
        return _leaf(nest, scope)
    match nest.items[scope.position]:
        case int(step):
            return _step(nest, step, scope)
        case Level(layer=Layer.VEC) as level:
            return [_lanes(nest, level, scope, scope.at(scope.position + 1))]
        case Level() as level:
            return split(nest, level, scope, _loop)


def _leaf(nest: Nest, scope: Scope) -> list[Stmt]:
    match scope.leaf:
        case Point():
            return emit_point(nest, scope)
        case Scatter():
            return scatter_point(nest, scope)
        case ReducePart() as part:
            return reduce_point(nest, part, scope)
        case ScanPart() as part:
            return scan_point(nest, part, scope)
        case ScanChunk() as chunk:
            return chunk_point(nest, chunk, scope)
        case OpenCarries() | ScanParts() | Atoms():
            raise AssertionError("they stand inside of the items")
        case _:
            assert_never(scope.leaf)


def _step(nest: Nest, number: int, scope: Scope) -> list[Stmt]:
    """The copies of a step, and what follows them."""
    step = nest.plan.steps[number]
    if boxed(step):
        return emit_boxed(nest, number, scope, lambda n, at: emit(n, at.at(scope.position + 1)))
    if nest.role is Role.LOAD:
        return emit(nest, scope.at(scope.position + 1))
    out: list[Stmt] = [Comment(step.text, step.wrapped)] if step.text else []
    live = dict(scope.live)
    copies = plan_copies(nest, number, scope)
    computed = {b for n in computed_at(nest, number) for b in n.stage.written}
    for copy in copies:
        if copy.staging.buffer in nest.states:
            # the tile outlives the step, and serves all that read it
            live[copy.key] = copy.dst
            continue
        if copy.dst.buf.space is Space.RM:
            out.append(Alloc(copy.dst.buf))
        if copy.staging.buffer in computed:
            continue
        around = nest.items[scope.position - 1]
        if copy.staging.window and isinstance(around, Level):
            out.extend(emit_window(nest, copy, around, scope))
        else:
            out.extend(emit_copy(nest, copy, scope))
        live[copy.key] = copy.dst
    if not nest.cpu and any(copy.staging.engine == Engine.ASYNC for copy in copies):
        out.extend((Commit(), Wait(0)))
    out.extend(emit_inner(nest, number, copies, live, scope, _inner_block))
    out.extend(rescaled(nest, number, replace(scope, live=live)))
    slotted = any(copy.dst.buf.name in nest.declarations.synchronised for copy in copies)
    body = emit(nest, replace(scope, live=live, position=scope.position + 1))
    if not slotted:
        return [*out, *body]
    filled_slot = Barrier(SyncScope.BLOCK, "the slot is filled")
    return [*out, filled_slot, *body, Barrier(SyncScope.BLOCK, "the slot is free again")]


def _loop(nest: Nest, level: Level, scope: Scope) -> list[Stmt]:
    """A loop of the code order: as a whole, or with a separate last part where the edge cuts it."""
    inner = scope.at(scope.position + 1)
    if level.open is not None:
        return _open_loop(nest, level, scope, inner)
    part = open_part(nest, level, scope, nest.below(scope.position))
    slack = lanes_slack(nest, level, scope) if part is not None else None
    if part is not None and slack is not None:
        # lanes past the edge compute, too, in the vectors that begin inside
        nest.declarations.extend(slack)
        body = emit(nest, filled(inner, nest, level))
        return [_for(nest, level, 0, level.parts, [If(part.begun, tuple(body))], _kind(nest, level))]
    opened = open_ends(nest, level, scope, nest.below(scope.position))
    if opened is not None and scope.peels < MOST_CUTS and pipelined_at(nest, scope.position + 1) is None:
        return _open_tile(nest, level, opened, inner)
    ends = trip_counts(nest, level, scope, nest.below(scope.position))
    slack = lanes_slack(nest, level, scope) if ends is not None and ends.begun > ends.whole else None
    step = pipelined_at(nest, scope.position + 1)
    if ends is not None and slack is not None:
        nest.declarations.extend(slack)
        kept = filled(inner.limited(level.var, ends.begun), nest, level)
        return [_for(nest, level, 0, ends.begun, emit(nest, kept), _kind(nest, level))]
    if ends is not None and nest.cpu and step is None and scope.peels + ends.begun - ends.whole <= MOST_CUTS:
        return _cut_loop(nest, level, ends, inner)
    if nest.plan.atoms is not None and _boxed_below(nest, scope.position + 1):
        # zeros behind the edge are terms of the sums
        return _parts(nest, level, level.parts, step, inner)
    if ends is not None and not nest.cpu:
        return _ended_loop(nest, level, ends, step, inner)
    if level.exact or level.cyclic or scope.peels >= MOST_PEELS or level.full_parts == 0:
        return _parts(nest, level, level.parts, step, inner)
    peeled = replace(inner, peels=scope.peels + 1)
    whole = replace(peeled, full=peeled.full | {level.var})
    main = _parts(nest, level, level.full_parts, step, whole)
    tail = emit(nest, peeled.at_part(level.var, level.full_parts))
    return [*main, _for(nest, level, level.full_parts, level.full_parts + 1, tail, ForKind.UNROLL)]


def _open_loop(nest: Nest, level: Level, scope: Scope, inner: Scope) -> list[Stmt]:
    """A loop whose trip count the call gives: the full parts, then the last one, if there is one."""
    whole = replace(inner, full=inner.full | {level.var})
    step = pipelined_at(nest, scope.position + 1)
    if scope.peels >= MOST_PEELS and not level.exact:
        return _parts(nest, level, all_parts(level), step, inner)
    if level.exact:
        return _parts(nest, level, whole_parts(level), step, whole)
    main = _parts(nest, level, whole_parts(level), step, replace(whole, peels=scope.peels + 1))
    last = emit(nest, replace(inner, peels=scope.peels + 1))
    return [*main, loop(level.var, all_parts(level), last, start=whole_parts(level))]


def _open_tile(nest: Nest, level: Level, ends: OpenEnds, inner: Scope) -> list[Stmt]:
    """On a CPU: the loop through a tile that an open size cuts. The parts that lie inside, then the last one
    up to the edge."""
    known = {**inner.ends, level.var: sub(ends.begun, 1)}
    inner = replace(inner, peels=inner.peels + 1, ends=known)
    whole = emit(nest, replace(inner, inside=inner.inside | {level.dim}))
    main = loop(level.var, ends.whole, whole, _kind(nest, level))
    if ends.whole == ends.begun:
        return [*ends.lets, main]
    last = emit(nest, inner)
    return [*ends.lets, main, loop(level.var, ends.begun, last, start=ends.whole)]


def _ended_loop(nest: Nest, level: Level, ends: TripCounts, step: int | None, inner: Scope) -> list[Stmt]:
    """The loop of a block with the last part of a sum: turns without guards, and the last one."""
    out: list[Stmt] = []
    if ends.whole:
        out += _parts(nest, level, ends.whole, step, inner.limited(level.var, ends.whole))
    if ends.begun > ends.whole:
        tail = emit(nest, inner.at_part(level.var, ends.whole))
        out.append(_for(nest, level, ends.whole, ends.begun, tail, ForKind.UNROLL))
    return out


def _lanes(nest: Nest, level: Level, scope: Scope, inner: Scope) -> For:
    """The lanes of a vector, all of them or those up to the edge."""
    ends = trip_counts(nest, level, scope, nest.below(scope.position))
    cut = ends is not None or open_part(nest, level, scope, nest.below(scope.position)) is not None
    slack = lanes_slack(nest, level, scope) if cut else None
    if slack is not None:
        nest.declarations.extend(slack)
        return _for(nest, level, 0, level.parts, emit(nest, filled(inner, nest, level)), ForKind.VEC)
    back = moved_back(nest, level, scope, ends)
    if back is not None:
        whole = filled(inner.with_values({level.var: back}), nest, level)
        return _for(nest, level, 0, level.parts, emit(nest, whole), ForKind.VEC)
    stop = level.parts if ends is None else ends.begun
    return _for(nest, level, 0, stop, emit(nest, inner.limited(level.var, stop)), ForKind.VEC)


def _boxed_below(nest: Nest, position: int) -> bool:
    """Whether the copy engine brings what the loop's turns read."""
    return any(isinstance(it, int) and boxed(nest.plan.steps[it]) for it in nest.items[position:])


def _parts(nest: Nest, level: Level, count: Expr | int, step: int | None, inner: Scope) -> list[Stmt]:
    """The first `count` parts of a loop; step: whose copies are pipelined in it."""
    if nest.stream is not None and level == nest.stream.level:
        return [shared_loop(nest, nest.stream, emit(nest, inner))]
    if step is not None and boxed(nest.plan.steps[step]):
        assert isinstance(count, int), "K118 refuses boxes of arrays that stay open"
        return emit_boxed_loop(nest, level, count, step, inner, _below_step)
    if step is not None:
        return emit_pipelined(nest, level, count, step, inner, _below_step)
    return [_for(nest, level, 0, count, emit(nest, inner), _kind(nest, level))]


def _cut_loop(nest: Nest, level: Level, ends: TripCounts, inner: Scope) -> list[Stmt]:
    """The parts that lie inside, then the last one up to the edge."""
    known = {**inner.ends, level.var: ends.begun - 1}
    inner = replace(inner, peels=inner.peels + ends.begun - ends.whole, ends=known)
    out: list[Stmt] = []
    if ends.whole:
        body = emit(nest, inner.limited(level.var, ends.whole))
        out.append(_for(nest, level, 0, ends.whole, body, _kind(nest, level)))
    if ends.begun > ends.whole:
        body = emit(nest, inner.at_part(level.var, ends.whole))
        out.append(_for(nest, level, ends.whole, ends.begun, body, ForKind.UNROLL))
    return out


def _below_step(nest: Nest, scope: Scope) -> list[Stmt]:
    """What follows the step at the scope's position, inside the regions that open there."""
    return _around(nest, scope, emit(nest, scope.at(scope.position + 1)))


def _kind(nest: Nest, level: Level) -> ForKind:
    unroll = nest.plan.steps[level.step].unroll
    if level.open is not None:
        return ForKind.SEQ
    whole = unroll == 0 or (unroll is None and _stores_wide(nest, level))
    return ForKind.UNROLL if whole else ForKind.SEQ


def _stores_wide(nest: Nest, level: Level) -> bool:
    """The innermost loop of a map whose stores the schedule wants wide: neighbours must meet in one place."""
    loops = [it for it in nest.items if isinstance(it, Level)]
    if not loops or loops[-1] != level:
        return False
    maps = [fold for f, fold in enumerate(nest.folds) if fold.op is None and not nest.regions_of(f)]
    return any((stated_width(nest, o.buffer) or 1) > 1 for fold in maps for o in fold.outputs)


def _for(nest: Nest, level: Level, start: int, stop: Expr | int, body: list[Stmt], kind: ForKind) -> For:
    unroll = nest.plan.steps[level.step].unroll
    kind, factor = stated(unroll) if kind is ForKind.SEQ else (kind, 0)
    return loop(level.var, stop, body, kind, factor, start=start)
