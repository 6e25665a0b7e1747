"""Plans of a contraction on a GPU: tiles of the ladder, and numbers of parts of the sum."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from math import prod

from mdh.cost.gpu import Joining
from mdh.machine import Machine
from mdh.schedule.default.contraction_atoms import PARTS
from mdh.schedule.default.grid import block_axes, ceil_div, round_up
from mdh.schedule.default.ladder import LADDER, WHOLE, BlockTile, fits
from mdh.schedule.default.operands import Contraction, Tiling
from mdh.schedule.default.shape import Shape

SPLIT_LEAST = 64
"""The fewest iterations of a part."""
SPARE = 40
"""Registers of a thread besides results and operands."""


@dataclass(frozen=True, slots=True)
class LadderTiling(Tiling):
    """A tiling by a tile of the ladder.

    near: of rows and of columns, the dimension whose neighbours a thread reads as vectors, None: the main
    one. Where it is another one, the lanes take the elements of the main one by turns.
    """

    tile: BlockTile = WHOLE
    near: tuple[int | None, int | None] = (None, None)


def plans(
    shape: Shape,
    found: Contraction,
    machine: Machine,
    ladder: Sequence[BlockTile] = LADDER,
    joining: Joining = Joining.KERNEL,
) -> Iterator[LadderTiling]:
    """The candidates: tiles that fit, numbers of parts, and how the parts are added (by a second kernel, or
    by blocks after a kernel has written starting values)."""
    rows, columns = (prod(shape.extents[d] for d in dims) for dims in (found.rows, found.columns))
    sides = rows, columns
    fitting = [
        t
        for t in ladder
        if all(fits(t, n, side) for n, side in enumerate(sides))
        and held_registers(shape, found, t.ahead, t.thread) <= machine.registers_per_thread
    ]
    whole = _whole(found, sides)
    small = min(ladder, key=lambda t: prod(t.block))
    for tile in (*whole, small) if whole else fitting or (small,):
        yield from in_parts(partial(plan_of, shape, found, machine, tile), joining)


def in_parts(
    plan_of_parts: Callable[[int], LadderTiling | None], joining: Joining, counts: Sequence[int] = PARTS
) -> Iterator[LadderTiling]:
    """Plans that differ in the number of parts of the sum, and in how the parts are added."""
    ways = (Joining.KERNEL, joining) if joining is Joining.FRESH else (joining,)
    for parts in counts:
        plan = plan_of_parts(parts)
        if plan is not None:
            yield from (replace(plan, joining=way) for way in ways) if parts > 1 else (plan,)


def _whole(found: Contraction, sides: tuple[int, int]) -> tuple[BlockTile, ...]:
    """The tile of a product that is small, and fits no other tile but by its rows."""
    alone = len(found.rows) == len(found.columns) == 1
    small = all(n <= most for n, most in zip(sides, WHOLE.block, strict=True))
    return (WHOLE,) if alone and small and sides[1] < WHOLE.block[1] else ()


def plan_of(
    shape: Shape, found: Contraction, machine: Machine, tile: BlockTile, parts: int
) -> LadderTiling | None:
    """The plan of a tile; None if the sum cannot be cut into so many parts."""
    block, thread = dict.fromkeys(found.batch, 1), dict[int, int]()
    for dims, side, own in zip((found.rows, found.columns), tile.block, tile.thread, strict=True):
        _side(shape, dims, side, own, block, thread)
    return planned(shape, found, machine, tile, block, thread, parts)


def planned(
    shape: Shape,
    found: Contraction,
    machine: Machine,
    tile: BlockTile,
    block: Mapping[int, int],
    thread: Mapping[int, int],
    parts: int,
    slices: Mapping[int, int] | None = None,
) -> LadderTiling | None:
    """The plan of given tiles; None if the sum cannot be cut into so many parts. slices: of the sum; by
    default about as deep as the tile says."""
    k = max(found.reduced, key=lambda d: shape.extents[d])
    others = prod(shape.extents[d] for d in found.reduced if d != k)
    slices = slices or _slices(shape, found, tile.depth * 4 // max(4, shape.value_bytes))
    part = round_up(ceil_div(shape.extents[k], parts), slices[k])
    if parts > 1 and (
        part * others < SPLIT_LEAST
        or ceil_div(shape.extents[k], part) != parts
        or not may_share(shape, found, machine, block)
    ):
        return None
    return LadderTiling(block, thread, slices, k, part, parts, tile=tile)


def _side(
    shape: Shape, dims: tuple[int, ...], side: int, own: int, block: dict[int, int], thread: dict[int, int]
) -> None:
    """Puts threads along the main dimension. The thread's tile lies along it and, if it is short, along the
    next ones."""
    main, *others = dims
    size = min(shape.extents[main], side)
    thread[main] = ceil_div(size, max(1, side // own))
    block[main] = size
    left = max(1, own // thread[main])
    for d in others:
        block[d] = min(shape.extents[d], left)
        left = max(1, left // block[d])


def may_share(shape: Shape, found: Contraction, machine: Machine, block: Mapping[int, int]) -> bool:
    """Whether blocks may share a sum: an axis of the grid is left for its parts."""
    return not shape.keeps_order and len(block_axes(block, shape.extents, machine, found.columns[0])) <= 2


def _slices(shape: Shape, found: Contraction, depth: int) -> dict[int, int]:
    """Tiles of the reduced dims that a block stages at once: about `depth` iterations, inner dims first."""
    out: dict[int, int] = {}
    for d in reversed(found.reduced):
        out[d] = _slice(shape.extents[d], max(1, depth))
        depth = 1 if shape.keeps_order else depth // out[d]
    return out


def _slice(extent: int, depth: int) -> int:
    """A number near `depth`, an even one that divides the extent if there is one: threads share the rows of
    an odd number badly."""
    if extent <= depth:
        return extent
    near = (t for t in range(max(1, depth * 3 // 4), depth * 3 // 2 + 1) if extent % t == 0 and t % 2 == 0)
    return min(near, key=lambda t: (abs(t - depth), t), default=depth)


def registers_of(ahead: int, words: int, own: tuple[int, int]) -> int:
    """Registers of a thread for its results and operands, of `words` words each."""
    return words * (prod(own) + ahead * sum(own)) + SPARE


def held_registers(shape: Shape, found: Contraction, ahead: int, own: tuple[int, int]) -> int:
    """Those of `registers_of`, where a stage may have several results, as the gates of an LSTM have: it holds
    each of them, and all elements of an operand that they need at a point."""
    words = max(1, shape.value_bytes // 4)
    operands = (found.first, found.second)
    at_a_point = (shape.footprint(b, {}) if all(a.affine for a in shape.reads_of(b)) else 1 for b in operands)
    more = sum((n - 1) * side for n, side in zip(at_a_point, own, strict=True))
    results = len(shape.outputs) - 1
    return registers_of(ahead, words, own) + words * (results * prod(own) + ahead * more)
