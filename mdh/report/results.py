"""Bytes of results: accumulated in registers, merged outward region by region, carried between outer loops.

Where a region lies inside loops over reduction dims, each of their turns merges into what the turn before
left: the merge reads what it writes, save for the first turn of a result that starts from nothing.
"""

from math import prod

from mdh.hardware import Combine, Space
from mdh.ir.plan import Plan, StagePlan
from mdh.ir.program import DimKind
from mdh.lower.finish import block_reduction_levels, grid_reduction_levels, needs_carry, reduction_loops
from mdh.lower.fold import folds_of
from mdh.lower.names import names_of
from mdh.lower.nest import Nest, Region
from mdh.lower.stages import Context, kernel_name
from mdh.report.moves import OPERANDS, Move


def result_moves(plan: Plan, stage: StagePlan) -> list[Move]:
    """Of every map and reduction of the stage, result by result; workspaces under their own names."""
    context = Context(plan.program, plan.machine, plan.target, names_of(plan))
    nest = context.nest(kernel_name(plan.program, stage.stage), stage, folds_of(stage.stage))
    out: list[Move] = []
    for f, fold in enumerate(nest.folds):
        out.extend(_map(nest, f) if fold.op is None else _reduction(nest, f))
    return out


def _map(nest: Nest, f: int) -> list[Move]:
    """Finished values, by way of the regions that are open."""
    every = prod(d.extent for d in nest.stage.dims)
    regions = [r for r in nest.regions if r.fold == f]
    places = [str(r.space) for r in regions]
    out: list[Move] = []
    for o in nest.folds[f].outputs:
        size = nest.buffers[o.buffer].dtype.bytes
        inner = [OPERANDS, *reversed(places)]
        for source, sink, region in zip(inner, inner[1:], reversed(regions), strict=False):
            out.append(Move(o.buffer, source, sink, region.step, (), size, every))
        out.append(Move(o.buffer, inner[-1], Space.DM, 0, (), size, every))
        if o.buffer in nest.stage.read:
            out.append(Move(o.buffer, Space.DM, Space.RM, 0, (), size, every))
    return out


def _reduction(nest: Nest, f: int) -> list[Move]:
    fold = nest.folds[f]
    name = fold.outputs[0].buffer
    width = sum(t.bytes for t in fold.types)
    parts = _results(nest) * prod(lv.parts for lv in block_reduction_levels(nest))
    regions = [r for r in nest.regions if r.fold == f]
    points = prod(d.extent for d in nest.stage.dims)
    out = [Move(name, Space.RM, OPERANDS, 0, (), 2 * width, points)]
    for outer, inner in zip(reversed(regions[:-1]), reversed(regions), strict=False):
        merges = parts * _turns(nest, inner)
        out.append(Move(name, inner.space, outer.space, outer.step, (), 2 * width, merges))
    source, turns = str(regions[0].space), _turns(nest, regions[0])
    if f in nest.clustered:
        out.append(Move(name, source, Space.SM, 0, (), 2 * width, parts * turns))
        source, turns = Space.SM, 1
    return [*out, *_to_memory(nest, f, source, turns)]


def _to_memory(nest: Nest, f: int, source: str, turns: int) -> list[Move]:
    """From the outermost region: partial results of blocks, an unfinished state, or the results at once."""
    width = sum(t.bytes for t in nest.folds[f].types)
    results = _results(nest)
    blocks = prod(lv.parts for lv in grid_reduction_levels(nest, f))
    name = nest.folds[f].outputs[0].buffer
    if blocks > 1 and Combine.ATOMIC in nest.plan.combines[f]:
        each = results * blocks * turns
        size = nest.buffers[name].dtype.bytes
        start = [] if name in nest.stage.read else [Move(name, OPERANDS, Space.DM, 0, (), size, results)]
        return [
            *start,
            Move(name, source, Space.DM, 0, (), size, each),
            Move(name, Space.DM, source, 0, (), size, each),
        ]
    if blocks > 1:
        held = f"{nest.name}_part{f or ''}"
        again = _again(held, source, width, results * blocks, turns)
        return [
            *again,
            Move(held, Space.DM, OPERANDS, 0, (), width, results * blocks),
            *_finished(nest, f, OPERANDS, 1),
        ]
    if turns > 1 and needs_carry(nest, f):
        held = f"{nest.name}_state{f or ''}"
        again = _again(held, source, width, results, turns)
        return [
            *again,
            Move(held, Space.DM, OPERANDS, 0, (), width, results),
            *_finished(nest, f, OPERANDS, 1),
        ]
    return _finished(nest, f, source, turns)


def _again(held: str, source: str, width: int, elements: int, turns: int) -> list[Move]:
    """A workspace that each turn merges into: the first stores, the others also read."""
    out = [Move(held, source, Space.DM, 0, (), width, elements * turns)]
    return out if turns == 1 else [*out, Move(held, Space.DM, source, 0, (), width, elements * (turns - 1))]


def _finished(nest: Nest, f: int, source: str, turns: int) -> list[Move]:
    """The outputs themselves: written in each turn, read in each but a first that starts from nothing."""
    out: list[Move] = []
    results = _results(nest)
    for o in nest.folds[f].outputs:
        size = nest.buffers[o.buffer].dtype.bytes
        reads = turns if o.buffer in nest.stage.read else turns - 1
        out.append(Move(o.buffer, source, Space.DM, 0, (), size, results * turns))
        if reads:
            out.append(Move(o.buffer, Space.DM, source, 0, (), size, results * reads))
    return out


def _results(nest: Nest) -> int:
    return prod(d.extent for d in nest.stage.dims if d.kind is DimKind.CC)


def _turns(nest: Nest, region: Region) -> int:
    """How often the region opens for one result: turns of the reduction loops around it."""
    return prod(lv.parts for lv in reduction_loops(nest, region.opens))
