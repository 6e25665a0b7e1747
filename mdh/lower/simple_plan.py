"""Plans for the small stages that the lowering itself makes: combining partial results, starting values.

They are MDHs like any other (dims cc, and `part` reduced), so they are planned and lowered like any other.
"""

import math
from dataclasses import dataclass, field

from mdh.hardware import Combine, Layer
from mdh.ir.plan import Grid, PlanStep, Split, StagePlan
from mdh.ir.program import DimKind, Stage
from mdh.machine import Machine

THREADS = 256
ENOUGH_OUTPUTS = 4096
"""With so many results, one thread each fills a GPU; with fewer, threads share a result."""


@dataclass
class _Axes:
    """Tiles and core axes of the two steps under construction."""

    extents: list[int]
    block_tile: list[int] = field(default_factory=list)
    block_axis: dict[int, int] = field(default_factory=dict)
    thread_tile: list[int] = field(default_factory=list)
    thread_axis: dict[int, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.block_tile = list(self.extents)
        self.thread_tile = list(self.extents)


def simple_plan(stage: Stage, machine: Machine) -> StagePlan:
    """Blocks over the cc dims, threads over the last of them (and over `part` where results are few)."""
    axes = _Axes([d.extent for d in stage.dims])
    cc = [d for d, dim in enumerate(stage.dims) if dim.kind is DimKind.CC and dim.extent > 1]
    parts = [d for d, dim in enumerate(stage.dims) if dim.kind is not DimKind.CC]
    results = math.prod(axes.extents[d] for d in cc)
    if machine.kind == "cpu":
        _cpu(axes, cc, machine)
    else:
        _gpu(axes, cc, parts, results, machine)
    steps = (_step(1, axes.extents, axes.block_tile, axes.block_axis, Layer.BLK),
             _step(2, axes.block_tile, axes.thread_tile, axes.thread_axis, Layer.THR),
             _step(3, axes.thread_tile, [1] * len(axes.extents), {}, None))  # fmt: skip
    threads = any(d in axes.thread_axis for d in parts)
    return StagePlan(stage, steps, (0, 1, 2), Grid(), ((Combine.SHUFFLE, Combine.SHARED) if threads else (),))


def _cpu(axes: _Axes, cc: list[int], machine: Machine) -> None:
    """Whole rows to work-groups, about four a core."""
    if not cc:
        return
    d = max(cc, key=lambda k: (axes.extents[k], -k))
    axes.block_tile[d] = -(-axes.extents[d] // min(axes.extents[d], 4 * machine.units))
    axes.block_axis[d] = 0
    axes.thread_tile[d] = axes.block_tile[d]


def _gpu(axes: _Axes, cc: list[int], parts: list[int], results: int, machine: Machine) -> None:
    lanes = 1
    if cc:
        d = cc[-1]
        lanes = min(THREADS, axes.extents[d])
        if results < ENOUGH_OUTPUTS and parts:
            lanes = min(lanes, 32)
        axes.block_tile[d], axes.thread_tile[d] = lanes, 1
        axes.block_axis[d] = 0
        if lanes > 1:
            axes.thread_axis[d] = 0
    for n, d in enumerate(cc[:-1][-2:][::-1]):
        limit = machine.grid_limits[n + 1]
        axes.block_tile[d] = -(-axes.extents[d] // limit)
        axes.thread_tile[d] = axes.block_tile[d]
        axes.block_axis[d] = n + 1
    if parts and results < ENOUGH_OUTPUTS:
        d = max(parts, key=lambda k: axes.extents[k])
        units = 1
        while units * 2 <= min(THREADS // lanes, axes.extents[d]):
            units *= 2
        if units > 1:
            axes.thread_tile[d] = -(-axes.extents[d] // units)
            axes.thread_axis[d] = 1 if lanes > 1 else 0


def _step(
    number: int, parents: list[int], tiles: list[int], axis: dict[int, int], layer: Layer | None
) -> PlanStep:
    splits = tuple(
        Split(d, parent, tile, layer if d in axis else None, axis.get(d, 0), d)
        for d, (parent, tile) in enumerate(zip(parents, tiles, strict=True))
    )
    return PlanStep(number, number, splits, (), ())
