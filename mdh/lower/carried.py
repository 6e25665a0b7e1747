"""Reductions in one pass (`ir/online.py`): their partial results lie in tiles that outlive the turns of its
loops, and those of the host change with them."""

from collections.abc import Iterator
from dataclasses import replace

from mdh.decompose.accesses import staged_groups
from mdh.decompose.regions import run_start
from mdh.hardware import Space
from mdh.ir.carried import Carried
from mdh.ir.construct import load_each, loop, store_each, when
from mdh.ir.expr import Binary, Expr
from mdh.ir.kernel import Alloc, Buf, ForKind, Stmt
from mdh.ir.plan import StagePlan
from mdh.ir.program import DimKind
from mdh.ir.tile import Copy
from mdh.lower.close import close_over, fill
from mdh.lower.finish import cast
from mdh.lower.nest import Nest
from mdh.lower.scope import Instance, Region, Scope, key_of


def carried_tiles(nest: Nest) -> dict[str, Instance]:
    """The tiles of the pass whose host the nest is, by array; none if it is no host."""
    host = nest.stage.host
    if host is None:
        return {}
    out: dict[str, Instance] = {}
    stages = dict(host.carried)
    for name, node in _placed(nest.plan):
        if name in stages:
            for array in stages[name].arrays:
                out[array] = Instance(_buf(nest, array, node), node.tile.axes)
    return out


def _placed(plan: StagePlan) -> Iterator[tuple[str, Copy]]:
    """The stages that a kernel computes for itself, with a tile of each."""
    for x in plan.inner:
        for node in plan.tiles.copies:
            if node.step == x.step and node.tile.buffer in x.stage.written:
                yield x.stage.name, node
        yield from _placed(x.plan)


def _buf(nest: Nest, array: str, node: Copy) -> Buf:
    tile, dtype = node.tile, nest.buffers[array].dtype
    buf = Buf(nest.fresh(f"{array}_{tile.space}"), tile.space, dtype, tile.shape, tile.strides, align=16)
    return nest.declare(buf) if tile.space is Space.SM else buf


def pass_step(nest: Nest) -> int | None:
    """The index of the step in whose body the parts of the pass are computed; None if there is none."""
    if nest.stage.host is None:
        return None
    names = {name for name, _ in nest.stage.host.carried}
    return next(
        x.step for x in nest.plan.inner if x.stage.name in names or names & {n for n, _ in _placed(x.plan)}
    )


def pass_start(nest: Nest) -> int | None:
    """The item before which a pass begins."""
    step = pass_step(nest)
    return None if step is None else run_start(nest.items, nest.stage, nest.items.index(step))


def begin_pass(nest: Nest, scope: Scope) -> tuple[list[Stmt], Scope]:
    """The tiles at what the partial results begin at, if a pass begins here, and the scope in which they can
    be read."""
    host = nest.stage.host
    if host is None or pass_start(nest) != scope.position:
        return [], scope
    out: list[Stmt] = []
    for _, one in host.carried:
        out.extend(_begun(nest, one))
    live = dict(scope.live)
    for array, instance in nest.states.items():
        for group in staged_groups(nest.program, nest.stage, array):
            live[key_of(array, group.affine)] = instance
    return out, replace(scope, live=live)


def _begun(nest: Nest, one: Carried) -> list[Stmt]:
    out: list[Stmt] = []
    for array, start in one.starts:
        buf = nest.states[array].buf
        if buf.space is Space.RM:
            out.append(Alloc(buf, start))
        elif start is not None:
            out.extend(fill(nest, (buf,), (start,)))
    return out


def rescaled(nest: Nest, step: int, scope: Scope) -> list[Stmt]:
    """In the body of the step: the host's partial results as if all that was summed had been computed with
    the results that the other stages have now."""
    host = nest.stage.host
    if host is None or step != pass_step(nest):
        return []
    out: list[Stmt] = []
    for f, scale in enumerate(host.scales):
        if scale is not None:
            held = [r for r in nest.regions_of(f) if r.opens <= scope.position]
            out.extend(_scaled(nest, held[-1], scale, scope))
    return out


def _scaled(nest: Nest, region: Region, scale: Expr, scope: Scope) -> list[Stmt]:
    def each(known: Scope) -> list[Stmt]:
        index = region.index(known.values)
        (held,) = load_each(region.bufs, index)
        factor = cast(nest.translate(scale, known), held.dtype)
        scaled = store_each(region.bufs, index, (Binary("*", held, factor, held.dtype),))
        return when(nest.exists(known, DimKind.CC, DimKind.PS), scaled)

    out = close_over(nest, region, scope, each)
    for lane in reversed(region.lanes):
        out = [loop(lane, nest.levels.of_var(lane).parts, out, ForKind.VEC)]
    return out
