"""P106: registers that a thread needs and does not get."""

from collections.abc import Iterator

from mdh.checker.footprint import WORD, fragment_words, taken
from mdh.checker.performance.weighed import Finding, Weighed
from mdh.diagnostics import Label
from mdh.hardware import THREADED, Space
from mdh.ir.tile import Hold
from mdh.occupancy import registers_at

SPILL = "P106"
SPARE = 16
"""Registers for addresses, counters, factors and temporaries. 142 products were compiled for sm_90a: all 106
whose results left fewer registers spilled, and so did those that left 16 to 24."""


def check_spills(stage: Weighed) -> Iterator[Finding]:
    """P106. The partial results of a thread, its fragments and 16 registers more are at most the registers
    that it has where so many threads are at once on a multiprocessor.

    Staged inputs in RM do not count, because compilers load each part of them shortly before its use. Atoms
    of warp groups are left out: K153 refuses what they have no registers for.
    """
    plan, machine = stage.plan, stage.machine
    product = None if plan.atoms is None else plan.steps[plan.atoms].product
    if machine.kind == "cpu" or (product is not None and product.atom.grouped):
        return
    blocks = max(1, plan.grid.occupancy)
    limit = registers_at(machine, blocks * -(-plan.block_threads // machine.warp))
    held = sum(taken(x.tile) // WORD for x in _held(stage)) + fragment_words(plan)
    if held + SPARE <= limit:
        return
    threads = f"{plan.block_threads} threads a block"
    threads += f", {blocks} blocks at once" if blocks > 1 else ""
    headline = (
        f"a thread holds results in {held} registers and needs at least {SPARE} more: "
        f"with {threads} it has {limit}"
    )
    fewer = " or a smaller @occupancy," if blocks > 1 else ""
    most = f"results in at most {limit - SPARE} registers fit"
    said = f"smaller tiles of a thread,{fewer} or fewer threads: {most}"
    yield stage.warning(SPILL, headline, _labels(stage), said)


def _labels(stage: Weighed) -> tuple[Label, ...]:
    """The entries that hold the results; of results that none holds, the threads."""
    found: tuple[Label, ...] = ()
    for x in _held(stage):
        if x.step is not None:
            shape = "×".join(map(str, x.tile.shape)) or "1"
            words = f"{shape} elements: {taken(x.tile) // WORD} registers"
            found += stage.at_entry(x.step, x.tile.buffer, words)
    return found or stage.at_layers(*THREADED)


def _held(stage: Weighed) -> list[Hold]:
    return [x for x in stage.plan.tiles.holds if x.tile.space is Space.RM]
