"""Points past the edge, computed where that does no harm: what they hold is stored nowhere.

On CPUs, lanes of vectors: a guard on each lane makes scalars of the vectors of a whole tile. Instead the
lanes past the edge compute, too, where all that they read lies in packed buffers or registers, and the
results' region is written out up to the edge. A packed buffer whose rows end at the edge gets some slack
behind its last row, which is zero; before that, the next row is read.

The last vector of a map's row may begin earlier instead, and compute some of the elements before it again:
the values are the same, if the stage reads nothing that it writes.

On GPUs, points of a thread's tile: a guard on each multiplication costs more than the multiplication. Copies
are as large as whole tiles and hold zeros past the edge, so that products past it add nothing. A prefix sum
goes on past the end of its dim: no point that exists comes after it.
"""

from collections.abc import Iterable
from dataclasses import replace

from mdh.hardware import Layer, Space
from mdh.ir.construct import sub
from mdh.ir.expr import Binary, Cast, Expr, Load, Unary, Var, walk
from mdh.ir.layout import Guard, Level
from mdh.ir.program import DimKind
from mdh.lower.nest import Nest
from mdh.lower.overread import Slack, overread
from mdh.lower.scope import Point, Scope, key_of
from mdh.lower.trip_counts import TripCounts


def vector_level(nest: Nest, level: Level) -> Level | None:
    """The vector level that is `level` itself or directly inside of it in its dim."""
    mine = nest.levels.by_dim[level.dim]
    inner = mine[mine.index(level) :]
    return inner[-1] if len(inner) <= 2 and inner[-1].layer == Layer.VEC else None


def lanes_slack(nest: Nest, level: Level, scope: Scope) -> Slack | None:
    """The slack with which lanes of this level may compute past the edge, None where they may not."""
    lanes = vector_level(nest, level)
    if not nest.cpu or lanes is None or nest.stage.dims[level.dim].kind is not DimKind.CC:
        return None
    if not _into_registers(nest, scope) or nest.copies(nest.items[scope.position + 1 :]):
        return None
    loads = _reads(nest)
    reaches = [_beyond(nest, load, lanes, scope) for load in loads or ()]
    if loads is None or None in reaches:
        return None
    slack: dict[str, int] = {}
    for name, count in filter(None, reaches):
        if count > 0:
            slack[name] = max(count, slack.get(name, 0))
    return slack


def moved_back(nest: Nest, level: Level, scope: Scope, ends: TripCounts | None) -> Expr | None:
    """The lanes of a map's last vector, where it ends at the edge and begins in the vector before it; None if
    that one is not of the same unit, or if a second store would do harm."""
    mine = nest.levels.by_dim[level.dim]
    outer = mine[mine.index(level) - 1] if mine.index(level) else None
    maps = all(fold.op is None for fold in nest.folds) and not nest.regions and not nest.stage.scattered
    if not nest.cpu or ends is None or outer is None or outer.layer is not None or not maps:
        return None
    again = nest.stage.written & nest.stage.read
    copied = any(step.stagings for step in nest.plan.steps)
    if again or copied or nest.domain is not None or not scope.fixed.get(outer.var):
        return None
    return sub(Var(level.var), level.parts - ends.begun)


def needed(nest: Nest, guards: list[Guard], scope: Scope) -> tuple[list[Guard], Slack]:
    """Guards of a point on a GPU without which it would do harm, and the slack that it needs then."""
    sums = all(fold.op is not None for fold in nest.folds)
    slack = _covering(nest, _reads(nest), guards, scope) if sums and _into_registers(nest, scope) else None
    if slack is None:
        return guards, {}
    cc = nest.dims(DimKind.CC)
    return [g for g in guards if g.dim not in cc and not _adds_nothing(nest, g)], slack


def needed_in_scan(nest: Nest, scope: Scope) -> tuple[list[Guard], Slack]:
    """The same of a prefix sum's point whose results a region holds. A guard on each point costs registers
    from one run over a thread's part to the next."""
    guards = nest.guards(scope)
    epilogues = [o.value for fold in nest.folds for o in fold.outputs]
    slack = _covering(nest, _reads(nest, epilogues), guards, scope)
    if slack is None:
        return guards, {}
    scanned = nest.dims(DimKind.PS)
    return [g for g in guards if g.dim not in scanned or not _end(nest, g)], slack


def _into_registers(nest: Nest, scope: Scope) -> bool:
    """All results of the points go to registers that were opened outside."""
    mine = [nest.regions_of(f)[-1:] for f in range(len(nest.folds))]
    held = all(r and r[0].space is Space.RM and r[0].opens <= scope.position for r in mine)
    return held and isinstance(scope.leaf, Point)


def _reads(nest: Nest, more: Iterable[Expr] = ()) -> list[Load] | None:
    """What a point reads, also in the expressions `more`; None: past the edge it might divide by zero."""
    values = [v for fold in nest.folds for v in fold.values] + [let.value for let in nest.stage.lets]
    nodes = [n for v in (*values, *more) for n in walk(v)]
    if any(isinstance(n, Binary) and n.op in "/%" and not n.dtype.is_float for n in nodes):
        return None
    return [n for n in nodes if isinstance(n, Load)]


def _covering(nest: Nest, loads: list[Load] | None, guards: list[Guard], scope: Scope) -> Slack | None:
    """The slack with which a GPU's points past the edge do no harm, None where they do in any case."""
    slack: Slack | None = None if nest.cpu or loads is None else nest.declarations.slack
    for load in loads or ():
        slack = None if slack is None else _covered(nest, load, guards, scope, slack)
    return slack


def _covered(nest: Nest, load: Load, guards: list[Guard], scope: Scope, slack: Slack) -> Slack | None:
    """Slack with which a read past the edge meets what a copy holds; None where it might not.

    slack: what other reads need.
    """
    index = nest.access(load.index)
    if index is None:
        return None
    where = tuple(nest.levels.over(i) for i in index)
    guarded = {lv.var for g in guards for lv in nest.levels.by_dim[g.dim]}
    if not any(guarded & i.names for i in where):
        return slack
    instance = scope.live.get(key_of(load.buffer, index))
    if instance is None:
        return None
    # the extents of boxes end at the edge of the tile that they are cut from
    ranges = nest.ranges(scope)
    past = overread(nest, instance, index, guards, slack)
    for k, (axis, i) in enumerate(zip(instance.axes, instance.local(where), strict=True)):
        low, high = i.bounds(ranges)
        further = past if high < axis.extent else past.along(k, high - axis.extent + 1)
        if low < 0 or further is None:
            return None
        past = further
    return past.slack


def _adds_nothing(nest: Nest, guard: Guard) -> bool:
    """Points that the guard keeps out are sums of products of zeros: it is the end of the dim that it guards,
    and there each factor ends, too."""
    if not _end(nest, guard):
        return False
    sums = all(f.op is not None and f.op.name == "+" and not f.ordered for f in nest.folds)
    return sums and all(_product(nest, v, guard.dim) for fold in nest.folds for v in fold.values)


def _end(nest: Nest, guard: Guard) -> bool:
    """The guard keeps out what lies past the end of its dim, and nothing else."""
    return guard.bound == nest.levels.extents[guard.dim] and guard.offset == nest.levels.index[guard.dim]


def _product(nest: Nest, e: Expr, dim: int) -> bool:
    """Whether `e` is zero where the dim is past its end: factors read past the end of their buffers."""
    match e:
        case Load():
            return _ends(nest, e, dim)
        case Cast(arg) | Unary("-", arg):
            return _product(nest, arg, dim)
        case Binary("*", a, b):
            return _product(nest, a, dim) and _product(nest, b, dim)
    return False


def _ends(nest: Nest, load: Load, dim: int) -> bool:
    """Some index of the read leaves the buffer where the dim leaves its extent."""
    index = nest.access(load.index) or ()
    shape = nest.buffers[load.buffer].shape
    for i, size in zip(index, shape, strict=True):
        rising = i.const >= 0 and all(c > 0 for _, c in i.terms)
        if rising and i.coefficient(str(dim)) * nest.levels.extents[dim] + i.const >= size > i.const:
            return i.coefficient(str(dim)) > 0
    return False


def filled(scope: Scope, nest: Nest, level: Level) -> Scope:
    """The scope in which no guard of the level's dim is left."""
    return replace(scope, full=scope.full | {lv.var for lv in nest.levels.by_dim[level.dim]})


def _beyond(nest: Nest, load: Load, lanes: Level, scope: Scope) -> tuple[str, int] | None:
    """(buffer, by how many elements a read leaves it) past the edge; None where the read might do harm."""
    index = nest.access(load.index)
    if index is None:
        return None
    where = tuple(nest.levels.over(i) for i in index)
    mine = {lv.var for lv in nest.levels.by_dim[lanes.dim]}
    if not any(mine & i.names for i in where):
        return load.buffer, 0
    instance = scope.live.get(key_of(load.buffer, index))
    if instance is None or instance.slot is not None or instance.buf.swizzle:
        return None
    buf, local = instance.buf, instance.local(where)
    steps = [i.coefficient(lanes.var) * s for i, s in zip(local, buf.strides, strict=True)]
    if sorted(steps)[-1:] != [1] or sum(map(abs, steps)) != 1:
        return None
    at = steps.index(1)
    over = local[at].bounds(nest.ranges(scope))[1] - (buf.shape[at] - 1)
    return (buf.name, over) if over <= 0 or buf.space is Space.SM else None
