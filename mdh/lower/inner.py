"""Stages that a kernel computes where it stages their results: their statements, in place of a copy's.

Such a stage has a nest of its own, which shares the kernel's names and shared memory. Units and loops of the
reader are numbers in it. The tiles that the reader stages stand for the arrays that the stage writes.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace

from mdh.checker.footprint import meets
from mdh.decompose.accesses import staged_groups
from mdh.decompose.image import covers, image
from mdh.hardware import Space
from mdh.ir.construct import less, mod
from mdh.ir.dtype import I32
from mdh.ir.expr import Const, Expr, Var
from mdh.ir.kernel import Alloc, Comment, For, If, Let, Stmt
from mdh.ir.plan import InnerStage
from mdh.ir.walk import (
    bodies,
    reads,
    rewritten,
    statements,
    substitute_in,
    with_bodies,
    with_buffers,
    writes,
)
from mdh.lower.fold import folds_of
from mdh.lower.launch import thread_lets
from mdh.lower.nest import Nest
from mdh.lower.passes.barriers import divergent_names, uniform
from mdh.lower.regions import make_regions
from mdh.lower.scope import Instance, Key, Scope
from mdh.lower.staged_copy import StagedCopy

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
    nest: Nest, step: int, copies: Iterable[StagedCopy], live: dict[Key, Instance], scope: Scope, emit: Emit
) -> list[Stmt]:
    """The stages that are computed at a step, in the place of some of its copies. live: the tiles around it,
    and those of its other copies; receives the tiles of the stages."""
    out: list[Stmt] = []
    tiles = {c.staging.buffer: c for c in copies}
    for inner in computed_at(nest, step):
        mine = {b: tiles[b].dst if b in tiles else nest.states[b] for b in inner.stage.written}
        out.extend(_filled(nest, inner, mine, live, scope, emit))
        live.update((tiles[b].key, tiles[b].dst) for b in inner.stage.written if b in tiles)
    return out


def _filled(
    outer: Nest, nest: Nest, tiles: Mapping[str, Instance], live: Mapping[Key, Instance], scope: Scope,
    emit: Emit,
) -> list[Stmt]:  # fmt: skip
    """The statements that fill the tiles. tiles: by the array that they stand for."""
    mine = {b: tiles[b].buf for b in nest.stage.written}
    tiled = ((buffer, instance) for (buffer, _), instance in live.items())
    around = (*nest.states.items(), *outer.around, *tiled)
    nest = replace(nest, placed={**nest.placed, **mine}, around=around)
    alone = nest.threads == 1 and any(b.space is Space.RM for b in mine.values())
    some = not (nest.cpu or alone) and nest.threads < outer.threads
    together = some and meets(nest.plan)
    if together:
        nest = replace(nest, tid=outer.fresh(f"tid_{nest.stage.name}"))
    body = tuple(emit(nest, _served(nest)))
    names = {array: buf.name for array, buf in mine.items()}
    body = rewritten(body, lambda s: with_buffers(s, names))
    known = {v: _number(v, scope) for v in nest.program.levels if v in scope.values or v in scope.fixed}
    body = substitute_in(body, known)
    title = Comment(f"stage {nest.stage.name}")
    if nest.cpu or alone:
        return [title, *body]
    body = (*thread_lets(nest), *body)
    among = less(Var(outer.tid), nest.threads)
    if together:
        # the others compute the same as some of these, for all must meet at barriers
        copied = Let(nest.tid, mod(Var(outer.tid), nest.threads), below=nest.threads)
        threads = frozenset({outer.tid, nest.tid, *(lv.var for lv in nest.thread_levels())})
        facts = frozenset(outer.declarations.shared), divergent_names(body, threads)
        return [title, copied, *_stored_by(among, body, *facts)]
    return [title, If(among, body)] if some else [title, *body]


def _stored_by(
    among: Expr, body: tuple[Stmt, ...], shared: frozenset[str], divergent: frozenset[str]
) -> list[Stmt]:
    """The body in which threads store to shared memory only where `among` holds. What only some of them run
    needs no barrier inside: it is one access to those who place barriers."""
    out: list[Stmt] = []
    for s in body:
        every = list(statements((s,)))
        written = [b for x in every for b in sorted(writes(x) & shared)]
        read = {b for x in every for b in reads(x)}
        apart = len(set(written)) == len(written) and not read & set(written)
        if not written or isinstance(s, Let | Alloc):
            out.append(s)
        elif not bodies(s) or apart or not _entered(s, divergent):
            out.append(If(among, (s,)))
        else:
            out.append(with_bodies(s, lambda b: tuple(_stored_by(among, b, shared, divergent))))
    return out


def _entered(s: Stmt, divergent: frozenset[str]) -> bool:
    """Whether all threads take the same way through a loop or a branch."""
    match s:
        case For():
            return all(uniform(e, divergent) for e in (s.start, s.stop, s.step))
        case If():
            return uniform(s.cond, divergent)
        case _:
            return False


def _number(var: str, scope: Scope) -> Expr:
    return scope.values[var] if var in scope.values else Const(scope.fixed[var], I32)


def _served(nest: Nest) -> dict[Key, Instance]:
    """The tiles around it that hold all that it reads of an array. In registers each thread has all of it."""
    out: dict[Key, Instance] = {}
    every = frozenset(lv.var for lv in nest.levels.all)
    for buffer, instance in nest.around:
        if instance.slot is not None or instance.span or buffer in nest.stage.written:
            continue
        for group in staged_groups(nest.program, nest.stage, buffer):
            if covers(instance.axes, image(nest.levels, group.affine, group.shifts, every)):
                out[buffer, group.affine] = instance
    return out
