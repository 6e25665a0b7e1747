"""Contractions: products of two inputs summed over what they share (matmul, convolution, CCSD(T)).

Dims fall into rows (in the first operand only), columns (in the second only), batch (in both or neither) and
the reduced ones. A block computes a rows x columns tile of results, held in registers, from slices of both
operands in shared memory. Register and block tiles: research ladders of fp32 matrix product kernels.
"""

from dataclasses import dataclass
from itertools import permutations

from mdh.ir.program import DimKind
from mdh.machine import Machine
from mdh.schedule.default.contraction_cpu import contraction_cpu
from mdh.schedule.default.grid import block_axes, ceil_div, grid_size, round_up
from mdh.schedule.default.operands import Contraction, shared_copy
from mdh.schedule.default.outline import Outline, attribute, held, stageable, staged
from mdh.schedule.default.shape import Access, Shape
from mdh.schedule.model import Arg, ArgCall, Mem, Unit

SIDE = 16
"""Threads along rows and along columns."""
SHARED = 48 * 1024
"""What every GPU gives a block without asking."""
SPLIT_LEAST = 256
"""Iterations of a reduction that a block should keep when it is split over blocks."""
GROUP = 8


def find_contraction(shape: Shape) -> Contraction | None:
    """The two operands with the largest rows x columns, None where no two inputs are combined so."""
    results, reduced = shape.of_kind(DimKind.CC), shape.of_kind(DimKind.PW)
    operands = [
        a
        for a in shape.reads
        if a.affine and stageable(shape, a.buffer) and any(shape.uses(a, k) for k in reduced)
    ]
    found: list[tuple[int, Contraction]] = []
    for first, second in permutations(operands, 2):
        rows = tuple(d for d in results if shape.uses(first, d) and not shape.uses(second, d))
        columns = tuple(d for d in results if shape.uses(second, d) and not shape.uses(first, d))
        shared = [k for k in reduced if shape.uses(first, k) and shape.uses(second, k)]
        if rows and columns and shared:
            batch = tuple(d for d in results if d not in (*rows, *columns))
            size = 1
            for d in (*rows, *columns):
                size *= shape.extents[d]
            candidate = Contraction(first.buffer, second.buffer, rows, columns, batch, reduced)
            found.append((size, _oriented(shape, candidate, first, second)))
    return max(found, key=lambda c: c[0])[1] if found else None


def _oriented(shape: Shape, found: Contraction, first: Access, second: Access) -> Contraction:
    """Main dims first in each group; columns are the side along which the output is contiguous."""
    out = shape.contiguous(shape.writes[0])
    if out in found.rows:
        flipped = Contraction(
            found.second, found.first, found.columns, found.rows, found.batch, found.reduced
        )
        return _oriented(shape, flipped, second, first)

    def main_first(dims: tuple[int, ...], access: Access) -> tuple[int, ...]:
        near = shape.contiguous(access)
        return tuple(sorted(dims, key=lambda d: (d != out, d != near, -shape.extents[d])))

    return Contraction(
        found.first,
        found.second,
        main_first(found.rows, first),
        main_first(found.columns, second),
        found.batch,
        found.reduced,
    )


def contraction(shape: Shape, found: Contraction, machine: Machine) -> Outline:
    if machine.kind == "cpu":
        return contraction_cpu(shape, found, machine)
    return _gpu(shape, found, machine)


@dataclass(frozen=True, slots=True)
class _Tiles:
    """Tiles of a block and of a thread, by dim."""

    block: dict[int, int]
    thread: dict[int, int]


def _tiles(shape: Shape, found: Contraction, side: int) -> _Tiles:
    block: dict[int, int] = dict.fromkeys(found.batch, 1)
    thread: dict[int, int] = {}
    for group in (found.rows, found.columns):
        _group(shape, group, side, block, thread)
    return _Tiles(block, thread)


def _group(
    shape: Shape, dims: tuple[int, ...], side: int, block: dict[int, int], thread: dict[int, int]
) -> None:
    """Threads over the main dim; the register tile over it and, where it is short, over the next dim."""
    main, *others = dims
    size = min(shape.extents[main], side)
    thread[main] = ceil_div(size, min(SIDE, size))
    block[main] = round_up(size, thread[main]) if size == side else size
    left = max(1, side // SIDE // thread[main])
    for d in others:
        block[d] = min(shape.extents[d], left)
        left = max(1, left // block[d])


def _gpu(shape: Shape, found: Contraction, machine: Machine) -> Outline:
    tiles, side = _filling(shape, found, machine)
    axes = block_axes(tiles.block, shape.extents, machine, found.columns[0])
    blocks = grid_size(axes, tiles.block, shape.extents)
    slices = _slices(shape, found, 8 if side == 128 else 16)
    k = max(found.reduced, key=lambda d: shape.extents[d])
    parts = min(machine.units // blocks, 8, shape.extents[k] // SPLIT_LEAST)
    if parts > 1 and not shape.keeps_order and len(axes) < 3:
        tiles.block[k] = round_up(ceil_div(shape.extents[k], parts), slices[k])
        axes = block_axes(tiles.block, shape.extents, machine, found.columns[0])
    outline = Outline(shape)
    ordered = found.rows[0] in axes and found.columns[0] in axes and blocks >= 4 * machine.units
    order = (attribute("order", ArgCall("grouped", (Arg(GROUP),))),) if ordered else ()
    outline.step(tiles.block, dict(axes), attrs=order)
    outline.step(slices, entries=held(shape) | _copies(shape, found, {**tiles.block, **slices}, machine))
    threads = {found.columns[0]: Unit("THR", "x"), found.rows[0]: Unit("THR", "y")}
    outline.step(tiles.thread, threads)
    fragments = {b: staged(shape, b, "RM") for b in dict.fromkeys((found.first, found.second))}
    outline.step(dict.fromkeys(found.reduced, 1), entries=fragments, attrs=(attribute("unroll"),))
    return outline


def _filling(shape: Shape, found: Contraction, machine: Machine) -> tuple[_Tiles, int]:
    """The largest tiles with which the grid still fills the machine."""
    # addresses of several reduced dims take the registers that the largest tile would need
    large = shape.value_bytes <= 4 and len(found.reduced) == 1
    sides = (128, 64, 32, 16) if large else (64, 32, 16)
    for side in sides:
        tiles = _tiles(shape, found, side)
        axes = block_axes(tiles.block, shape.extents, machine)
        if grid_size(axes, tiles.block, shape.extents) >= machine.units:
            return tiles, side
    return tiles, side


def _slices(shape: Shape, found: Contraction, depth: int) -> dict[int, int]:
    """Tiles of the reduced dims that a block stages at once: about `depth` iterations, inner dims first."""
    out: dict[int, int] = {}
    for d in reversed(found.reduced):
        out[d] = _slice(shape.extents[d], max(1, depth))
        depth = 1 if shape.keeps_order else depth // out[d]
    return out


def _slice(extent: int, depth: int) -> int:
    """About `depth`, without a remainder where a number near it divides the extent."""
    if extent <= depth:
        return extent
    near = (t for t in range(max(1, depth * 3 // 4), depth * 3 // 2 + 1) if extent % t == 0)
    return min(near, key=lambda t: (abs(t - depth), t), default=depth)


def _copies(shape: Shape, found: Contraction, tiles: dict[int, int], machine: Machine) -> dict[str, Mem]:
    room = min(machine.shared_per_block, SHARED)
    out: dict[str, Mem] = {}
    for buffer, main in ((found.first, found.rows[0]), (found.second, found.columns[0])):
        size = shape.footprint(buffer, tiles) * shape.element_bytes(buffer) * 5 // 4 + 1024
        if buffer not in out and size <= room:
            room -= size
            out[buffer] = shared_copy(shape, buffer, main)
    return out
