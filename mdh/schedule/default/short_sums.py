"""Sums with few neighbours on tensor cores, such as those of a convolution over the 3 channels of an image.

The innermost reduced dimension, all of it, and a part of another one share an atom's k, whose other places
stay empty. A block holds both factors for all of the sum. It may take several tiles of rows one after
another, and then holds the other factor for all of them.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from math import prod

from mdh.cost.gpu import WORD, resident
from mdh.cost.tensor import AtomWork, atom_seconds
from mdh.hardware import Layer, Space
from mdh.ir.atoms import LANES, Atom, atoms_of
from mdh.ir.program import DimKind
from mdh.machine import Machine
from mdh.occupancy import registers_at
from mdh.schedule.default.atom_sides import NONE, AtomSide, SideTiles, side_tiles
from mdh.schedule.default.atoms import FactorPair, factor_pairs, position_of, side_of, upward
from mdh.schedule.default.contraction_atoms import SIDES, SPARE
from mdh.schedule.default.grid import AXES, block_axes, ceil_div, divisors, power_up
from mdh.schedule.default.outline import ScheduleBuilder, attribute, held, staged
from mdh.schedule.default.shape import Shape, ShapeAccess
from mdh.schedule.model import Unit

WARPS = ((1, 1), (2, 1), (1, 2), (4, 1), (2, 2), (8, 1), (4, 2), (8, 2))
"""Rows and columns of a block, in warps. Factors of blocks with many rows overlap little."""
TURNS_MOST = 32
"""The most tiles of a block."""
MEETING = 2.0
"""How often reads of the factor along n meet in a bank: its rows lie at any distances."""


@dataclass(frozen=True)
class ShortSum:
    """C = A B, whose reduced dimensions do not fill an atom's k.

    left, right: the reads of A and B. k: tiles of the dimensions on the atom's k, the innermost one last.
    others: reduced dimensions beside. rows, columns: all that the atom takes along m and n. parts: atoms
    along k for one element of the others.
    """

    atom: Atom
    left: ShapeAccess
    right: ShapeAccess
    k: Mapping[int, int]
    others: tuple[int, ...]
    rows: AtomSide
    columns: AtomSide
    parts: int

    @property
    def within(self) -> int:
        """The innermost dimension."""
        return max(self.k)


@dataclass(frozen=True, slots=True)
class ShortTiling:
    """size, warp: places along m and n of a block and of a warp. turns: tiles that a block takes along a
    dimension of the rows. slots: of the copy of A."""

    rows: SideTiles = NONE
    columns: SideTiles = NONE
    size: tuple[int, int] = (1, 1)
    warp: tuple[int, int] = (1, 1)
    along: int = 0
    turns: int = 1
    slots: int = 1

    @property
    def warps(self) -> int:
        return prod(self.size) // prod(self.warp)


def find_short(shape: Shape, machine: Machine, target: str) -> ShortSum | None:
    """The stage as such a product for atoms of warps; None if it is none."""
    known = [a for a in atoms_of(machine.compute_capability) if not a.grouped]
    every = (_short(shape, pair) for pair in factor_pairs(shape, machine, target, known))
    return next(filter(None, every), None)


def _short(shape: Shape, pair: FactorPair) -> ShortSum | None:
    (left, right), atoms = pair
    results, reduced = shape.of_kind(DimKind.CC), shape.of_kind(DimKind.PW)
    sides = []
    for one, other in ((left, right), (right, left)):
        dims = [d for d in results if shape.uses(one, d) and not shape.uses(other, d)]
        sides.append(side_of(shape, one, [d for d in dims if upward(shape, one, d)]))
    rows, columns = sides
    if not (rows.dims and columns.dims):
        return None
    both = [d for d in reduced if all(shape.uses(x, d) and upward(shape, x, d) for x in (left, right))]
    best: tuple[float, int, ShortSum] | None = None
    for atom in atoms:
        if not (rows.fits(atom.m) and columns.fits(atom.n)):
            continue
        for within in (d for d in both if _innermost(shape, d, (left, right))):
            room = power_up(shape.extents[within])
            # of equals the nearest one, whose elements lie next to one another in memory
            for along in (d for d in reversed(both) if d < within and 2 * room <= atom.k):
                extent = shape.extents[along]
                tile = min(extent, atom.k // room)
                parts = ceil_div(extent, tile)
                used = shape.extents[within] * extent / (atom.k * parts)
                others = tuple(d for d in reduced if d not in (within, along))
                tiles = {along: tile, within: shape.extents[within]}
                found = ShortSum(atom, left, right, tiles, others, rows, columns, parts)
                if best is None or (used, atom.m * atom.k) > best[:2]:
                    best = used, atom.m * atom.k, found
    return None if best is None else best[2]


def _innermost(shape: Shape, dim: int, factors: tuple[ShapeAccess, ...]) -> bool:
    """Whether the dimension is the last position of both factors, which end with it."""
    last = [len(x.index) - 1 for x in factors]
    return all(
        position_of(shape, x, dim) == p and shape.program.buffer_of[x.buffer].shape[p] == shape.extents[dim]
        for x, p in zip(factors, last, strict=True)
    )


def best_short_plan(shape: Shape, found: ShortSum, machine: Machine) -> tuple[ShortTiling, float] | None:
    """The plan with the best estimate, in seconds; None if no plan fits."""
    every = (
        (p, atom_seconds(_work(shape, found, machine, p), machine)) for p in _plans(shape, found, machine)
    )
    return min(every, key=lambda timed: timed[1], default=None)


def _plans(shape: Shape, found: ShortSum, machine: Machine) -> Iterator[ShortTiling]:
    atom, extents = found.atom, shape.extents
    for warp in ((a, b) for a in SIDES for b in SIDES if a % atom.m == 0 and b % atom.n == 0):
        for high, wide in WARPS:
            rows = side_tiles(found.rows, atom.m, warp[0], high)
            columns = side_tiles(found.columns, atom.n, warp[1], wide)
            if rows is None or columns is None or len(rows.split) + len(columns.split) > len(AXES):
                continue
            plan = ShortTiling(rows, columns, (warp[0] * high, warp[1] * wide), warp)
            for along, tile in rows.block.items():
                for turns in divisors(ceil_div(extents[along], tile)):
                    for slots in (1, 2) if turns > 1 else (1,):
                        one = replace(plan, along=along, turns=turns, slots=slots)
                        fits = _registers(shape, found, one) <= registers_at(machine, one.warps)
                        fits = fits and _shared(shape, found, one) <= machine.shared_per_block
                        if turns <= TURNS_MOST and fits:
                            yield one


def _registers(shape: Shape, found: ShortSum, plan: ShortTiling) -> int:
    """Of a thread: results, fragments, what it holds of the next slot, and others."""
    atom = found.atom
    words = atom.acc.bytes * prod(plan.warp) + atom.left.bytes * atom.k * sum(plan.warp)
    if plan.slots > 1:
        row = power_up(shape.extents[found.within]) * atom.left.bytes
        words += _copied(shape, found, plan)[0] * row // plan.warps
    return words // (WORD * LANES) + SPARE


def _copied(shape: Shape, found: ShortSum, plan: ShortTiling) -> tuple[int, int]:
    """Rows of the innermost dimension in the copies of A and of B."""
    reduced = {d: shape.extents[d] for d in (*found.k, *found.others)}
    tiles = {**plan.rows.held, **plan.columns.held, **reduced}
    a, b = (prod(shape.boxes[x.buffer].sides(tiles)[:-1]) for x in (found.left, found.right))
    return a, b


def _shared(shape: Shape, found: ShortSum, plan: ShortTiling) -> int:
    """Bytes of a block in shared memory."""
    a, b = _copied(shape, found, plan)
    return (plan.slots * a + b) * power_up(shape.extents[found.within]) * found.atom.left.bytes


def _work(shape: Shape, found: ShortSum, machine: Machine, plan: ShortTiling) -> AtomWork:
    """The quantities that the plan's time depends on. Turns are slices, in which threads move elements."""
    atom, extents = found.atom, shape.extents
    every = dict(enumerate(extents))
    size = atom.left.bytes
    depth = atom.k * found.parts * prod(extents[d] for d in found.others)
    a, b = _copied(shape, found, plan)
    rows = a + b / plan.turns
    written = prod(extents[d] for d in every if d not in (*found.k, *found.others))
    written *= shape.element_bytes(shape.writes[0].buffer)
    read = sum(shape.footprint(x.buffer, every) * size for x in (found.left, found.right))
    tiles = _first(shape, plan)
    registers = _registers(shape, found, plan)
    return AtomWork(
        atom,
        plan.warps,
        resident=resident(machine, plan.warps * LANES, registers, _shared(shape, found, plan)),
        blocks=prod(ceil_div(extents[d], tiles.get(d, 1)) for d in shape.of_kind(DimKind.CC)),
        slices=plan.turns,
        multiplies=prod(plan.size) * depth,
        fragments=int(plan.warps * (plan.warp[0] + MEETING * plan.warp[1]) * depth * size),
        copied=int(rows * power_up(extents[found.within]) * size),
        turned=int(rows * extents[found.within] * size),
        slots=plan.slots,
        results=plan.turns * prod(plan.rows.block.values()) * prod(plan.columns.block.values()),
        cut=False,
        moved=read + written,
        written=written,
    )


def _first(shape: Shape, plan: ShortTiling) -> dict[int, int]:
    """Tiles of the blocks: those of all turns."""
    tiles = dict.fromkeys(shape.of_kind(DimKind.CC), 1) | {**plan.rows.block, **plan.columns.block}
    tiles[plan.along] = min(shape.extents[plan.along], tiles[plan.along] * plan.turns)
    return tiles


def short_outline(shape: Shape, found: ShortSum, machine: Machine, plan: ShortTiling) -> ScheduleBuilder:
    """The steps of a plan."""
    first = _first(shape, plan)
    axes = block_axes(first, shape.extents, machine, found.columns.dims[-1])
    left, right = ({x.buffer: staged(shape, x.buffer, Space.SM)} for x in (found.left, found.right))
    apart = plan.turns > 1 and found.left.buffer != found.right.buffer
    outline = ScheduleBuilder(shape)
    outline.step(first, dict(axes), entries=right if apart else {})
    stages = (attribute("stages", plan.slots),) if plan.slots > 1 else ()
    outline.step(
        {**plan.rows.block, **plan.columns.block},
        entries=held(shape) | left | ({} if apart else right),
        attrs=stages,
    )
    outline.step(dict.fromkeys(found.others, 1))
    outline.step({**plan.rows.warp, **plan.columns.warp}, _warps(plan))
    sides = zip("mn", (plan.rows, plan.columns), strict=True)
    tiles = {d: (axis, tile) for axis, side in sides for d, tile in side.atom.items()}
    outline.atoms({**tiles, **{d: ("k", tile) for d, tile in found.k.items()}}, found.atom)
    return outline


def _warps(plan: ShortTiling) -> dict[int, Unit]:
    """Axes of the warps: x and on for columns, then those of rows."""
    split = (*plan.columns.split, *plan.rows.split)
    return {d: Unit(Layer.WRP, axis) for d, axis in zip(split, AXES, strict=False)}
