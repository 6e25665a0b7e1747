"""Prefix sums on CPUs, a few points at a time: where the schedule unrolls the scanned dim's innermost loop.

The points of a chunk are scanned from the identity, which chunks do side by side; the running value joins
each prefix as it is stored. So the chain from chunk to chunk is one operation long, not one a point.
"""

from collections.abc import Callable
from dataclasses import replace

from mdh.hardware import Layer, Space
from mdh.ir.expr import Expr, Load, Var
from mdh.ir.kernel import Alloc, Buf, Let, Stmt, Store
from mdh.ir.layout import Level
from mdh.ir.plan import PlanStep, Split, StagePlan
from mdh.ir.program import DimKind
from mdh.lower.emit import at_point, emit
from mdh.lower.finish import cast
from mdh.lower.fold import combine, identity
from mdh.lower.nest import Nest, Region, Scope

LANES = (2, 4, 8, 16)
Stored = Callable[[Nest, int, Expr, Scope], list[Stmt]]


def chunk_start(nest: Nest) -> int | None:
    """The item of the loop that runs over a chunk, None where points are taken in one by one."""
    loops = [k for k, it in enumerate(nest.items) if isinstance(it, Level)]
    if not nest.cpu or not loops or any(fold.ordered for fold in nest.folds):
        return None
    last = nest.items[loops[-1]]
    assert isinstance(last, Level)
    scanned = nest.stage.dims[last.dim].kind is DimKind.PS
    return loops[-1] if scanned and nest.plan.steps[last.step].unroll == 0 else None


def run_chunk(nest: Nest, f: int, region: Region, scope: Scope, stored: Stored) -> list[Stmt]:
    """The chunk's loop; `stored` puts a prefix where the outputs say. The running value is in `region`."""
    fold = nest.folds[f]
    t = fold.types[0]
    mine = Buf(nest.fresh("mine"), Space.RM, t, (), ())
    carry = nest.fresh("carry")
    index = region.index(scope.values)

    def at(n: Nest, s: Scope) -> list[Stmt]:
        point, part, prefix = (n.fresh(stem) for stem in ("point", "part", "prefix"))
        before: Expr = Load(mine.name, (), t)
        shown = before if fold.exclusive else Var(part, t)
        body = [
            Let(point, cast(n.translate(fold.values[0], s), t), t),
            Let(part, combine(fold, (before,), (Var(point, t),))[0], t),
            Let(prefix, combine(fold, (Var(carry, t),), (shown,))[0], t),
            Store(mine.name, (), Var(part, t)),
            *stored(n, f, Var(prefix, t), s),
        ]
        return at_point(n, s, body)

    running = replace(nest, leaf=at, leaf_at=len(nest.items), opened=scope.position)
    total = combine(fold, (Var(carry, t),), (Load(mine.name, (), t),))[0]
    return [
        Let(carry, Load(region.bufs[0].name, index, t), t),
        Alloc(mine, identity(fold)[0]),
        *emit(running, scope),
        Store(region.bufs[0].name, index, total),
    ]


def in_lanes(plan: StagePlan) -> StagePlan:
    """For the sums of whole parts: the chunk's points become lanes, whose sums are added up at the end."""
    *outer, last = plan.steps
    splits = tuple(_lane(plan, last, s) for s in last.splits)
    return replace(plan, steps=(*outer, replace(last, splits=splits)))


def _lane(plan: StagePlan, step: PlanStep, s: Split) -> Split:
    scanned = plan.stage.dims[s.dim].kind is DimKind.PS
    parts = -(-s.parent // s.tile)
    fits = scanned and step.unroll == 0 and s.layer is None and s.tile == 1 and parts in LANES
    return replace(s, layer=Layer.VEC) if fits else s
