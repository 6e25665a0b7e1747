"""Bytes of results: accumulated in registers, merged outward region by region, carried between outer loops.

If a region lies inside loops over reduction dimensions, each of their iterations merges into what the
previous one left. The merge reads what it writes, except for the first one of a result that starts from the
identity.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from math import prod

from mdh.hardware import BLOCKED, THREADED, Combine, Layer, Space
from mdh.ir.plan import Plan, StagePlan
from mdh.ir.program import DimKind, Output
from mdh.ir.tile import Hold, Loop, Tiles, nested
from mdh.lower.finish import needs_carry
from mdh.lower.fold import Fold, folds_of
from mdh.lower.stages import kernel_name
from mdh.report.transfer import OPERANDS, Passes, Transfer


def result_moves(plan: Plan, stage: StagePlan, tiles: Tiles, passes: Passes) -> Iterator[Transfer]:
    """Of every result of the stage; workspaces under their own names."""
    scans = any(d.kind is DimKind.PS for d in stage.stage.dims)
    for n, fold in enumerate(folds_of(stage.stage)):
        result = _Result(plan, stage, tiles, passes, n, fold)
        if stage.stage.scattered:
            yield from _scattered(result)
        elif scans or fold.op is None:
            yield from _stored(result)
        else:
            yield from _reduction(result)


@dataclass(frozen=True, slots=True)
class _ResultRegion:
    """A region of partial results. turns: how often it opens for one result, by the reduction loops around
    it. step: the number of the step in the text that asks for it; 0 if none does."""

    space: Space
    turns: int
    step: int


@dataclass(frozen=True)
class _Result:
    """Result number `number` of the stage, as the lowering folds it."""

    plan: Plan
    stage: StagePlan
    tiles: Tiles
    passes: Passes
    number: int
    fold: Fold

    @property
    def width(self) -> int:
        """Bytes of one partial result."""
        return sum(t.bytes for t in self.fold.types)

    @property
    def points(self) -> int:
        return prod(d.extent for d in self.stage.stage.dims)

    @property
    def sums(self) -> int:
        """Points whose sum one access to a partial result takes: those along k in an atom."""
        step = None if self.stage.atoms is None else self.stage.steps[self.stage.atoms]
        return 1 if step is None or step.product is None else step.product.atom.k

    @property
    def elements(self) -> int:
        """The number of results."""
        return prod(d.extent for d in self.stage.stage.dims if d.kind is DimKind.CC)

    def size(self, output: Output) -> int:
        return self.stage.program.buffer_of[output.buffer].dtype.bytes

    def updates(self, output: Output) -> bool:
        """Whether the stage also reads the old values."""
        return output.buffer in self.stage.stage.read

    def units(self, *layers: Layer) -> int:
        """The number of units of these layers that compute parts of one result."""
        dims = self.stage.stage.dims
        levels = self.tiles.levels.all
        return prod(lv.parts for lv in levels if lv.layer in layers and dims[lv.dim].kind is not DimKind.CC)

    @property
    def regions(self) -> tuple[_ResultRegion, ...]:
        """From inside out."""
        found = []
        for node, around in nested(self.tiles.body):
            if isinstance(node, Hold) and node.result == self.number:
                levels = (n.level for n in around if isinstance(n, Loop))
                kinds = self.stage.stage.dims
                turns = prod(lv.parts for lv in levels if kinds[lv.dim].kind is not DimKind.CC)
                step = 0 if node.step is None else self.stage.steps[node.step].number
                found.append(_ResultRegion(node.tile.space, turns, step))
        return tuple(reversed(found))


def _scattered(r: _Result) -> Iterator[Transfer]:
    """Moves of a histogram: an update at every point in the memory that holds it, and one copy outward for
    each holder."""
    for o in r.fold.outputs:
        where = r.regions[0].space if r.regions else Space.DM
        yield Transfer(o.buffer, OPERANDS, where, 0, (), 2 * r.size(o), r.points)
        if where is not Space.DM:
            shape = r.stage.program.buffer_of[o.buffer].shape
            sharing = (*(THREADED if where is Space.SM else ()), Layer.VEC, None)
            holders = prod(lv.parts for lv in r.tiles.levels.all if lv.layer not in sharing)
            yield Transfer(o.buffer, where, Space.DM, 0, shape, 2 * prod(shape) * r.size(o), holders)


def _stored(r: _Result) -> Iterator[Transfer]:
    """Moves of values that every point stores, through the open regions: those of a map, or of a scan, whose
    running values pass through registers."""
    for o in r.fold.outputs:
        source: str = OPERANDS
        if r.fold.op is not None:
            yield Transfer(o.buffer, Space.RM, OPERANDS, 0, (), 2 * r.width, r.points * r.passes.points)
            source = Space.RM
        for region in r.regions:
            if region.step and region.space != source:
                yield Transfer(o.buffer, source, region.space, region.step, (), r.size(o), r.points)
                source = region.space
        yield Transfer(o.buffer, source, Space.DM, 0, (), r.size(o), r.points)
        if r.updates(o):
            count = r.points * r.passes.points
            yield Transfer(o.buffer, Space.DM, Space.RM, 0, (), r.size(o), count)


def _reduction(r: _Result) -> Iterator[Transfer]:
    name, regions = r.fold.outputs[0].buffer, r.regions
    parts = r.elements * r.units(*BLOCKED)
    yield Transfer(name, Space.RM, OPERANDS, 0, (), 2 * r.width, r.points // r.sums)
    for inner, outer in pairwise(regions):
        yield Transfer(name, inner.space, outer.space, outer.step, (), 2 * r.width, parts * inner.turns)
    source, turns = regions[-1].space, regions[-1].turns
    layers: tuple[Layer, ...] = BLOCKED
    if Combine.CLUSTER in r.stage.combines[r.number]:
        yield Transfer(name, source, Space.SM, 0, (), 2 * r.width, parts * turns)
        source, turns, layers = Space.SM, 1, (Layer.CLU,)
    yield from _to_memory(r, source, turns, r.units(*layers))


def _to_memory(r: _Result, source: str, turns: int, blocks: int) -> Iterator[Transfer]:
    """Moves from the outermost region: partial results of blocks, an unfinished state, or the results
    themselves."""
    first = r.fold.outputs[0]
    stem, suffix = kernel_name(r.plan.computed, r.stage.stage), str(r.number or "")
    if blocks > 1 and Combine.ATOMIC in r.stage.combines[r.number]:
        each = r.elements * blocks * turns
        if not r.updates(first):
            yield Transfer(first.buffer, OPERANDS, Space.DM, 0, (), r.size(first), r.elements)
        yield Transfer(first.buffer, source, Space.DM, 0, (), r.size(first), each)
        yield Transfer(first.buffer, Space.DM, source, 0, (), r.size(first), each)
    elif blocks > 1:
        yield from _by_workspace(r, f"{stem}_part{suffix}", source, r.elements * blocks, turns)
    elif turns > 1 and needs_carry(r.fold, r.stage.program.buffer_of):
        yield from _by_workspace(r, f"{stem}_state{suffix}", source, r.elements, turns)
    else:
        yield from _finished(r, source, turns)


def _by_workspace(r: _Result, held: str, source: str, elements: int, turns: int) -> Iterator[Transfer]:
    """Moves through a workspace: the first iteration stores, the others also read; then it is read."""
    yield Transfer(held, source, Space.DM, 0, (), r.width, elements * turns)
    if turns > 1:
        yield Transfer(held, Space.DM, source, 0, (), r.width, elements * (turns - 1))
    yield Transfer(held, Space.DM, OPERANDS, 0, (), r.width, elements)
    yield from _finished(r, OPERANDS, 1)


def _finished(r: _Result, source: str, turns: int) -> Iterator[Transfer]:
    """Moves of the outputs: written in each iteration, and read in each but the first if the result starts
    from the identity."""
    for o in r.fold.outputs:
        reads = turns if r.updates(o) else turns - 1
        yield Transfer(o.buffer, source, Space.DM, 0, (), r.size(o), r.elements * turns)
        if reads:
            yield Transfer(o.buffer, Space.DM, source, 0, (), r.size(o), r.elements * reads)
