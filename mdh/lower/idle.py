"""Points past the edge, computed where that does no harm: what they hold is stored nowhere.

On CPUs, lanes of vectors: a guard on each lane makes scalars of the vectors of a whole tile. Instead the
lanes past the edge compute, too, where all that they read lies in packed buffers or registers, and the
results' region is written out up to the edge. A packed buffer whose rows end at the edge gets some slack
behind its last row, which is zero; before that, the next row is read.

On GPUs, points of a thread's tile: a guard on each multiplication costs more than the multiplication. Copies
are as large as whole tiles and hold zeros past the edge, so that products past it add nothing. A prefix sum
goes on past the end of its dim: no point that exists comes after it.
"""

from dataclasses import replace

from mdh.hardware import Layer, Space
from mdh.ir.dtype import I32
from mdh.ir.expr import Binary, Cast, Const, Expr, Load, Unary, Var, walk
from mdh.ir.kernel import Buf, For, ForKind, Stmt, Store
from mdh.ir.layout import Guard, Level
from mdh.ir.program import DimKind
from mdh.lower.nest import Nest, Scope, key_of
from mdh.lower.past import Past
from mdh.lower.spread import deal, wrap


def vector_level(nest: Nest, level: Level) -> Level | None:
    """The vector level that is `level` itself or directly inside of it in its dim."""
    mine = nest.levels.by_dim[level.dim]
    inner = mine[mine.index(level) :]
    return inner[-1] if len(inner) <= 2 and inner[-1].layer == Layer.VEC else None


def may_idle(nest: Nest, level: Level, scope: Scope) -> bool:
    """Lanes of this level may compute past the edge; the buffers that they read past it get their slack."""
    lanes = vector_level(nest, level)
    if not nest.cpu or lanes is None or nest.stage.dims[level.dim].kind is not DimKind.CC:
        return False
    if nest.leaf is not None or not all(_held(nest, f, scope) for f in range(len(nest.folds))):
        return False
    below = nest.items[scope.position + 1 :]
    if nest.copies(below):
        return False
    nodes = _nodes(nest)
    if _divides(nodes):
        return False
    beyond: dict[str, int] = {}
    if not all(_harmless(nest, n, lanes, scope, beyond) for n in nodes if isinstance(n, Load)):
        return False
    for name, count in beyond.items():
        nest.slack[name] = max(nest.slack.get(name, 0), count)
    return True


def needed(nest: Nest, guards: list[Guard], scope: Scope) -> list[Guard]:
    """Of the guards of a point on a GPU those without which it would do harm."""
    nodes = _nodes(nest)
    idle = (
        not nest.cpu
        and nest.leaf is None
        and all(fold.op is not None and _held(nest, f, scope) for f, fold in enumerate(nest.folds))
        and not _divides(nodes)
        and all(_covered(nest, n, guards, scope) for n in nodes if isinstance(n, Load))
    )
    if not idle:
        return guards
    return [g for g in guards if nest.stage.dims[g.dim].kind is not DimKind.CC and not _adds_nothing(nest, g)]


def needed_in_scan(nest: Nest, scope: Scope) -> list[Guard]:
    """Of the guards of a prefix sum's point on a GPU, whose results a region holds, those without which it
    would do harm. A guard on each point costs registers from one run over a thread's part to the next."""
    guards = nest.guards(scope)
    nodes = [*_nodes(nest), *(n for fold in nest.folds for o in fold.outputs for n in walk(o.value))]
    idle = (
        not nest.cpu
        and not _divides(nodes)
        and all(_covered(nest, n, guards, scope) for n in nodes if isinstance(n, Load))
    )
    if not idle:
        return guards
    return [g for g in guards if nest.stage.dims[g.dim].kind is not DimKind.PS or not _end(nest, g)]


def _nodes(nest: Nest) -> list[Expr]:
    values = [v for fold in nest.folds for v in fold.values] + [let.value for let in nest.stage.lets]
    return [n for v in values for n in walk(v)]


def _divides(nodes: list[Expr]) -> bool:
    """A point past the edge might divide by zero."""
    return any(isinstance(n, Binary) and n.op in "/%" and not n.dtype.is_float for n in nodes)


def _covered(nest: Nest, load: Load, guards: list[Guard], scope: Scope) -> bool:
    """Past the edge a read meets what a copy holds, or does not go past it."""
    index = nest.access(load.index)
    if index is None:
        return False
    where = tuple(nest.over_levels(i) for i in index)
    guarded = {lv.var for g in guards for lv in nest.levels.by_dim[g.dim]}
    if not any(guarded & i.names for i in where):
        return True
    instance = scope.live.get(key_of(load.buffer, index))
    if instance is None or instance.axes is None:
        return False
    # the extents of boxes end at the edge of the tile that they are cut from
    ranges = nest.ranges(scope)
    past = Past(nest, instance, index, guards)
    for k, (axis, i) in enumerate(zip(instance.axes, instance.local(where), strict=True)):
        low, high = i.bounds(ranges)
        if low < 0 or (high >= axis.extent and not past.allows(k, high - axis.extent + 1)):
            return False
    past.settle()
    return True


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


def _held(nest: Nest, f: int, scope: Scope) -> bool:
    """Results of this fold go to registers that were opened outside."""
    mine = [r for r in nest.regions if r.fold == f]
    return bool(mine) and mine[-1].space is Space.RM and mine[-1].opens <= scope.position


def _harmless(nest: Nest, load: Load, lanes: Level, scope: Scope, beyond: dict[str, int]) -> bool:
    """Whether a read does no harm past the edge; `beyond` learns by how much it leaves a packed buffer."""
    index = nest.access(load.index)
    if index is None:
        return False
    where = tuple(nest.over_levels(i) for i in index)
    mine = {lv.var for lv in nest.levels.by_dim[lanes.dim]}
    if not any(mine & i.names for i in where):
        return True
    instance = scope.live.get(key_of(load.buffer, index))
    if instance is None or instance.slot is not None or instance.buf.swizzle:
        return False
    buf, local = instance.buf, instance.local(where)
    steps = [i.coefficient(lanes.var) * s for i, s in zip(local, buf.strides, strict=True)]
    if sorted(steps)[-1:] != [1] or sum(map(abs, steps)) != 1:
        return False
    at = steps.index(1)
    over = local[at].bounds(nest.ranges(scope))[1] - (buf.shape[at] - 1)
    if over > 0:
        beyond[buf.name] = max(over, beyond.get(buf.name, 0))
    return over <= 0 or buf.space is Space.SM


def filled(scope: Scope, nest: Nest, level: Level) -> Scope:
    """The scope in which no guard of the level's dim is left."""
    return replace(scope, full=scope.full | {lv.var for lv in nest.levels.by_dim[level.dim]})


def with_slack(nest: Nest) -> list[Stmt]:
    """Give the buffers their slack, and the statements that zero it, by all threads of a block together."""
    out: list[Stmt] = []
    for name, count in nest.slack.items():
        buf = nest.shared[name]
        nest.shared[name] = replace(buf, slack=count)
        var = nest.fresh(f"s_{name}")
        at = buf.strides.index(1)

        def zero(place: Expr, buf: Buf = buf, at: int = at) -> Store:
            behind = Binary("+", place, Const(buf.elements, I32), I32)
            index = tuple(behind if p == at else Const(0, I32) for p in range(len(buf.shape)))
            return Store(buf.name, index, Const(0, buf.dtype))

        if nest.threads > 1:
            dealt = deal(nest, [count], var)
            out.extend(wrap(dealt, [zero(dealt.coordinates[0])]))
        else:
            body = (zero(Var(var)),)
            out.append(For(var, Const(0, I32), Const(count, I32), Const(1, I32), body, ForKind.SEQ))
    return out
