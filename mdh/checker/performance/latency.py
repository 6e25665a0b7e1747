"""P107: too few warps at once on a multiprocessor, or too little work in a block of a CPU."""

from collections.abc import Iterator

from mdh.checker.performance.remedies import Remedy, tile_of
from mdh.checker.performance.weighed import Finding, Weighed, share_text
from mdh.cost.gpu_terms import block_of
from mdh.hardware import THREADED, Layer
from mdh.wording import counted

LITTLE = "P107"
STARTING = 0.25
"""Share of the stage's time that starting its blocks may take."""


def check_warps_at_once(stage: Weighed) -> Iterator[Finding]:
    """P107. A busy multiprocessor holds at least as many warps as it has partitions. Each partition runs
    warps of its own. With fewer warps than partitions, some partitions do nothing."""
    if stage.machine.kind == "cpu":
        return
    block, machine = block_of(stage.nest), stage.machine
    blocks = min(block.resident, -(-stage.nest.blocks // machine.units))
    warps = -(-stage.plan.block_threads // machine.warp) * blocks
    if warps >= machine.partitions:
        return
    at_once = f"{counted(warps, 'warp')} at once"
    headline = f"a multiprocessor has {at_once}, and {machine.partitions} parts that run warps"
    full = blocks == block.resident
    why = "more do not fit into it" if full else "the grid has no more blocks"
    notes = (f"{counted(blocks, 'block')} of {counted(block.warps, 'warp')}: {why}",)
    said = f"at least {machine.partitions * machine.warp} threads a block, with smaller tiles of each"
    yield stage.warning(LITTLE, headline, stage.at_layers(*THREADED), said, notes=notes)


def check_groups(stage: Weighed) -> Iterator[Finding]:
    """P107. Starting the blocks of a CPU takes less than a quarter of the stage's time, or larger blocks are
    not faster."""
    if stage.machine.kind == "gpu" or stage.terms["groups"] < STARTING * stage.seconds:
        return
    found = stage.best(_larger(stage))
    if found is None:
        return
    remedy, share = found
    part = min(1.0, stage.terms["groups"] / stage.seconds)
    headline = f"starting {stage.nest.blocks:,} blocks takes {part:.0%} of the time: each has too little work"
    labels = stage.at_layers(Layer.BLK)
    yield stage.warning(LITTLE, headline, labels, remedy.words, notes=(share_text(share),), remedy=remedy)


def _larger(stage: Weighed) -> Iterator[Remedy]:
    """Larger tiles of a dimension that BLK has, with enough blocks for all cores."""
    for s, step in enumerate(stage.plan.steps):
        for x in step.splits:
            if x.layer is not Layer.BLK:
                continue
            for tile in (x.tile << n for n in range(1, 12)):
                blocks = stage.nest.blocks // x.parts * -(-x.parent // tile)
                if tile <= x.parent and blocks >= 4 * stage.machine.units:
                    words = f"tiles of {tile} of `{stage.name(x.dim)}` at step {step.label}"
                    yield Remedy(f"{words}: {blocks:,} blocks", tile_of(s, x.dim, tile))
