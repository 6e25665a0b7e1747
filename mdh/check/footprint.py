"""What a stage keeps in shared memory and registers, beside its tiles, and the digits of its dimensions."""

import math

from mdh.check.loops import Loop
from mdh.hardware import THREADED, Combine, Space
from mdh.ir.plan import StagePlan
from mdh.ir.program import DimKind
from mdh.ir.tile import Tiles
from mdh.poly.digits import Chain, Cut, index_of

WORD = 4
WARP = 32


def shared_bytes(plan: StagePlan, tiles: Tiles) -> int:
    """Bytes of shared memory of a block: staged inputs in all slots, regions, scratch of combines."""
    return tiles.bytes_in(Space.SM) + (combine_bytes(plan) if tiles.threads else 0)


def register_words(tiles: Tiles) -> int:
    """32-bit registers that a thread's RM buffers take; addresses and temporaries come on top."""
    return sum(-(-node.tile.bytes // WORD) for node in tiles.kept if node.tile.space is Space.RM)


def combine_bytes(plan: StagePlan) -> int:
    """Scratch of combines in shared memory: a partial result of each thread, two rows of them for a scan.

    Shuffles need none, unless the last warp of the block is not full.
    """
    threads = math.prod(plan.units(layer) for layer in THREADED)
    scan = any(d.kind is DimKind.PS for d in plan.stage.dims)
    return sum(
        threads * sum(t.bytes for t in r.types) * (2 if scan else 1)
        for r, methods in zip(plan.stage.results, plan.combines, strict=True)
        if Combine.SHARED in methods or (Combine.SHUFFLE in methods and threads % WARP)
    )


def chain_of(plan: StagePlan, dim: int) -> Chain:
    return tuple(Cut(s.splits[dim].parent, s.splits[dim].tile, s.splits[dim].cyclic) for s in plan.steps)


def first_of_part(plan: StagePlan, loop: Loop, part: int) -> int:
    """The first iteration of the loop's dimension that falls to this part, all other parts first ones.

    Where @cyclic loses it (K120), the start of the part without the dealing.
    """
    chain = chain_of(plan, loop.dim)
    element = index_of(chain, tuple(part if i == loop.step else 0 for i in range(len(chain))))
    return part * loop.tile if element is None else element
