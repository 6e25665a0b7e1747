"""Contractions on a CPU: a register tile of vectors over packed panels of the second operand."""

from math import prod

from mdh.hardware import Layer, Space
from mdh.machine import Machine
from mdh.schedule.default.cpu_groups import is_contiguous, packing, shared
from mdh.schedule.default.grid import block_axes, ceil_div, divisors, grid_size, round_up
from mdh.schedule.default.map import GROUPS_PER_CORE, native_lanes, outer_tiles, vector_lanes
from mdh.schedule.default.operands import Contraction, is_product, shared_copy
from mdh.schedule.default.outline import ScheduleBuilder, attribute, held, staged
from mdh.schedule.default.shape import Shape
from mdh.schedule.model import ForEntry, Mem, Unit

HEIGHTS = (6, 4, 5)
"""Rows of the register tile, the best first. With two vectors a row, 8 to 12 vector registers accumulate."""
LOW = (4, 5, 6)
"""The same with vectors along the rows of a panel: compilers then keep a value of each row, too, and of 16
registers 6 rows leave too few."""
TALL = (8, 7, 6, 5, 4)
"""And for machines with 32 registers, as those with registers of WIDE bytes have."""
WIDE = 64
VECTORS = 2
BROAD, BROAD_HEIGHTS = 4, (6, 7, 5)
"""Vectors a row, and rows, where there are 32 registers and enough columns. 20 to 28 registers accumulate,
and each multiplication loads the fewest values. This also disturbs other threads of the core the least."""
ACCUMULATORS = 24
"""Of 32 vector registers, those that hold sums where a stage has several."""
SIDE = 32
"""Rows and columns of a group of a matrix times its own transpose."""
MANY = 8
"""Register tiles of the first of BROAD_HEIGHTS from which on a partial last one matters little."""
SPREAD = 2.0
"""Cycles of storing a result apart from its neighbours in a vector."""
WALKED = 0.45
"""Of the time of the multiplications: how long rows take to arrive whose elements lie apart along the sum."""
GATHERED = 2.0
"""Cycles of reading an element of a vector in place, where they lie apart."""
ALONE = 1 << 20
"""Points that one core finishes before others have woken up; so many form a group of their own."""
REUSE = 24
"""The number of rows from which on it pays to pack a panel of the second operand."""
READ = 2
"""Rows of the second operand that are read at once if it is not packed."""

SHORT = 4
"""The number of vectors in a row of columns below which a partial last one matters."""
UNROLLED = 16
"""Points of the small reduced dims (a convolution's window) that are unrolled."""


def contraction_cpu(shape: Shape, found: Contraction, machine: Machine) -> ScheduleBuilder:
    square = _with_itself(shape, found, machine)
    if square is not None:
        return square
    turned = _turned(shape, found, machine)
    if turned is not None:
        return _across(shape, turned, machine)
    found = _by_operands(shape, found, machine)
    height = _few(shape, found, machine)
    return _along(shape, found, machine) if height is None else _below(shape, found, machine, height)


def _along(shape: Shape, found: Contraction, machine: Machine) -> ScheduleBuilder:
    """Puts the lanes along the first of the columns."""
    outline = ScheduleBuilder(shape)
    column, row = found.columns[0], found.rows[0]
    lanes = vector_lanes(shape, column, machine)
    width = min(shape.extents[column], VECTORS * lanes)
    height = _height(shape.extents[row], machine)
    broad = _broad(shape, found, lanes, machine)
    if len(shape.stage.results) > 1:
        width, height = _several(shape, found, lanes, machine)
    elif broad is not None:
        width, height = BROAD * lanes, broad
    tiles = _blocks(shape, found, width, height, machine)
    outline.step(tiles, dict(block_axes(tiles, shape.extents, machine)))
    results = dict.fromkeys((*found.batch, *found.rows, *found.columns), 1)
    packed = _packed(shape, found, width, machine)
    fetched = _fetched(shape, found, packed, outline, machine)
    if fetched:
        outline.step(dict.fromkeys(found.batch, 1), entries=fetched)
    panel = {column: width, **dict.fromkeys((*found.batch, *found.columns[1:]), 1)}
    # vectors of columns come outside of rows, as later steps inherit it
    first = {column: ForEntry(1)}
    several = outline.tiles[column] > width
    outline.step(panel, first, entries=packed)
    outline.step({**results, column: width, row: height})
    near = shape.contiguous(shape.writes[0]) == column
    outline.step(
        dict.fromkeys(found.reduced, 1), entries=held(shape) if near else held(shape, fastest=column)
    )
    if lanes > 1 and outline.tiles[column] >= lanes:
        outline.step({row: 1, column: lanes}, {} if several else first, attrs=(attribute("unroll"),))
        outline.step({column: 1}, {column: Unit(Layer.VEC, "x")})
    return outline


def _with_itself(shape: Shape, found: Contraction, machine: Machine) -> ScheduleBuilder | None:
    """A matrix times its own transpose, which is read along the sum on both sides. A copy turns both around,
    so that a group has few rows, and parts of the sum as deep as its cache takes. A line of it that all rows
    and columns share, as weights of the terms, is copied besides. None in other cases."""
    second = [a for a in shape.reads_of(found.second) if shape.uses(a, found.columns[0])]
    plain = is_product(found) and len(found.reduced) == 1 and not found.batch
    apart = all(shape.contiguous(a) != found.columns[0] for a in second)
    sides = {found.rows[0], found.columns[0]}
    weights = {a.index for a in shape.reads_of(found.first) if not any(shape.uses(a, d) for d in sides)}
    two = len(weights) <= 1 and shape.patterns(found.first) - len(weights) == 2
    if found.first != found.second or not two or not (plain and apart):
        return None
    if prod(shape.extents) <= ALONE or len(shape.stage.results) > 1:
        return None
    outline = ScheduleBuilder(shape)
    row, column, reduced = found.rows[0], found.columns[0], found.reduced[0]
    lanes = vector_lanes(shape, column, machine)
    tiles = {row: SIDE, column: SIDE}
    outline.step(tiles, dict(block_axes(tiles, shape.extents, machine)))
    lines = 2 * SIDE + len(weights)
    room = machine.shared_per_block * 3 // 4 // (lines * shape.element_bytes(found.first))
    parts = {reduced: room} if room < shape.extents[reduced] else {}
    name = shape.stage.dims[column].name
    along = next(k for k, f in enumerate(second[0].index) if f is not None and name in f.names)
    copy = staged(shape, found.second, Space.SM, along)
    outline.step(parts, dict.fromkeys(parts, ForEntry(1)), entries={found.second: copy})
    outline.step({column: VECTORS * lanes}, {column: ForEntry(1)})
    outline.step({row: _height(SIDE, machine)})
    outline.step({reduced: 1}, entries=held(shape))
    if lanes > 1:
        outline.step({row: 1, column: lanes}, attrs=(attribute("unroll"),))
        outline.step({column: 1}, {column: Unit(Layer.VEC, "x")})
    return outline


def _few(shape: Shape, found: Contraction, machine: Machine) -> int | None:
    """Rows of a tile of BROAD vectors, for 32 registers, one result, and too few rows for packing to pay.
    None in other cases, and if the matrix' lines do not run along the columns."""
    rows, columns = (shape.extents[dims[0]] for dims in (found.rows, found.columns))
    plain = len(found.rows) == len(found.columns) == len(found.reduced) == 1 and not found.batch
    wide = columns >= SHORT * BROAD * vector_lanes(shape, found.columns[0], machine)
    large = prod(shape.extents) > ALONE and rows < REUSE
    if machine.vector_bytes < WIDE or not (plain and wide and large) or len(shape.stage.results) > 1:
        return None
    if shared_copy(shape, found.second, found.columns[0], pad=False) != staged(shape, found.second, Space.SM):
        return None
    return next((h for h in TALL if rows % h == 0), None)


def _below(shape: Shape, found: Contraction, machine: Machine, height: int) -> ScheduleBuilder:
    """A few rows times a matrix that is read in place, in runs of BROAD lines. A run is as much of the matrix
    as the core's own cache keeps until the next rows have used it."""
    outline = ScheduleBuilder(shape)
    row, column, reduced = found.rows[0], found.columns[0], found.reduced[0]
    lanes = vector_lanes(shape, column, machine)
    width = BROAD * lanes
    tiles = {column: width}
    outline.step(tiles, dict(block_axes(tiles, shape.extents, machine)))
    kept = machine.shared_per_block // (width * shape.element_bytes(found.second))
    if height < shape.extents[row] and kept < shape.extents[reduced]:
        outline.step({reduced: kept}, {reduced: ForEntry(1)})
    outline.step({row: height}, {row: ForEntry(1)})
    outline.step({reduced: min(READ, shape.extents[reduced])}, entries=held(shape))
    outline.step({row: 1, column: lanes}, attrs=(attribute("unroll"),))
    outline.step({column: 1}, {column: Unit(Layer.VEC, "x")})
    return outline


def _turned(shape: Shape, found: Contraction, machine: Machine) -> Contraction | None:
    """Exchanges the sides if the columns are too few to fill their vectors, some row dimension fills them,
    and its operand can be packed with that dimension fastest, in less time than the products take. Otherwise
    None."""
    column = found.columns[0]
    lanes, extent = native_lanes(shape, machine), shape.extents[column]
    whole = [d for d in found.rows if shape.extents[d] % lanes == 0]
    if extent % lanes == 0 or extent >= SHORT * lanes or not whole:
        return None
    lane = max(whole, key=lambda d: shape.extents[d])
    columns = (lane, *(d for d in found.rows if d != lane))
    turned = Contraction(found.second, found.first, found.columns, columns, found.batch, found.reduced)
    width = min(shape.extents[lane], VECTORS * lanes)
    used = prod(shape.extents[d] for d in found.columns)
    fast = packing(shape, turned, machine) <= used
    return turned if fast and _packed(shape, turned, width, machine) else None


def _by_operands(shape: Shape, found: Contraction, machine: Machine) -> Contraction:
    """Exchanges the sides if the second operand lies apart along the columns and the first one is contiguous
    along a dimension of the rows, if that takes less time: then no panel is turned around as it is packed,
    but results are stored apart."""
    column, lanes = found.columns[0], native_lanes(shape, machine)
    near = [d for d in found.rows if is_contiguous(shape, found.first, d)]
    if is_contiguous(shape, found.second, column) or not near or len(shape.outputs) > 1:
        return found
    lane = max(near, key=lambda d: shape.extents[d])
    rows = prod(shape.extents[d] for d in found.rows)
    terms = prod(shape.extents[d] for d in found.reduced)
    packed = _packed(shape, found, min(shape.extents[column], VECTORS * lanes), machine)
    turning = packing(shape, found, machine) / rows if packed else GATHERED * lanes
    stay = _vectors(shape.extents[column], lanes) + turning + WALKED
    exchanged = _vectors(shape.extents[lane], lanes) + SPREAD * 2 * lanes / terms
    if stay <= exchanged:
        return found
    columns = (lane, *(d for d in found.rows if d != lane))
    return Contraction(found.second, found.first, found.columns, columns, found.batch, found.reduced)


def _vectors(extent: int, lanes: int) -> float:
    """Lanes of the vectors that a row of results takes, over its elements."""
    return round_up(extent, lanes) / extent


def _across(shape: Shape, found: Contraction, machine: Machine) -> ScheduleBuilder:
    """Puts the lanes along a dimension that is not contiguous in memory. Its operand is packed, and results
    are held packed too."""
    outline = ScheduleBuilder(shape)
    column, row = found.columns[0], found.rows[0]
    lanes = native_lanes(shape, machine)
    width = min(shape.extents[column], VECTORS * lanes)
    height = min(HEIGHTS, key=lambda h: (ceil_div(shape.extents[row], h), h))
    tiles = _blocks(shape, found, width, height, machine)
    outline.step(tiles, dict(block_axes(tiles, shape.extents, machine)))
    panel = {column: width, **dict.fromkeys((*found.batch, *found.columns[1:]), 1)}
    outline.step(panel, {column: ForEntry(1)}, entries=_packed(shape, found, width, machine))
    results = dict.fromkeys((*found.batch, *found.rows, *found.columns), 1)
    outline.step({**results, column: width, row: height})
    longest = max(found.reduced, key=lambda d: (shape.extents[d], -d))
    window = [d for d in found.reduced if d != longest]
    outline.step({longest: 1}, entries=held(shape, fastest=column))
    small = prod(shape.extents[d] for d in window) <= UNROLLED
    outline.step(dict.fromkeys(window, 1), attrs=(attribute("unroll"),) if small else ())
    outline.step({row: 1, column: lanes}, attrs=(attribute("unroll"),))
    outline.step({column: 1}, {column: Unit(Layer.VEC, "x")})
    return outline


def _broad(shape: Shape, found: Contraction, lanes: int, machine: Machine) -> int | None:
    """Rows of a tile of BROAD vectors; None if too many tiles would be partial, or the panel not packed."""
    rows, columns = shape.extents[found.rows[0]], shape.extents[found.columns[0]]
    width = BROAD * lanes
    fits = columns % width == 0 or columns >= SHORT * width
    if machine.vector_bytes < WIDE or not fits or len(found.rows) > 1:
        return None
    if not _packed(shape, found, width, machine):
        return None
    cut = BROAD_HEIGHTS[0] if rows >= MANY * BROAD_HEIGHTS[0] else None
    return next((h for h in BROAD_HEIGHTS if rows % h == 0), cut)


def _several(shape: Shape, found: Contraction, lanes: int, machine: Machine) -> tuple[int, int]:
    """Columns and rows of the register tile of each of several sums, which share the registers."""
    count = len(shape.stage.results)
    room = (ACCUMULATORS if machine.vector_bytes >= WIDE else ACCUMULATORS // 2) // count
    vectors = VECTORS if room >= 2 * VECTORS else 1
    width = min(shape.extents[found.columns[0]], vectors * lanes)
    most = max(1, room // vectors)
    rows = shape.extents[found.rows[0]]
    return width, next((h for h in range(most, most // 2, -1) if rows % h == 0), min(most, rows))


def _height(extent: int, machine: Machine) -> int:
    """Rows of the register tile, such that the edge cuts none, if there is such a number."""
    heights = TALL if machine.vector_bytes >= WIDE else LOW
    return next((h for h in heights if extent % h == 0), min(LOW[0], extent))


def _blocks(shape: Shape, found: Contraction, width: int, height: int, machine: Machine) -> dict[int, int]:
    """Tiles of a group, such that the groups fill the cores. If one core does everything, there is one
    group."""
    if prod(shape.extents) <= ALONE:
        return {}
    column, row = found.columns[0], found.rows[0]
    wanted = GROUPS_PER_CORE * machine.units
    tiles = outer_tiles(shape, [*found.batch, *found.columns[1:]][:2], wanted)
    groups = grid_size(dict.fromkeys(tiles, Unit(Layer.BLK, "x")), tiles, shape.extents)
    packed = bool(_packed(shape, found, width, machine))
    way = shared(shape, found, groups, width, packed, machine)
    rows = sorted(found.rows, key=lambda d: (d == row, -shape.extents[d]))
    cut = outer_tiles(shape, rows[: max(0, 2 - len(tiles))], way.parts)
    if row in cut:
        cut[row] = _whole(shape.extents[row], cut[row], height)
    return {**tiles, column: min(shape.extents[column], width * way.panels), **cut}


def _whole(extent: int, tile: int, height: int) -> int:
    """A multiple of `height` near `tile` that divides the extent: a partial group guards every access."""
    exact = [t for t in divisors(extent) if t % height == 0 and tile <= 2 * t <= 4 * tile]
    return min(exact, key=lambda t: (abs(t - tile), t), default=min(extent, round_up(tile, height)))


def _fetched(
    shape: Shape, found: Contraction, packed: dict[str, Mem], outline: ScheduleBuilder, machine: Machine
) -> dict[str, Mem]:
    """Copies one problem's operand in its own order, line by line, before the transposing copy. Transposing
    directly would wait for a line of each column at once."""
    straight = staged(shape, found.second, Space.SM)
    if not found.batch or packed in ({}, {found.second: straight}):
        return {}
    tiles = {**dict(enumerate(outline.tiles)), **dict.fromkeys(found.batch, 1)}
    size = shape.footprint(found.second, tiles) * shape.element_bytes(found.second)
    return {found.second: straight} if size <= machine.shared_per_block // 8 else {}


def _packed(shape: Shape, found: Contraction, width: int, machine: Machine) -> dict[str, Mem]:
    """A panel of the second operand, one register tile wide, if it fits the cache share and is reused."""
    tiles = {found.columns[0]: width, **{d: shape.extents[d] for d in found.reduced}}
    size = shape.footprint(found.second, tiles) * shape.element_bytes(found.second)
    reused = prod(shape.extents[d] for d in found.rows) >= REUSE
    if not reused or shape.patterns(found.second) > 1 or size > machine.shared_per_block * 3 // 4:
        return {}
    return {found.second: shared_copy(shape, found.second, found.columns[0], pad=False)}
