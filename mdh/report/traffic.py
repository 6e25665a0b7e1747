"""Bytes that move between the memory layers, and operations for each of them.

A model of the schedule, not of caches: what the code asks of each layer. Partial copies count as full.
"""

from dataclasses import dataclass, replace
from math import prod

from mdh.hardware import Layer, Space
from mdh.ir.layout import Level, Levels
from mdh.ir.plan import Plan, StagePlan, Staging
from mdh.ir.program import DimKind, Program
from mdh.report.accesses import Access, accesses_of, box
from mdh.report.moves import OPERANDS, Move
from mdh.report.results import result_moves
from mdh.report.scans import Passes, passes_of, prefix_moves

SHARED_BY: dict[str, frozenset[Layer]] = {
    Space.SM: frozenset({Layer.WGP, Layer.WRP, Layer.THR, Layer.VEC}),
    Space.RM: frozenset({Layer.VEC}),
}
"""Units that see one instance of a region."""


@dataclass(frozen=True)
class Traffic:
    """moves: inner to outer copies and the accesses of the scalar function (`sink` OP). compulsory: see
    `compulsory_bytes`."""

    moves: tuple[Move, ...]
    compulsory: int

    def of_layer(self, layer: str) -> int:
        """Bytes that leave or enter `layer` on its inner side."""
        return sum(m.total for m in self.moves if m.crosses(layer))


def traffic_of(whole: Plan, plan: StagePlan) -> Traffic:
    """Of one stage of the plan."""
    program, levels = whole.program, plan.tiles.levels
    passes = passes_of(whole, plan)
    moves: list[Move] = []
    for buffer in program.buffer_order:
        if buffer in plan.stage.read and buffer not in plan.stage.written:
            moves.extend(_input_moves(program, plan, levels, buffer, passes))
    scans = any(d.kind is DimKind.PS for d in plan.stage.dims)
    for buffer in program.outputs(plan.stage) if scans or plan.stage.scattered else ():
        if plan.stage.scattered:
            moves.extend(_scattered_moves(program, plan, levels, buffer))
        else:
            moves.extend(prefix_moves(whole, plan, buffer, passes))
    if not scans and not plan.stage.scattered:
        moves.extend(result_moves(whole, plan))
    return Traffic(tuple(moves), compulsory_bytes(program, plan))


def footprint(
    program: Program, plan: StagePlan, levels: Levels, position: int, staging: Staging
) -> tuple[int, ...]:
    """Extents of a staged copy at `position` of the code order."""
    inside = frozenset(lv.var for lv in instance_levels(plan, levels, position, staging.region))
    return box(program, plan.stage, levels, staging.buffer, inside)


def instance_levels(plan: StagePlan, levels: Levels, position: int, region: str) -> list[Level]:
    """Levels that an instance spans: sequential loops inside the copy point, and the units that share it."""
    later = set(plan.code_order[position + 1 :])
    shared = SHARED_BY[region]
    return [lv for lv in levels.all if (lv.layer in shared) or (lv.layer is None and lv.step in later)]


def _input_moves(
    program: Program, plan: StagePlan, levels: Levels, buffer: str, passes: Passes
) -> list[Move]:
    moves = []
    size = program.buffer_of[buffer].dtype.bytes
    source = Space.DM
    for position, s in enumerate(plan.code_order):
        for staging in plan.steps[s].stagings:
            if staging.buffer != buffer:
                continue
            extents = footprint(program, plan, levels, position, staging)
            inside = {lv.var for lv in instance_levels(plan, levels, position, staging.region)}
            count = prod(lv.parts for lv in levels.all if lv.var not in inside) * passes.copies(position)
            number = plan.steps[s].number
            moves.append(Move(buffer, source, staging.region, number, extents, prod(extents) * size, count))
            source = staging.region
    reads = _reads(program, plan, levels, buffer, source)
    return [*moves, replace(reads, count=reads.count * passes.points)]


def _reads(program: Program, plan: StagePlan, levels: Levels, buffer: str, source: str) -> Move:
    """What the scalar function asks of `source`: registers at every point, memory once an unrolled body.

    Loops inside the body whose variables the access does not use are left out too: compilers hoist the load.
    """
    size = program.buffer_of[buffer].dtype.bytes
    mine = [a for a in accesses_of(plan.stage) if a.buffer == buffer and not a.store]
    if source == Space.RM:
        return Move(buffer, source, OPERANDS, 0, (), size * len(mine), _points(plan))
    body = _unrolled(plan, levels)
    extents = box(program, plan.stage, levels, buffer, frozenset(lv.var for lv in body))
    rest = [lv for s in plan.code_order for lv in levels.all if lv.step == s and lv not in body]
    used = {d for a in mine for d in _dims_of(plan, a)}
    while rest and rest[-1].layer is None and rest[-1].dim not in used:
        rest.pop()
    count = prod(lv.parts for lv in rest)
    return Move(buffer, source, OPERANDS, 0, extents, prod(extents) * size, count)


def _unrolled(plan: StagePlan, levels: Levels) -> list[Level]:
    """The innermost loops that are unrolled or vector lanes: one straight body of code."""
    out = [lv for lv in levels.all if lv.layer == Layer.VEC]
    for s in reversed(plan.code_order):
        step = plan.steps[s]
        mine = [lv for lv in levels.all if lv.step == s and lv.layer is None]
        if mine and step.unroll != 0 and step.text:
            break
        out.extend(mine)
    return out


def _dims_of(plan: StagePlan, access: Access) -> set[int]:
    """Dimensions that an access depends on; all of them where it is indexed by data."""
    number = {d.name: i for i, d in enumerate(plan.stage.dims)}
    if any(f is None for f in access.index):
        return set(number.values())
    return {number[n] for f in access.index if f is not None for n in f.names if n in number}


def _scattered_moves(program: Program, plan: StagePlan, levels: Levels, buffer: str) -> list[Move]:
    """A histogram: updates at every point of where it is held, each holder's copy outward once."""
    size = program.buffer_of[buffer].dtype.bytes
    held = [h.region for step in plan.steps for h in step.holdings if h.buffer == buffer and h.region]
    where = held[0] if held and held[0] is not None else Space.DM
    moves = [Move(buffer, OPERANDS, where, 0, (), 2 * size, _points(plan))]
    if where != Space.DM:
        shape = program.buffer_of[buffer].shape
        sharing = SHARED_BY[where]
        holders = prod(lv.parts for lv in levels.all if lv.layer is not None and lv.layer not in sharing)
        moves.append(Move(buffer, where, Space.DM, 0, shape, 2 * prod(shape) * size, holders))
    return moves


def compulsory_bytes(program: Program, plan: StagePlan) -> int:
    """Of the distinct elements that the stage reads and writes: the least that DM can carry."""
    levels = plan.tiles.levels
    everything = frozenset(lv.var for lv in levels.all)
    total = 0
    for name in program.buffer_order:
        size = program.buffer_of[name].dtype.bytes
        for store in (False, True):
            if name in (plan.stage.written if store else plan.stage.read):
                extents = box(program, plan.stage, levels, name, everything, store=store)
                total += prod(extents) * size
    return total


def _points(plan: StagePlan) -> int:
    return prod(d.extent for d in plan.stage.dims)
