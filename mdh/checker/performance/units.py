"""P102: multiprocessors or cores without a block."""

from collections.abc import Iterator
from math import prod

from mdh.checker.performance.remedies import Remedy, both, core_of, tile_of
from mdh.checker.performance.weighed import Finding, Weighed, share_text
from mdh.hardware import BLOCKED, Layer
from mdh.ir.program import DimKind
from mdh.wording import counted

IDLE = "P102"
SPARE = 8
"""One unit in so many may be idle: to use the last ones, tiles would have to fit the number of units."""


def check_idle_units(stage: Weighed) -> Iterator[Finding]:
    """P102. The grid has at least 7/8 as many blocks as the machine has units, or no change that makes more
    blocks is faster. Blocks that share the iterations of all tiles are as many as there are units."""
    units, blocks = stage.machine.units, stage.nest.blocks
    if stage.plan.streamed or blocks * SPARE >= units * (SPARE - 1):
        return
    found = stage.best(_remedies(stage, units))
    if found is None:
        return
    remedy, share = found
    what = "multiprocessors" if stage.machine.kind == "gpu" else "cores"
    headline = f"{counted(blocks, 'block')} for {units} {what}: {units - blocks} of them are idle"
    labels, notes = stage.at_layers(*BLOCKED), (share_text(max(share, blocks / units)),)
    yield stage.warning(IDLE, headline, labels, remedy.words, notes=notes, remedy=remedy)


def _remedies(stage: Weighed, units: int) -> Iterator[Remedy]:
    """More parts of a dimension that BLK has; of another one, whose parts it may take on a free axis."""
    steps = [step for step in stage.plan.steps if step.span is not None]
    taken = {x.axis for step in steps for x in step.splits if x.layer in BLOCKED}
    free = next((axis for n, axis in enumerate("xyz") if n not in taken), None)
    for d, dim in enumerate(stage.plan.stage.dims):
        own = [s for s, step in enumerate(steps) if step.splits[d].layer is Layer.BLK]
        clusters = [s for s, step in enumerate(steps) if step.splits[d].layer is Layer.CLU]
        if clusters or dim.kind is DimKind.PS:
            continue
        s = own[0] if own else _grid_step(stage, len(steps))
        split = steps[s].splits[d]
        parts = split.parts if own else 1
        wanted = -(-units // max(1, stage.nest.blocks // parts))
        for tile in _tiles(split.parent, wanted):
            blocks = stage.nest.blocks // parts * -(-split.parent // tile)
            change = tile_of(s, d, tile)
            at = f"at step {steps[s].label}"
            if own:
                yield Remedy(f"tiles of {tile} of `{dim.name}` {at}: {blocks:,} blocks", change)
            elif free is not None and prod(stage.nest.work.extents) > units:
                words = f"BLK.{free} on `{dim.name}` {at}, in tiles of {tile}: {blocks:,} blocks"
                yield Remedy(words, both(change, core_of(s, d, Layer.BLK, free)))


def _grid_step(stage: Weighed, steps: int) -> int:
    """The first step with BLK, else the first in code order that the user wrote."""
    split = (s for s in range(steps) if any(x.layer in BLOCKED for x in stage.plan.steps[s].splits))
    return next(split, next(s for s in stage.plan.code_order if s < steps))


def _tiles(extent: int, parts: int) -> list[int]:
    """Tiles that give at least so many parts: the largest one, and the largest power of two."""
    largest = extent // parts
    while largest > 1 and -(-extent // largest) < parts:
        largest -= 1
    return sorted({largest, 1 << (largest.bit_length() - 1)}) if largest > 0 else []
