"""Stages that a kernel computes where it stages their results: their statements, in place of a copy's.

Such a stage has a nest of its own, which shares the kernel's names and shared memory. Units and loops of the
reader are numbers in it. The tiles that the reader stages stand for the arrays that the stage writes.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace

from mdh.decompose.accesses import staged_groups
from mdh.decompose.image import covers, image
from mdh.hardware import Space
from mdh.ir.construct import less
from mdh.ir.expr import Const, Expr, Var
from mdh.ir.dtype import I32
from mdh.ir.kernel import Comment, If, Stmt
from mdh.ir.plan import InnerStage
from mdh.ir.walk import rewritten, substitute_in, with_buffers
from mdh.lower.fold import folds_of
from mdh.lower.launch import thread_lets
from mdh.lower.nest import Nest
from mdh.lower.regions import make_regions
from mdh.lower.scope import Instance, Key, Scope

Emit = Callable[[Nest, Mapping[Key, Instance]], list[Stmt]]
"""Makes the body of a nest, given where the arrays that it reads lie."""


def inner_nests(nest: Nest) -> tuple[Nest, ...]:
    """The nests of the plan's inner stages, in their order."""
    return tuple(_nest(nest, x) for x in nest.plan.inner)


def _nest(outer: Nest, inner: InnerStage) -> Nest:
    plan = inner.plan
    nest = replace(
        outer,
        program=plan.program,
        plan=plan,
        folds=folds_of(plan.stage, plan.program.turns),
        tiles=plan.tiles,
        buffers={**outer.buffers, **{b.name: b for b in plan.program.buffers}},
        regions=(),
        inner=(),
        within=outer.stage.name,
    )
    own = {d.name for d in plan.stage.dims} | {let.name for let in plan.stage.lets}
    outer.declarations.names.update(own | {lv.var for lv in plan.tiles.levels.all})
    nest = replace(nest, regions=make_regions(nest))
    return replace(nest, inner=inner_nests(nest))


def computed_at(nest: Nest, step: int) -> list[Nest]:
    """The nests of the stages that are computed at a step."""
    return [n for n, x in zip(nest.inner, nest.plan.inner, strict=True) if x.step == step]


def emit_inner(
    outer: Nest, nest: Nest, tiles: Mapping[str, Instance], live: Mapping[Key, Instance], scope: Scope,
    emit: Emit,
) -> list[Stmt]:  # fmt: skip
    """The statements that fill the tiles. tiles: by the array that they stand for. live: the tiles around
    the step, those of stages that are computed before included."""
    mine = {b: tiles[b].buf for b in nest.stage.written}
    nest = replace(nest, placed={**nest.placed, **mine})
    alone = any(b.space is Space.RM for b in mine.values())
    body = tuple(emit(nest, _served(nest, live, alone=alone)))
    names = {array: buf.name for array, buf in mine.items()}
    body = rewritten(body, lambda s: with_buffers(s, names))
    known = {v: _number(v, scope) for v in nest.program.levels if v in scope.values or v in scope.fixed}
    body = substitute_in(body, known)
    title = Comment(f"stage {nest.stage.name}")
    if nest.cpu or outer.threads == 1 or alone:
        return [title, *body]
    body = (*thread_lets(nest), *body)
    if nest.threads == outer.threads:
        return [title, *body]
    return [title, If(less(Var(nest.tid), nest.threads), body)]


def _number(var: str, scope: Scope) -> Expr:
    return scope.values[var] if var in scope.values else Const(scope.fixed[var], I32)


def _served(nest: Nest, live: Mapping[Key, Instance], *, alone: bool) -> dict[Key, Instance]:
    """The tiles that hold all that the stage reads of an array. alone: each thread computes a box of its own,
    and may read its registers."""
    out: dict[Key, Instance] = {}
    every = frozenset(lv.var for lv in nest.levels.all)
    for (buffer, _), instance in live.items():
        if instance.slot is not None or instance.span or (instance.buf.space is Space.RM and not alone):
            continue
        for group in staged_groups(nest.program, nest.stage, buffer):
            if covers(instance.axes, image(nest.levels, group.affine, group.shifts, every)):
                out[buffer, group.affine] = instance
    return out
