"""The tiles that blocks of a contraction on a GPU may have."""

from dataclasses import dataclass

from mdh.schedule.default.grid import ceil_div, round_up

STEP = 8
"""Sides of the ladder's tiles are multiples of it. A product that lacks less than this fits the tile."""


@dataclass(frozen=True, slots=True)
class BlockTile:
    """Results of a block, of a warp and of a thread, as (rows, columns).

    depth: iterations of the sum that a block stages at once, for elements of 4 bytes. ahead: how many of them
    a thread holds in registers.
    """

    block: tuple[int, int]
    warp: tuple[int, int]
    thread: tuple[int, int]
    depth: int
    ahead: int = 1


LADDER = (
    BlockTile((64, 128), (32, 64), (8, 8), 16, 2),
    BlockTile((64, 128), (16, 64), (4, 8), 16),
    BlockTile((64, 64), (32, 64), (8, 8), 16, 2),
    BlockTile((128, 32), (64, 32), (8, 8), 16, 2),
    BlockTile((64, 64), (32, 32), (8, 4), 16, 2),
    BlockTile((32, 128), (16, 64), (8, 4), 16),
    BlockTile((32, 64), (16, 64), (8, 4), 16),
    BlockTile((32, 64), (16, 32), (4, 4), 32),
    BlockTile((32, 32), (16, 32), (4, 4), 16),
    BlockTile((16, 32), (8, 32), (2, 4), 32),
    BlockTile((128, 32), (64, 16), (8, 4), 16),
    BlockTile((64, 32), (32, 16), (4, 4), 32),
    # for products with a side between 32 and 40, of which tiles of 32 would leave a remainder
    BlockTile((128, 40), (128, 8), (8, 4), 16),
    BlockTile((40, 128), (8, 128), (4, 8), 16),
)

WHOLE = BlockTile((32, 32), (8, 32), (2, 4), 16)
"""For products that no tile of the ladder fits besides the smallest: one block computes the whole product."""


def fits(tile: BlockTile, n: int, extent: int) -> bool:
    """Whether a tile fits rows (n = 0) or columns (1) of a product, or lacks so little that all lanes of its
    warps still have something."""
    lanes = tile.warp[n] // tile.thread[n]
    every = lanes > 0 and ceil_div(min(extent, tile.warp[n]), tile.thread[n]) == lanes
    return every and tile.block[n] <= round_up(extent, STEP)
