"""P103: lanes that are idle, of the last warp of a block or of the vectors of a CPU."""

from collections.abc import Iterator

from mdh.checker.performance.remedies import Remedy, tile_of
from mdh.checker.performance.vectors import lanes_that_fit
from mdh.checker.performance.weighed import Finding, Weighed, share_text
from mdh.hardware import THREADED, Layer
from mdh.wording import counted

IDLE = "P103"
SPARE = 8
"""One lane in so many may be idle. A tile that fits the program better is often worth that much."""


def check_lanes(stage: Weighed) -> Iterator[Finding]:
    """P103. At most an eighth of the lanes of a block's warps have no thread, or no number of threads that
    fills them is faster."""
    warp, threads = stage.machine.warp, stage.plan.block_threads
    lanes = -(-threads // warp) * warp
    if stage.machine.kind == "cpu" or (lanes - threads) * SPARE <= lanes:
        return
    found = stage.best(_fuller(stage, warp))
    if found is None:
        return
    remedy, share = found
    warps = counted(lanes // warp, "warp")
    headline = (
        f"{counted(threads, 'thread')} a block take {warps}: {lanes - threads} of {lanes} lanes are idle"
    )
    labels = stage.at_layers(*THREADED)
    yield stage.warning(IDLE, headline, labels, remedy.words, notes=(share_text(share),), remedy=remedy)


def _fuller(stage: Weighed, warp: int) -> Iterator[Remedy]:
    """Other tiles of a dimension whose parts threads take, so that all of them together fill warps."""
    threads = stage.plan.threads
    for s, step in enumerate(stage.plan.steps):
        for x in step.splits:
            if x.layer is not Layer.THR:
                continue
            others = threads // x.parts
            for tile in range(1, x.parent + 1):
                parts = -(-x.parent // tile)
                if (
                    others * parts % warp == 0
                    and parts <= 4 * x.parts
                    and (tile & tile - 1 == 0 or x.parent % tile == 0)
                ):
                    words = f"tiles of {tile} of `{stage.name(x.dim)}` at step {step.label}"
                    yield Remedy(f"{words}: {others * parts} threads", tile_of(s, x.dim, tile))


def check_narrow_vectors(stage: Weighed) -> Iterator[Finding]:
    """P103. The lanes of VEC on a CPU fill its vectors, counted by the widest type that the stage reads,
    computes or writes, or no wider ones are faster."""
    lane = next((x for x in stage.plan.tiles.levels.all if x.layer is Layer.VEC), None)
    full = lanes_that_fit(stage)
    if stage.machine.kind != "cpu" or lane is None or lane.parts >= full:
        return
    outer = [s for s in range(lane.step) if stage.plan.steps[s].splits[lane.dim].parts > 1]
    if not outer:
        return
    name, s = stage.name(lane.dim), outer[-1]
    words = f"tiles of {full} of `{name}` at step {stage.plan.steps[s].label}: {full} lanes"
    found = stage.best([Remedy(words, tile_of(s, lane.dim, full))])
    if found is None:
        return
    remedy, share = found
    headline = f"VEC has {lane.parts} lanes of `{name}`, vectors of `{stage.machine.name}` have {full}"
    labels = stage.at_core(lane.step, lane.dim)
    yield stage.warning(IDLE, headline, labels, remedy.words, notes=(share_text(share),), remedy=remedy)
