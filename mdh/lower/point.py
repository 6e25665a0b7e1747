"""The scalar function at one point: each result takes in a value, in its innermost region or in memory."""

from math import prod

from mdh.hardware import Layer
from mdh.ir.construct import load_each, store_each, when
from mdh.ir.expr import Expr, Var, loads, substitute
from mdh.ir.kernel import Let, Stmt, Store
from mdh.ir.layout import Guard, Level
from mdh.ir.program import DimKind, component
from mdh.lower.finish import finish
from mdh.lower.fold import combine, follow
from mdh.lower.nest import Nest
from mdh.lower.overread import Slack
from mdh.lower.scope import Region, Scope
from mdh.lower.unguarded import needed


def emit_point(nest: Nest, scope: Scope) -> list[Stmt]:
    """All results of the stage."""
    body: list[Stmt] = []
    for f, fold in enumerate(nest.folds):
        own = fold.inside if scope.in_domain else fold.values
        values = tuple(nest.translate(v, scope) for v in own)
        regions = nest.regions_of(f)
        if fold.op is not None:
            body.extend(_update(nest, f, regions[-1], values, scope))
        elif regions:
            body.extend(_map(nest, f, regions[-1], values, scope))
        else:
            body.extend(finish(nest, f, values, scope, len(nest.items)))
    return at_point(nest, scope, body)


def at_point(
    nest: Nest, scope: Scope, body: list[Stmt], chosen: tuple[list[Guard], Slack] | None = None
) -> list[Stmt]:
    """`body` below the stage's locals, guarded where the point may not exist, or by the chosen guards alone,
    for which buffers need so much slack."""
    lets = [Let(let.name, nest.translate(let.value, scope), let.dtype) for let in nest.stage.lets]
    guards, slack = needed(nest, nest.guards(scope), scope) if chosen is None else chosen
    nest.declarations.extend(slack)
    return when(nest.condition(guards, scope), [*lets, *body])


def _map(nest: Nest, f: int, region: Region, values: tuple[Expr, ...], scope: Scope) -> list[Stmt]:
    """The finished values, in the region that holds them."""
    components = {component(c): value for c, value in enumerate(values)}
    index = region.index(scope.values)
    return [
        Store(buf.name, index, substitute(nest.translate(o.value, scope), components))
        for o, buf in zip(nest.folds[f].outputs, region.bufs, strict=True)
    ]


def _update(nest: Nest, f: int, region: Region, values: tuple[Expr, ...], scope: Scope) -> list[Stmt]:
    """region[own element] = combine(region[own element], values)."""
    fold = nest.folds[f]
    index = region.index(scope.values)
    out: list[Stmt] = []
    later = values
    stem = region.bufs[0].name
    if fold.selects:
        names = [nest.fresh(f"v_{stem}{c or ''}") for c in range(len(values))]
        out.extend(Let(n, v, t) for n, v, t in zip(names, values, fold.types, strict=True))
        later = tuple(Var(n, t) for n, t in zip(names, fold.types, strict=True))
    state: tuple[Expr, ...] = load_each(region.bufs, index)
    known = False
    if fold.record:
        held = [nest.fresh(f"h_{stem}{c or ''}") for c in range(len(values))]
        out.extend(Let(n, e, t) for n, e, t in zip(held, state, fold.types, strict=True))
        state = tuple(Var(n, t) for n, t in zip(held, fold.types, strict=True))
        # what combines the parts of several units compares positions, too: their points alternate
        counted = not any(loads(fold.values[1]))
        known = counted and fold.starts[0] is not None and _in_order(nest, region)
    new = follow(fold, state, later) if known else combine(fold, state, later)
    out.extend(store_each(region.bufs, index, new))
    return out


def _in_order(nest: Nest, region: Region) -> bool:
    """The points that meet in one accumulator come in C's order: the loops inside the region walk the
    reduction dims as C does, in each unit.

    A CPU's lanes do not count: each has accumulators of its own. The position of a point is a number with the
    loops' variables as digits; it grows from point to point if each digit weighs more than inner ones reach.
    """
    reach = 0
    for level in reversed(nest.items[region.opens :]):
        if not isinstance(level, Level) or (level.layer is Layer.VEC and nest.cpu):
            continue
        if nest.stage.dims[level.dim].kind is DimKind.CC:
            continue
        weight = _stride(nest, level.dim) * nest.levels.index[level.dim].coefficient(level.var)
        if weight <= reach:
            return False
        reach += weight * (level.parts - 1)
    return True


def _stride(nest: Nest, dim: int) -> int:
    """Points of the reduction that one step in `dim` passes over."""
    return prod(d.extent for d in nest.stage.dims[dim + 1 :] if d.kind is not DimKind.CC)
