"""Bytes that move between memory layers, and how often, from the tile tree of a stage.

This models the schedule and not caches: it counts what the code requests from each layer. Partial copies
count as full.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

from mdh.hardware import Space
from mdh.ir.plan import Plan, StagePlan
from mdh.ir.program import DimKind
from mdh.ir.tile import Compute, Copy, Loop, Tiles, Units, nested
from mdh.report.accesses import ArrayAccess, Linear, accesses_of, compulsory_bytes, footprint
from mdh.report.results import result_moves
from mdh.report.transfer import OPERANDS, Passes, Transfer, passes_of


@dataclass(frozen=True)
class Traffic:
    """moves: inner to outer copies and the accesses of the scalar function (`sink` OP). compulsory: see
    `compulsory_bytes`."""

    moves: tuple[Transfer, ...]
    compulsory: int

    def of_layer(self, layer: str) -> int:
        """Bytes that leave or enter `layer` on its inner side."""
        return sum(m.total for m in self.moves if m.crosses(layer))


def traffic_of(plan: Plan, stage: StagePlan) -> Traffic:
    """Of one stage of the plan."""
    tiles = stage.tiles
    passes, moves = passes_of(stage, tiles), list[Transfer]()
    accesses = accesses_of(plan.program, stage.stage)
    for buffer in plan.program.inputs(stage.stage):
        groups: dict[Linear, list[ArrayAccess]] = {}
        for access in accesses:
            if access.buffer == buffer:
                groups.setdefault(access.linear, []).append(access)
        for group in groups.values():
            moves.extend(_input_moves(plan, stage, tiles, group, passes))
    moves.extend(result_moves(plan, stage, tiles, passes))
    return Traffic(tuple(moves), compulsory_bytes(plan.program, stage.stage))


def _input_moves(
    plan: Plan, stage: StagePlan, tiles: Tiles, group: Sequence[ArrayAccess], passes: Passes
) -> list[Transfer]:
    """Of accesses that differ by constants alone: their copies, then what the scalar function reads."""
    buffer, linear = group[0].buffer, group[0].linear
    size = plan.program.buffer_of[buffer].dtype.bytes
    moves, source = [], Space.DM
    for node, around in nested(tiles.body):
        if isinstance(node, Copy) and (node.tile.buffer, node.linear) == (buffer, linear):
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
        return [*moves, Transfer(buffer, source, OPERANDS, 0, (), size * len(group), points)]
    outer, inner = _unrolled(stage, tiles)
    used = {int(name) for f in linear for name in (() if f is None else f.names)}
    # compilers hoist a load out of loops that do not change where it reads
    while outer and None not in linear and isinstance(outer[-1], Loop) and outer[-1].level.dim not in used:
        outer.pop()
    shape = plan.program.buffer_of[buffer].shape
    if all(a.finish for a in group):
        kinds = stage.stage.dims
        outer = [n for n in outer if kinds[n.level.dim].kind is not DimKind.PW]
    box = footprint(tiles.levels, group, shape, frozenset(n.level.var for n in inner))
    count = prod(n.level.parts for n in outer) * passes.points
    return [*moves, Transfer(buffer, source, OPERANDS, 0, box, prod(box) * size, count)]


def _unrolled(stage: StagePlan, tiles: Tiles) -> tuple[list[Units | Loop], list[Units | Loop]]:
    """What stands around the scalar function, outermost first: the innermost loops that are unrolled or the
    lanes of a vector, which are one straight body of code, apart."""
    outer = next(list(around) for node, around in nested(tiles.body) if isinstance(node, Compute))
    inner: list[Units | Loop] = []
    while outer and isinstance(loop := outer[-1], Loop):
        step = stage.steps[loop.level.step]
        if not loop.lanes and step.unroll != 0 and step.text:
            break
        inner.append(outer.pop())
    return outer, inner
