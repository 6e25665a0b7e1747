"""The body of a kernel: loops, copy points, regions and the scalar statement, in code order."""

from dataclasses import replace
from itertools import combinations

from mdh.hardware import Engine, Layer, Space, SyncScope
from mdh.ir.dtype import I32
from mdh.ir.expr import Binary, Const, Expr, Load, Var, loads, substitute
from mdh.ir.kernel import Alloc, Barrier, Comment, Commit, For, ForKind, If, Let, Stmt, Store, Wait
from mdh.ir.layout import MOST_PEELS, Guard, Level
from mdh.ir.plan import PlanStep
from mdh.ir.program import DimKind, component
from mdh.lower.close import close_region, open_region
from mdh.lower.copies import emit_copy, plan_copies
from mdh.lower.cut import Cut, cut_of
from mdh.lower.finish import finish, stated_width
from mdh.lower.fold import combine, follow
from mdh.lower.fragments import stated
from mdh.lower.idle import filled, may_idle, needed
from mdh.lower.in_order import in_order
from mdh.lower.nest import Nest, Region, Scope, conjunction, less
from mdh.lower.pipeline_loop import Emit, emit_pipelined, pipelines
from mdh.lower.window import emit_window

MOST_EDGES = 2
"""Dimensions in which blocks may be cut and still have versions of their own on a CPU."""
MOST_CUTS = 3
"""The same on a CPU, the versions of the block among them."""


def emit_block(nest: Nest) -> list[Stmt]:
    """The whole body: where blocks have remainders, full blocks run a version without guards."""
    edges = [
        lv
        for lv in nest.levels.all
        if lv.layer in (Layer.BLK, Layer.CLU, Layer.DEV, Layer.NOD) and not lv.exact and not lv.cyclic
    ]
    if not edges:
        return emit(nest, Scope())
    whole = frozenset(lv.var for lv in edges)
    if all(nest.stage.dims[lv.dim].kind is not DimKind.CC for lv in edges):
        return _around(nest, Scope(), _versions(nest, edges, whole, _item))
    return _versions(nest, edges, whole, emit)


def _versions(nest: Nest, edges: list[Level], whole: frozenset[str], emit: Emit) -> list[Stmt]:
    """Full blocks without guards, the others with them."""
    interior = emit(nest, Scope(full=whole, peels=1))
    cond: Expr | None = None
    for lv in edges:
        if lv.full_parts == 0:
            return emit(nest, Scope(peels=1))
        test = Binary("<", Var(lv.var), Const(lv.full_parts, I32), I32)
        cond = test if cond is None else Binary("&&", cond, test, I32)
    assert cond is not None
    split = nest.cpu and len(edges) <= MOST_EDGES
    edge = _edges(nest, edges, emit) if split else emit(nest, Scope(peels=1))
    return [If(cond, (Comment("whole tiles"), *interior), (Comment("tiles cut by the edge"), *edge))]


def _edges(nest: Nest, edges: list[Level], emit: Emit) -> list[Stmt]:
    """On a CPU: a version for each way in which the block is the last one, whose loops end at the edge."""
    out: list[Stmt] = []
    for last in reversed([c for n in range(1, len(edges) + 1) for c in combinations(edges, n)]):
        fixed = {lv.var: lv.full_parts for lv in last}
        full = frozenset(lv.var for lv in edges if lv not in last)
        body = emit(nest, Scope(fixed=fixed, full=full, peels=1))
        if not out:
            out = body
            continue
        tests = [less(Var(lv.var), lv.full_parts) for lv in edges if lv not in last]
        test = conjunction(tests)
        assert test is not None
        out = [If(test, tuple(body), tuple(out))]
    return out


def emit(nest: Nest, scope: Scope) -> list[Stmt]:
    """Everything from item `scope.position` on, with the regions that open there around it."""
    return _around(nest, scope, _item(nest, scope))


def _around(nest: Nest, scope: Scope, inner: list[Stmt]) -> list[Stmt]:
    """`inner` between the opening and the closing of the regions at the scope's position."""
    opening = [r for r in nest.regions if r.opens == scope.position > nest.opened]
    before: list[Stmt] = []
    for r in opening:
        before.extend(open_region(nest, r, scope))
    after: list[Stmt] = []
    for r in reversed(opening):
        after.extend(close_region(nest, r, scope))
    return [*before, *inner, *after]


def _item(nest: Nest, scope: Scope) -> list[Stmt]:
    if nest.leaf is not None and scope.position == nest.leaf_at:
        return nest.leaf(nest, scope)
    if scope.position == len(nest.items):
        return _leaf(nest, scope)
    match nest.items[scope.position]:
        case int(step):
            return _point(nest, nest.plan.steps[step], scope)
        case Level() as level:
            return _loop(nest, level, scope)


def _point(nest: Nest, step: PlanStep, scope: Scope) -> list[Stmt]:
    out: list[Stmt] = [Comment(step.text, step.wrapped)] if step.text else []
    live = dict(scope.live)
    slotted = flying = False
    for copy in plan_copies(nest, step, scope):
        slotted = slotted or copy.dst.buf.name in nest.managed
        if copy.dst.buf.space is Space.RM:
            out.append(Alloc(copy.dst.buf))
        around = nest.items[scope.position - 1]
        if copy.staging.window and isinstance(around, Level):
            out.extend(emit_window(nest, copy, around, scope))
        else:
            out.extend(emit_copy(nest, copy, scope))
        live[copy.key] = copy.dst
        flying = flying or copy.staging.engine == Engine.ASYNC
    if flying and not nest.cpu:
        out.extend((Commit(), Wait(0)))
    inner = emit(nest, replace(scope, live=live, position=scope.position + 1))
    if not slotted:
        return [*out, *inner]
    return [
        *out,
        Barrier(SyncScope.BLOCK, "the slot is filled"),
        *inner,
        Barrier(SyncScope.BLOCK, "the slot is free again"),
    ]


def _loop(nest: Nest, level: Level, scope: Scope) -> list[Stmt]:
    """A loop of the code order: as a whole, or with a separate last part where the edge cuts it."""
    inner = scope.at(scope.position + 1)
    if level.layer is Layer.VEC:
        return [_lanes(nest, level, scope, inner)]
    ends = cut_of(nest, level, scope, nest.below(scope.position)) if nest.cpu else None
    step = _pipelined(nest, scope.position + 1)
    if ends is not None and ends.begun > ends.whole and may_idle(nest, level, scope):
        kept = filled(inner.limited(level.var, ends.begun), nest, level)
        return [_for(nest, level, 0, ends.begun, emit(nest, kept), _kind(nest, level))]
    if ends is not None and step is None and scope.peels + ends.begun - ends.whole <= MOST_CUTS:
        return _cut_loop(nest, level, ends, inner)
    if level.exact or level.cyclic or scope.peels >= MOST_PEELS or level.full_parts == 0:
        return _parts(nest, level, level.parts, step, inner)
    peeled = replace(inner, peels=scope.peels + 1)
    whole = replace(peeled, full=peeled.full | {level.var})
    main = _parts(nest, level, level.full_parts, step, whole)
    tail = emit(nest, peeled.at_part(level.var, level.full_parts))
    return [*main, _for(nest, level, level.full_parts, level.full_parts + 1, tail, ForKind.UNROLL)]


def _lanes(nest: Nest, level: Level, scope: Scope, inner: Scope) -> For:
    """The lanes of a vector, all of them or those up to the edge."""
    ends = cut_of(nest, level, scope, nest.below(scope.position)) if nest.cpu else None
    if ends is not None and may_idle(nest, level, scope):
        return _for(nest, level, 0, level.parts, emit(nest, filled(inner, nest, level)), ForKind.VEC)
    stop = level.parts if ends is None else ends.begun
    return _for(nest, level, 0, stop, emit(nest, inner.limited(level.var, stop)), ForKind.VEC)


def _pipelined(nest: Nest, position: int) -> PlanStep | None:
    """The step that begins at the item, if its copies are pipelined."""
    item = nest.items[position]
    step = nest.plan.steps[item] if isinstance(item, int) else None
    return step if step is not None and step.stages > 1 and pipelines(nest, step) else None


def _parts(nest: Nest, level: Level, count: int, step: PlanStep | None, inner: Scope) -> list[Stmt]:
    """The first `count` parts of a loop; step: whose copies are pipelined in it."""
    if step is not None:
        return emit_pipelined(nest, level, count, step, inner, _below_point)
    return [_for(nest, level, 0, count, emit(nest, inner), _kind(nest, level))]


def _cut_loop(nest: Nest, level: Level, ends: Cut, inner: Scope) -> list[Stmt]:
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


def _below_point(nest: Nest, scope: Scope) -> list[Stmt]:
    """What follows the point at the scope's position, inside the regions that open there."""
    return _around(nest, scope, emit(nest, scope.at(scope.position + 1)))


def _kind(nest: Nest, level: Level) -> ForKind:
    unroll = nest.plan.steps[level.step].unroll
    whole = unroll == 0 or (unroll is None and _stores_wide(nest, level))
    return ForKind.UNROLL if whole else ForKind.SEQ


def _stores_wide(nest: Nest, level: Level) -> bool:
    """The innermost loop of a map whose stores the schedule wants wide: neighbours must meet in one place."""
    loops = [it for it in nest.items if isinstance(it, Level)]
    if not loops or loops[-1] != level:
        return False
    maps = [fold for f, fold in enumerate(nest.folds) if fold.op is None and f not in _held(nest)]
    return any((stated_width(nest, o.buffer) or 1) > 1 for fold in maps for o in fold.outputs)


def _held(nest: Nest) -> set[int]:
    return {r.fold for r in nest.regions}


def _for(nest: Nest, level: Level, start: int, stop: int, body: list[Stmt], kind: ForKind) -> For:
    unroll = nest.plan.steps[level.step].unroll
    kind, factor = stated(unroll) if kind is ForKind.SEQ else (kind, 0)
    return For(level.var, Const(start, I32), Const(stop, I32), Const(1, I32), tuple(body), kind, factor)


# -- the scalar statement ----------------------------------------------------------------------


def _leaf(nest: Nest, scope: Scope) -> list[Stmt]:
    """The scalar function at one point."""
    body: list[Stmt] = []
    for f, fold in enumerate(nest.folds):
        values = tuple(nest.translate(v, scope) for v in fold.values)
        regions = [r for r in nest.regions if r.fold == f]
        if fold.op is None:
            body.extend(_map_leaf(nest, f, values, regions, scope))
        else:
            body.extend(update(nest, f, regions[-1], values, scope))
    return at_point(nest, scope, body)


def at_point(nest: Nest, scope: Scope, body: list[Stmt], guards: list[Guard] | None = None) -> list[Stmt]:
    """`body` below the stage's locals, guarded where the point may not exist, or by `guards` alone."""
    lets = [Let(let.name, nest.translate(let.value, scope), let.dtype) for let in nest.stage.lets]
    guards = needed(nest, nest.guards(scope), scope) if guards is None else guards
    cond = nest.condition(guards, scope)
    return [*lets, *body] if cond is None else [If(cond, (*lets, *body))]


def _map_leaf(
    nest: Nest, f: int, values: tuple[Expr, ...], regions: list[Region], scope: Scope
) -> list[Stmt]:
    fold = nest.folds[f]
    if not regions:
        return finish(nest, f, values, scope, len(nest.items))
    region = regions[-1]
    components = {component(c): values[c] for c in range(len(values))}
    out: list[Stmt] = []
    for o, buf in zip(fold.outputs, region.bufs, strict=True):
        value = substitute(nest.translate(o.value, scope), components)
        out.append(Store(buf.name, region.index(scope.values), value))
    return out


def update(nest: Nest, f: int, region: Region, values: tuple[Expr, ...], scope: Scope) -> list[Stmt]:
    """region[own element] = combine(region[own element], values)."""
    fold = nest.folds[f]
    index = region.index(scope.values)
    out: list[Stmt] = []
    later = values
    if fold.record or (fold.op is not None and fold.op.name in ("min", "max")):
        names = [nest.fresh(f"v_{region.bufs[0].name}{c or ''}") for c in range(len(values))]
        out.extend(Let(n, v, t) for n, v, t in zip(names, values, fold.types, strict=True))
        later = tuple(Var(n, t) for n, t in zip(names, fold.types, strict=True))
    earlier = tuple(Load(b.name, index, b.dtype) for b in region.bufs)
    if not fold.record:
        new = combine(fold, earlier, later)
        out.extend(Store(b.name, index, e) for b, e in zip(region.bufs, new, strict=True))
        return out
    held = [nest.fresh(f"h_{region.bufs[0].name}{c or ''}") for c in range(len(values))]
    out.extend(Let(n, e, t) for n, e, t in zip(held, earlier, fold.types, strict=True))
    state = tuple(Var(n, t) for n, t in zip(held, fold.types, strict=True))
    # what combines the parts of several units compares positions, too: their points lie between one another
    counted = not any(loads(fold.values[1]))
    known = counted and fold.starts[0] is not None and in_order(nest, region)
    new = follow(fold, state, later) if known else combine(fold, state, later)
    out.extend(Store(b.name, index, e) for b, e in zip(region.bufs, new, strict=True))
    return out
