"""Maps and transposes: each output element is computed by itself."""

from collections.abc import Callable
from math import prod

from mdh.hardware import Layer, Space
from mdh.ir.program import DimKind, Result
from mdh.machine import Machine
from mdh.schedule.default.grid import block_axes, ceil_div, power_up, round_up
from mdh.schedule.default.operands import shared_copy
from mdh.schedule.default.outline import ScheduleBuilder, attribute, stageable, staged
from mdh.schedule.default.shape import Shape, ShapeAccess
from mdh.schedule.model import Mem, Unit

THREADS = 256
ACCESS, LANES = 16, 8
"""Bytes and elements of the widest access of a GPU's thread."""
TRANSPOSE = 32
"""Rows and columns of a transposed tile: one warp reads a row, one writes a column."""
LINE = 64
"""Bytes that a CPU's memory gives at once."""
GROUPS_PER_CORE = 8
UNEVEN_GROUPS_PER_CORE = 32
"""The same where conditions leave out points, so that some groups have more work than others."""
ALONE = 1 << 12
"""Points of a map that one core has finished before another one has woken up."""


def map_stage(shape: Shape, machine: Machine) -> ScheduleBuilder:
    return by_output(shape, machine, _on_gpu)


def by_output(
    shape: Shape, machine: Machine, on_gpu: Callable[[ScheduleBuilder, int, Machine], None]
) -> ScheduleBuilder:
    """Steps along the output's contiguous dimension: by `on_gpu` on a GPU, in one way for all on a CPU."""
    outline = ScheduleBuilder(shape)
    x = output_dim(shape)
    if x is not None:
        (map_cpu if machine.kind == "cpu" else on_gpu)(outline, x, machine)
    return outline


def _on_gpu(outline: ScheduleBuilder, x: int, machine: Machine) -> None:
    y = _transposed(outline.shape, x)
    if y is not None:
        _transpose(outline, x, y, machine)
    else:
        _map_gpu(outline, x, machine)


def output_dim(shape: Shape) -> int | None:
    """The cc dimension along which the first output is contiguous, else the largest; None for a point."""
    dims = shape.of_kind(DimKind.CC)
    found = [c for w in shape.writes if (c := shape.contiguous(w)) is not None and c in dims]
    return found[0] if found else max(dims, key=lambda d: (shape.extents[d], d), default=None)


def neighbour(shape: Shape, x: int) -> int | None:
    """The other cc dimension with the smallest stride in the output: the one that counts its rows."""
    dims = [d for d in shape.of_kind(DimKind.CC) if d != x]
    if not shape.writes:
        return None
    return min(dims, key=lambda d: (abs(shape.stride(shape.writes[0], d)) or 1 << 62, d), default=None)


def map_cpu(outline: ScheduleBuilder, x: int, machine: Machine) -> None:
    """Gives outer dimensions to work-groups; inside, one row of vectors follows the other."""
    shape, extents = outline.shape, outline.shape.extents
    lanes = vector_lanes(shape, x, machine)
    dims = shape.of_kind(DimKind.CC)
    points = prod(extents)
    wanted = GROUPS_PER_CORE * machine.units
    if shape.uneven:
        wanted = max(wanted, min(UNEVEN_GROUPS_PER_CORE * machine.units, points // ALONE))
    alone = points <= ALONE or shape.narrow
    tiles = {} if alone else outer_tiles(shape, [d for d in dims if d != x], wanted)
    groups = 1
    for d, tile in tiles.items():
        groups *= ceil_div(extents[d], tile)
    if groups < wanted and not alone:
        tiles[x] = round_up(ceil_div(extents[x], ceil_div(wanted, groups)), 8 * lanes)
    outline.step(tiles, dict(block_axes(tiles, extents, machine)))
    if lanes > 1:
        _turn(outline, x, lanes)
    if lanes > 1 and outline.tiles[x] >= lanes:
        outline.step({**dict.fromkeys(dims, 1), x: lanes})
        outline.step({x: 1}, {x: Unit(Layer.VEC, "x")})


def _turn(outline: ScheduleBuilder, x: int, lanes: int) -> None:
    """Turns small tiles around as it copies them, where all inputs are contiguous along another dimension
    than the output. So each of their lines is read once, and vectors need not gather their elements. Beside
    inputs that are read along, gathering costs no more than the copy."""
    shape = outline.shape
    y = _transposed(shape, x)
    moving = [a for a in shape.reads if shape.uses(a, x) and len(a.index) > 1]
    if y is None or any(shape.contiguous(a) != y or shape.patterns(a.buffer) > 1 for a in moving):
        return
    names = [b for b in shape.inputs if any(a.buffer == b for a in moving) and stageable(shape, b)]
    if {a.buffer for a in moving} - set(names):
        return
    line = LINE // max(map(shape.element_bytes, names))
    tiles = {**dict.fromkeys(shape.of_kind(DimKind.CC), 1), x: 2 * lanes, y: line}
    if all(outline.tiles[d] >= tiles[d] for d in (x, y)):
        outline.step(tiles, entries={b: shared_copy(shape, b, x, pad=False) for b in names})


def outer_tiles(shape: Shape, dims: list[int], wanted: int) -> dict[int, int]:
    """Tiles of the outermost dimensions (at most three) that give about `wanted` parts in all."""
    tiles: dict[int, int] = {}
    groups = 1
    for d in dims[:3]:
        if groups >= wanted:
            break
        tiles[d] = ceil_div(shape.extents[d], min(shape.extents[d], ceil_div(wanted, groups)))
        groups *= ceil_div(shape.extents[d], tiles[d])
    return tiles


def vector_lanes(shape: Shape, x: int, machine: Machine) -> int:
    """Lanes of a native vector along x, or fewer if x is shorter. 1 if nothing is contiguous along x, and for
    argmin and argmax whose keys are not as wide as the positions."""
    if not all(_positioned(shape, r) for r in shape.stage.results):
        return 1
    lanes = min(native_lanes(shape, machine), power_up(shape.extents[x] + 1) // 2)
    accesses = [a for a in (*shape.writes, *shape.reads) if shape.uses(a, x)]
    return lanes if any(abs(shape.stride(a, x)) == 1 for a in accesses) else 1


def native_lanes(shape: Shape, machine: Machine) -> int:
    """How many of the stage's values a vector register of a CPU holds, up to the widest vector type."""
    return min(16, max(2, machine.vector_bytes // max(4, shape.value_bytes)))


def _positioned(shape: Shape, result: Result) -> bool:
    """Whether keys, positions and payload all have 32 bits, so that one mask selects them."""
    if result.op is None or not result.op.name.startswith("arg"):
        return True
    return all(t.bits == 32 for t in result.types) and prod(shape.extents) < 1 << 31


def wide_elements(shape: Shape, x: int) -> int:
    """Contiguous elements of one thread if rows keep their alignment, else 1: those of 16 bytes in the arrays
    with the widest elements, and at most 8."""
    accesses = [a for a in (*shape.writes, *shape.reads) if shape.uses(a, x)]
    widest = max((shape.element_bytes(a.buffer) for a in accesses), default=4)
    width = min(LANES, ACCESS // widest)
    aligned = all(a.affine and _aligned(shape, a, x, width) for a in accesses)
    return width if aligned and shape.extents[x] % width == 0 else 1


def _aligned(shape: Shape, access: ShapeAccess, x: int, width: int) -> bool:
    others = [shape.stride(access, d) for d in range(len(shape.extents)) if d != x]
    offset = access.index[-1].const if access.index and access.index[-1] is not None else 0
    row = shape.program.buffer_of[access.buffer].shape[-1:]
    return (
        shape.stride(access, x) == 1
        and not offset % width
        and not any(s % width for s in others)
        and not any(n % width for n in row)
    )


def _map_gpu(outline: ScheduleBuilder, x: int, machine: Machine) -> None:
    """Each block writes whole rows, and each thread up to 16 bytes."""
    shape, extents = outline.shape, outline.shape.extents
    wide = wide_elements(shape, x)
    y = neighbour(shape, x)
    columns = min(THREADS, power_up(ceil_div(extents[x], wide)))
    rows = 1 if y is None else min(THREADS // columns, power_up(extents[y]))
    repeat = 4 if wide == 1 and ceil_div(extents[x], columns) >= 4 * machine.units else 1
    tiles = dict.fromkeys(shape.of_kind(DimKind.CC), 1)
    tiles[x] = columns * wide * repeat
    if y is not None:
        tiles[y] = rows
    outline.step(tiles, dict(block_axes(tiles, extents, machine, x)))
    outline.step({x: columns * wide})
    threads = {x: Unit(Layer.THR, "x")} | ({y: Unit(Layer.THR, "y")} if y is not None else {})
    outline.step({x: wide} | ({y: 1} if y is not None else {}), threads)
    if outline.tiles[x] == wide > 1:
        outline.step({x: 1}, {x: Unit(Layer.VEC, "x")})


def _transposed(shape: Shape, x: int) -> int | None:
    """The dimension along which an input is contiguous, if not the output's x; None if all agree."""
    for access in shape.reads:
        # an array of one dimension has no rows to transpose
        y = shape.contiguous(access) if len(access.index) > 1 else None
        if y is not None and y != x and shape.uses(access, x) and stageable(shape, access.buffer):
            return y
    return None


def _transpose(outline: ScheduleBuilder, x: int, y: int, machine: Machine) -> None:
    """Square tiles through shared memory, so that both sides move whole rows."""
    shape, extents = outline.shape, outline.shape.extents
    tiles = {**dict.fromkeys(shape.of_kind(DimKind.CC), 1), x: TRANSPOSE, y: TRANSPOSE}
    entries: dict[str, Mem] = {}
    room = machine.shared_per_block // 4
    for buffer in shape.inputs:
        accesses = shape.reads_of(buffer)
        if not stageable(shape, buffer) or all(
            len(a.index) < 2 or shape.contiguous(a) != y or not shape.uses(a, x) for a in accesses
        ):
            continue
        size = 2 * shape.footprint(buffer, tiles) * shape.element_bytes(buffer)
        if size <= room:
            room -= size
            entries[buffer] = staged(shape, buffer, Space.SM, None, attribute("pad", 1))
    outline.step(tiles, dict(block_axes(tiles, extents, machine, x)), entries=entries)
    outline.step({x: 1, y: 4}, {x: Unit(Layer.THR, "x"), y: Unit(Layer.THR, "y")})
