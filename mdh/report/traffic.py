"""Bytes that move between memory layers, and how often, from the tile tree of a stage.

This models the schedule and not caches: it counts what the code requests from each layer. Partial copies
count as full.
"""

from dataclasses import replace
from math import prod

from mdh.decompose.accesses import AccessGroup, access_groups
from mdh.hardware import Space
from mdh.ir.plan import InnerStage, Plan, StagePlan
from mdh.ir.program import DimKind
from mdh.ir.tile import Copy, Loop, Tiles, Units, nested
from mdh.report.results import result_moves
from mdh.report.transfer import OPERANDS, Passes, Transfer, passes_of


def traffic_of(plan: Plan, stage: StagePlan) -> tuple[Transfer, ...]:
    """The moves of one stage of the plan: inner to outer copies and the accesses of the scalar function
    (`sink` OP). Then those of the stages that its kernel computes for itself."""
    tiles = stage.tiles
    passes, moves = passes_of(stage, tiles), list[Transfer]()
    groups = access_groups(stage.program, stage.stage)
    for buffer in stage.program.inputs(stage.stage):
        for group in (g for g in groups if g.buffer == buffer):
            moves.extend(_input_moves(stage, tiles, group, passes))
    inner = (m for x in stage.inner for m in _inside(plan, stage, x))
    return (*moves, *result_moves(plan, stage, tiles, passes), *inner)


def _inside(plan: Plan, outer: StagePlan, inner: InnerStage) -> list[Transfer]:
    """The moves of a stage in each turn of what is around its step. Its results stay in tiles."""
    tiles = outer.tiles
    at = next(c for c in tiles.copies if c.step == inner.step and c.tile.buffer in inner.stage.written)
    around = next(up for node, up in nested(tiles.body) if node is at)
    shared = tiles.threads if at.tile.space is Space.SM else ()
    turns = prod(n.level.parts for n in around if n.level not in shared)
    near = inner.plan.near
    return [
        replace(
            m,
            source=near.get(m.buffer, m.source) if m.source == Space.DM else m.source,
            sink=near.get(m.buffer, m.sink) if m.sink == Space.DM else m.sink,
            count=m.count * turns,
            step=0,
        )
        for m in traffic_of(plan, inner.plan)
    ]


def _input_moves(stage: StagePlan, tiles: Tiles, group: AccessGroup, passes: Passes) -> list[Transfer]:
    """The copies of an input, then what the scalar function reads."""
    buffer, size, moves, source = group.buffer, group.size, list[Transfer](), Space.DM
    for node, around in nested(tiles.body):
        if isinstance(node, Copy) and node.serves(buffer, group.linear):
            if _filled(stage, node):
                source = node.tile.space
                continue
            shared = tiles.threads if node.tile.space is Space.SM else ()
            count = prod(n.level.parts for n in around if n.level not in shared)
            count *= passes.copies(stage.code_order.index(node.step))
            shape, number = node.tile.shape, stage.steps[node.step].number
            moves.append(
                Transfer(buffer, node.source, node.tile.space, number, shape, prod(shape) * size, count)
            )
            source = node.tile.space
    if source is Space.RM:
        points = prod(d.extent for d in stage.stage.dims) * passes.points
        return [*moves, Transfer(buffer, source, OPERANDS, 0, (), size * len(group.members), points)]
    if stage.atoms is not None and not all(a.finish for a in group.members):
        return [*moves, _atom_reads(stage, stage.atoms, tiles, group)]
    outer, inner = _unrolled(stage, tiles)
    used = range(len(stage.stage.dims)) if group.gather else group.dims
    # compilers hoist a load out of loops that do not change where it reads
    while outer and isinstance(outer[-1], Loop) and outer[-1].level.dim not in used:
        outer.pop()
    if all(a.finish for a in group.members):
        kinds = stage.stage.dims
        outer = [n for n in outer if kinds[n.level.dim].kind is not DimKind.PW]
    box = group.box(tiles.levels, frozenset(n.level.var for n in inner))
    count = prod(n.level.parts for n in outer) * passes.points
    return [*moves, Transfer(buffer, source, OPERANDS, 0, box, prod(box) * size, count)]


def _filled(stage: StagePlan, copy: Copy) -> bool:
    """Whether a stage inside of the kernel computes what the tile holds."""
    return any(x.step == copy.step and copy.tile.buffer in x.stage.written for x in stage.inner)


def _atom_reads(stage: StagePlan, s: int, tiles: Tiles, group: AccessGroup) -> Transfer:
    """What atoms read of a factor. s: their step. A warp loads a fragment once for all atoms that share it; a
    warp group reads its factors for each atom anew."""
    product = stage.steps[s].product
    assert product is not None
    outer = [n.level for n in tiles.around if n.level.step <= s]
    if not product.atom.grouped:
        others = product.n if group.buffer == product.left.buffer else product.m
        outer = [lv for lv in outer if lv.step != s or lv.dim not in {x.dim for x in others}]
    inner = frozenset(n.level.var for n in tiles.around if n.level.step > s)
    box = group.box(tiles.levels, inner)
    count, number = prod(lv.parts for lv in outer), stage.steps[s].number
    return Transfer(group.buffer, Space.SM, OPERANDS, number, box, prod(box) * group.size, count)


def _unrolled(stage: StagePlan, tiles: Tiles) -> tuple[list[Units | Loop], list[Units | Loop]]:
    """What stands around the scalar function, outermost first: the innermost loops that are unrolled or the
    lanes of a vector, which are one straight body of code, apart."""
    outer, inner = list(tiles.around), list[Units | Loop]()
    while outer and isinstance(loop := outer[-1], Loop):
        step = stage.steps[loop.level.step]
        if not loop.lanes and step.unroll != 0 and step.text:
            break
        inner.append(outer.pop())
    return outer, inner
