"""Plans for the small stages that the lowering itself makes: combining partial results, starting values.

They are MDHs like any other (dims cc, and `part` reduced), so they are planned and lowered like any other.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from mdh.hardware import Combine, Layer
from mdh.ir.plan import Grid, PlanStep, Split, StagePlan, with_open_splits
from mdh.ir.program import DimKind, Program, Stage
from mdh.machine import Machine

THREADS = 256
ENOUGH_OUTPUTS = 4096
"""With so many results, one thread each fills a GPU; with fewer, threads share a result."""


@dataclass(slots=True)
class Blocking:
    """How one dim is cut: tiles of a block on an axis of the grid, tiles of a thread on an axis of the block.
    An axis is None where a loop goes over the parts."""

    extent: int
    block_tile: int
    block_axis: int | None = None
    thread_tile: int = 0
    thread_axis: int | None = None
    open: bool = False


def simple_plan(program: Program, stage: Stage, machine: Machine) -> StagePlan:
    """Blocks over the cc dims, threads over the last of them (and over `part` where results are few)."""
    cuts = [Blocking(d.extent, d.extent, None, d.extent, open=d.open is not None) for d in stage.dims]
    cc = [cut for cut, dim in zip(cuts, stage.dims, strict=True) if dim.kind is DimKind.CC and dim.extent > 1]
    parts = [cut for cut, dim in zip(cuts, stage.dims, strict=True) if dim.kind is not DimKind.CC]
    if machine.kind == "cpu":
        _cpu(cc, machine)
    else:
        _gpu(cc, parts, machine)
    threads = any(cut.thread_axis is not None for cut in parts)
    return plan_of(program, stage, cuts, (Combine.SHUFFLE, Combine.SHARED) if threads else ())


def _cpu(cc: list[Blocking], machine: Machine) -> None:
    """Whole rows to work-groups, about four a core."""
    if cc:
        longest = max(cc, key=lambda cut: cut.extent)
        longest.block_tile = -(-longest.extent // min(longest.extent, 4 * machine.units))
        longest.block_axis, longest.thread_tile = 0, longest.block_tile


def _gpu(cc: list[Blocking], parts: list[Blocking], machine: Machine) -> None:
    few = bool(parts) and math.prod(cut.extent for cut in cc) < ENOUGH_OUTPUTS
    lanes = 1
    if cc:
        last = cc[-1]
        # an open extent is split over blocks, so that its largest value has several parts
        most = max(1, last.extent // 2) if last.open else last.extent
        lanes = min(THREADS, most, 32 if few else THREADS)
        last.block_tile, last.thread_tile, last.block_axis = lanes, 1, 0
        last.thread_axis = 0 if lanes > 1 else None
    for axis, cut in enumerate(cc[:-1][-2:][::-1], 1):
        cut.block_tile = cut.thread_tile = -(-cut.extent // machine.grid_limits[axis])
        cut.block_axis = axis
    if few:
        longest = max(parts, key=lambda cut: cut.extent)
        units = 1
        while units * 2 <= min(THREADS // lanes, longest.extent):
            units *= 2
        if units > 1:
            longest.thread_tile = -(-longest.extent // units)
            longest.thread_axis = 1 if lanes > 1 else 0


def plan_of(program: Program, stage: Stage, cuts: list[Blocking], combine: tuple[Combine, ...]) -> StagePlan:
    """A step for blocks, one for threads, and the loops of a thread. combine: how the parts of the only
    result meet."""
    blocks = [(c.extent, c.block_tile, c.block_axis) for c in cuts]
    threads = [(c.block_tile, c.thread_tile, c.thread_axis) for c in cuts]
    points = [(c.thread_tile, 1, None) for c in cuts]
    steps = (_step(1, blocks, Layer.BLK), _step(2, threads, Layer.THR), _step(3, points, Layer.THR))
    return StagePlan(program, stage, with_open_splits(steps, stage), (0, 1, 2), Grid(), (combine,))


def _step(number: int, cuts: Sequence[tuple[int, int, int | None]], layer: Layer) -> PlanStep:
    splits = tuple(
        Split(d, parent, tile, None if axis is None else layer, axis or 0, d)
        for d, (parent, tile, axis) in enumerate(cuts)
    )
    return PlanStep(number, number, splits, (), ())
