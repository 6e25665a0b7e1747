"""Reductions that are not contractions: sums of rows and columns, dot products, gathers, matches, filters."""

from collections.abc import Mapping
from math import prod

from mdh.hardware import Combine, Layer, Space
from mdh.ir.program import DimKind
from mdh.language import LANGUAGES
from mdh.machine import Machine
from mdh.schedule.default.grid import AXES, block_axes, ceil_div, grid_size, power_up, round_up
from mdh.schedule.default.joining import added
from mdh.schedule.default.map import ALONE, GROUPS_PER_CORE, LINE, outer_tiles, vector_lanes
from mdh.schedule.default.operands import diagonal_dims
from mdh.schedule.default.outline import ScheduleBuilder, attribute, held, stageable, staged
from mdh.schedule.default.shape import Shape, ShapeAccess
from mdh.schedule.model import Caret, Mem, Unit

THREADS = 256
WARP = 32
BLOCKS_PER_UNIT = 4
UNROLL = 4
"""Terms of a thread's sum that are unrolled."""
AHEAD = 8
"""Terms that are read at once if they are no gathers; of TERMS in all."""
TERMS = 32
WINDOW = 64
"""The most terms of a sum that may be unrolled."""
SQUARE, LINES = 4, 4
"""SQUARE: results of a thread along each of two dimensions. LINES: threads of a block along the outer one."""
SHARED = 16 * 1024
HELD = 160
"""The most elements of inputs that a thread holds in registers."""
PART = 2048
"""The fewest iterations of a block that shares a sum along several dimensions."""
SECTOR = 32
"""Bytes that a GPU's memory gives at once."""
ROWS = 8
"""Rows that a CPU sums at once. Their sums and what they share take 9 to 16 vector registers."""
TURNED = 64
"""Elements of the tiles of a CPU's sum along a dimension that only some inputs are contiguous along: each of
their lines is used up while it is in the first cache."""


def reduction(shape: Shape, machine: Machine, target: str, *, adding: bool = False) -> ScheduleBuilder:
    """The steps. adding: blocks that share a sum add to the outputs."""
    outline = ScheduleBuilder(shape)
    results = shape.of_kind(DimKind.CC)
    reduced = shape.of_kind(DimKind.PW)
    lane = _lane(shape)
    if machine.kind == "cpu":
        _cpu(outline, _along(shape) if lane is None else lane, machine)
    elif (windows := sliding(shape, WINDOW)) is not None:
        _window(outline, windows, machine)
    elif shape.keeps_order:
        _results_only(outline, machine)
    elif lane in reduced:
        _rows(outline, lane, machine, target, adding)
    else:
        x = lane if lane in results else max(results, key=lambda d: shape.extents[d], default=None)
        if x is None:
            _rows(outline, max(reduced, key=lambda d: shape.extents[d]), machine, target, adding)
        else:
            _columns(outline, x, machine, adding)
    return outline


def sliding(shape: Shape, most: int) -> ShapeAccess | None:
    """The one input whose elements neighbouring results share, each through a window of at most `most`
    elements, along the output's two last dimensions."""
    reduced, results = shape.of_kind(DimKind.PW), shape.of_kind(DimKind.CC)
    if len(results) < 2 or len(shape.writes) != 1 or prod(shape.extents[d] for d in reduced) > most:
        return None
    found = [a for a in shape.reads if a.affine and a.buffer in shape.inputs and _slides(shape, a)]
    last = _last_two(shape)
    if len(found) != 1 or last is None or not stageable(shape, found[0].buffer):
        return None
    tiles = {**{d: shape.extents[d] for d in reduced}, last[0]: SQUARE, last[1]: SQUARE}
    return found[0] if shape.footprint(found[0].buffer, tiles) <= HELD else None


def _slides(shape: Shape, access: ShapeAccess) -> bool:
    """Whether an index of the access moves with both a result and a term of its sum."""
    kinds = {d.name: d.kind for d in shape.stage.dims if d.extent > 1}
    moved = ({kinds[n] for n in f.names if n in kinds} for f in access.index if f is not None)
    return any({DimKind.CC, DimKind.PW} <= kind for kind in moved)


def _window(outline: ScheduleBuilder, access: ShapeAccess, machine: Machine) -> None:
    """Keeps a thread's window of the input in registers for its square of results. The block shares inputs
    that only the sum's terms move through."""
    shape, extents = outline.shape, outline.shape.extents
    y, x = _last_two(shape) or (0, 0)
    tiles = {**dict.fromkeys(shape.of_kind(DimKind.CC), 1), y: LINES * SQUARE, x: WARP * SQUARE}
    results = set(shape.of_kind(DimKind.CC))
    room = min(machine.shared_per_block, SHARED)
    weights = {}
    for a in shape.reads:
        fixed = (
            a.affine and a.index and a.buffer in shape.inputs and not any(shape.uses(a, d) for d in results)
        )
        size = shape.footprint(a.buffer, dict(enumerate(extents))) * shape.element_bytes(a.buffer)
        if fixed and size <= room and a.buffer not in weights:
            weights[a.buffer] = staged(shape, a.buffer, Space.SM)
            room -= size
    outline.step(tiles, dict(block_axes(tiles, extents, machine, x)), entries=weights)
    own = {y: SQUARE, x: SQUARE}
    outline.step(
        own,
        {y: Unit(Layer.THR, "y"), x: Unit(Layer.THR, "x")},
        entries={access.buffer: staged(shape, access.buffer, Space.RM)},
    )
    outline.step(
        dict.fromkeys(shape.of_kind(DimKind.PW), 1), entries=held(shape), attrs=(attribute("unroll"),)
    )


def _last_two(shape: Shape) -> tuple[int, int] | None:
    """The dimensions that move the output's last two positions."""
    results = set(shape.of_kind(DimKind.CC))
    moved = [
        [d for d in results if f is not None and shape.stage.dims[d].name in f.names]
        for f in shape.writes[0].index
    ]
    last = [ds[0] for ds in moved if len(ds) == 1][-2:]
    return (last[0], last[1]) if len(set(last)) == 2 else None


def _lane(shape: Shape) -> int | None:
    """The contiguous dimension of the input that moves with most dimensions. Neighbouring lanes take its
    neighbours."""
    reads = [a for a in shape.reads if a.buffer in shape.inputs and shape.contiguous(a) is not None]
    results = shape.of_kind(DimKind.CC)
    both = [
        a
        for a in reads
        if not results
        or (
            any(shape.uses(a, d) for d in results)
            and any(shape.uses(a, d) for d in shape.of_kind(DimKind.PW))
        )
        or not a.affine
    ]
    widest = max(both, key=lambda a: sum(shape.uses(a, d) for d in range(len(shape.extents))), default=None)
    return None if widest is None else shape.contiguous(widest)


def _along(shape: Shape) -> int | None:
    """A reduced dimension along which an input is contiguous, if no input moves with results and it."""
    found = (shape.contiguous(a) for a in shape.reads if a.buffer in shape.inputs)
    return next((d for d in found if d in shape.of_kind(DimKind.PW)), None)


def _results_only(outline: ScheduleBuilder, machine: Machine) -> None:
    """One thread computes a result; its sum runs in C's order."""
    shape = outline.shape
    results = shape.of_kind(DimKind.CC)
    if not results:
        return
    x = max(results, key=lambda d: shape.extents[d])
    tiles = {**dict.fromkeys(results, 1), x: min(64, power_up(shape.extents[x]))}
    outline.step(tiles, dict(block_axes(tiles, shape.extents, machine, x)))
    outline.step({x: 1}, {x: Unit(Layer.THR, "x")})


def _rows(outline: ScheduleBuilder, k: int, machine: Machine, target: str, adding: bool) -> None:
    """Lanes along the reduced dimension: a warp a row, a block a row, or many blocks if rows are few."""
    shape, extents = outline.shape, outline.shape.extents
    results = shape.of_kind(DimKind.CC)
    wide = 4 if extents[k] % 4 == 0 and extents[k] >= 4 * WARP else 1
    y = max(results, key=lambda d: extents[d], default=None)
    many = y is not None and extents[y] >= 8 and extents[k] <= 4096
    lanes = WARP if many else min(THREADS, power_up(ceil_div(extents[k], wide)))
    tiles = dict.fromkeys(results, 1)
    if many and y is not None:
        tiles[y] = THREADS // WARP
    axes = block_axes(tiles, extents, machine)
    _split_reduction(outline, tiles, k, lanes * wide * 2, grid_size(axes, tiles, extents), machine)
    _split_others(outline, tiles, k, lanes * wide * 2, machine)
    axes = block_axes(tiles, extents, machine)
    entries: dict[str, Mem] = {}
    units = ceil_div(min(outline.tiles[k], lanes * wide), wide)
    if many and LANGUAGES[target].seen(machine).shuffle and units & (units - 1) == 0:
        entries = {b: Mem(Caret(), (attribute("combine", Combine.SHUFFLE),)) for b in shape.outputs}
    outline.step(tiles, dict(axes), entries=_joined(shape, axes, adding))
    across = _across(shape, k)
    outline.step({**dict.fromkeys(shape.of_kind(DimKind.PW), 1), **across, k: lanes * wide})
    threads = {k: Unit(Layer.THR, "x")} | ({y: Unit(Layer.THR, "y")} if many and y is not None else {})
    split = outline.tiles[k] > wide
    outline.step(
        {k: wide} | ({y: 1} if many and y is not None else {}), threads, entries=entries if split else {}
    )
    if across:
        outline.step({}, entries=_read_ahead(shape, {**across, k: outline.tiles[k]}))
    outline.step({**dict.fromkeys(across, 1), k: 1}, attrs=(attribute("unroll"),))


def _across(shape: Shape, k: int) -> dict[int, int]:
    """Another reduced dimension along which an input is contiguous that also moves with the lanes' dimension
    `k`, and its tile of a thread, which then reads whole sectors of that input. Empty if there is none."""
    found = {
        d: SECTOR // shape.element_bytes(a.buffer)
        for a in shape.reads
        if stageable(shape, a.buffer) and shape.uses(a, k)
        for d in (shape.contiguous(a),)
        if d in shape.of_kind(DimKind.PW) and d is not None and d != k
    }
    fitting = [d for d, n in found.items() if shape.extents[d] >= n]
    best = max(fitting, key=lambda d: shape.extents[d], default=None)
    return {} if best is None else {best: min(AHEAD, found[best])}


def _read_ahead(shape: Shape, own: dict[int, int]) -> dict[str, Mem]:
    """Copies in registers of the inputs of which a thread reads one element for each term of its tile `own`,
    as long as it can hold them."""
    out: dict[str, Mem] = {}
    room = HELD
    for a in shape.reads:
        able = stageable(shape, a.buffer) and not diagonal_dims(shape, a.buffer, own)
        if a.buffer not in out and able and all(shape.uses(a, d) for d in own):
            size = shape.footprint(a.buffer, own)
            if size <= room:
                room -= size
                out[a.buffer] = staged(shape, a.buffer, Space.RM)
    return out


def _columns(outline: ScheduleBuilder, x: int, machine: Machine, adding: bool) -> None:
    """Puts lanes along the results. The reduced dimension goes over the block's other axis and, if needed,
    over blocks."""
    shape, extents = outline.shape, outline.shape.extents
    k = max(shape.of_kind(DimKind.PW), key=lambda d: extents[d])
    columns = min(64, power_up(extents[x]))
    tiles = {**dict.fromkeys(shape.of_kind(DimKind.CC), 1), x: columns}
    blocks = grid_size(block_axes(tiles, extents, machine), tiles, extents)
    lines = min(THREADS // columns, power_up(ceil_div(extents[k], UNROLL)))
    if blocks >= BLOCKS_PER_UNIT * 8 * machine.units:
        lines = 1
    # so several loads are in flight before the first is needed
    ahead = _moving(shape, x, k)
    own = min(TERMS, round_up(ceil_div(extents[k], lines), AHEAD)) if ahead else UNROLL
    least = lines * own if ahead else lines * UNROLL * 4
    _split_reduction(outline, tiles, k, least, blocks, machine)
    _split_others(outline, tiles, k, least, machine)
    axes = block_axes(tiles, extents, machine, x)
    outline.step(tiles, dict(axes), entries=_joined(shape, axes, adding))
    outline.step({**dict.fromkeys(shape.of_kind(DimKind.PW), 1), k: lines * own})
    outline.step({x: 1, k: own}, {x: Unit(Layer.THR, "x"), k: Unit(Layer.THR, "y")})
    if ahead:
        outline.step({k: AHEAD}, entries=ahead, attrs=(attribute("unroll"),))
    outline.step({k: 1}, attrs=(attribute("unroll"),))


def _moving(shape: Shape, x: int, k: int) -> dict[str, Mem]:
    """Copies of the inputs of which a thread of `_columns` reads one element for each of its terms."""
    return _read_ahead(shape, {x: 1, k: AHEAD}) if len(shape.of_kind(DimKind.PW)) == 1 else {}


def _split_reduction(
    outline: ScheduleBuilder, tiles: dict[int, int], k: int, least: int, blocks: int, machine: Machine
) -> None:
    """Puts the reduced dimension on blocks, in multiples of `least`, if results do not fill the grid."""
    extent = outline.shape.extents[k]
    parts = min(BLOCKS_PER_UNIT * machine.units // max(1, blocks), ceil_div(extent, least))
    if parts > 1:
        tiles[k] = round_up(ceil_div(extent, parts), least)


def _split_others(
    outline: ScheduleBuilder, tiles: dict[int, int], k: int, least: int, machine: Machine
) -> None:
    """Puts further reduced dimensions on blocks while results and `k` do not fill the grid and an axis is
    left. A block keeps at least `least` terms of a sum and PART iterations, and whole sectors of the inputs
    that are contiguous along such a dimension."""
    shape, extents = outline.shape, outline.shape.extents
    reduced = shape.of_kind(DimKind.PW)
    for d in sorted(set(reduced) - {k}, key=lambda d: (-extents[d], d)):
        axes = block_axes(tiles, extents, machine)
        if len(axes) == len(AXES):
            return
        terms = prod(tiles.get(other, extents[other]) for other in reduced if other != d)
        results = prod(t for other, t in tiles.items() if other not in reduced)
        fewest = ceil_div(max(least, ceil_div(PART, results)), terms)
        blocks = grid_size(axes, tiles, extents)
        _split_reduction(outline, tiles, d, round_up(fewest, _sector(shape, d)), blocks, machine)


def _sector(shape: Shape, d: int) -> int:
    """Elements of a sector of the inputs that are contiguous along a dimension; 1 if there are none."""
    sizes = (
        shape.element_bytes(a.buffer)
        for a in shape.reads
        if a.buffer in shape.inputs and shape.contiguous(a) == d
    )
    return SECTOR // min(sizes, default=SECTOR)


def _joined(shape: Shape, axes: Mapping[int, Unit], adding: bool) -> dict[str, Mem] | None:
    """The entries of the outputs where blocks share a sum and may add to them."""
    shared = any(d in axes for d in shape.of_kind(DimKind.PW))
    return added(shape.outputs) if adding and shared else None


def _cpu(outline: ScheduleBuilder, lane: int | None, machine: Machine) -> None:
    """Gives results to work-groups and vector lanes to a contiguous dimension. Partial results are in
    registers."""
    shape, extents = outline.shape, outline.shape.extents
    results = list(shape.of_kind(DimKind.CC))
    reduced = shape.of_kind(DimKind.PW)
    wanted = 1 if prod(extents) <= ALONE or shape.narrow else GROUPS_PER_CORE * machine.units
    lanes = 1 if lane is None else vector_lanes(shape, lane, machine)
    tiles = outer_tiles(shape, results, wanted)
    row = None if lane is None else _shared_row(shape, lane)
    if row in tiles and row is not None and lane in reduced:
        tiles[row] = round_up(tiles[row], ROWS)
    if lane in tiles and lane is not None and lanes > 1:
        tiles[lane] = round_up(tiles[lane], 2 * lanes)
    groups = grid_size(block_axes(tiles, extents, machine), tiles, extents)
    k = max(reduced, key=lambda d: extents[d])
    if groups * 2 <= machine.units and len(results) < 3 and not shape.keeps_order:
        least = 64 * lanes
        parts = min(ceil_div(wanted, groups), ceil_div(extents[k], least))
        if parts > 1:
            tiles[k] = round_up(ceil_div(extents[k], parts), least)
    outline.step(tiles, dict(block_axes(tiles, extents, machine)))
    if lanes == 1 or lane is None or outline.tiles[lane] < lanes or (lane in reduced and shape.keeps_order):
        return
    if lane in reduced:
        _along_sum(outline, lane, lanes)
        return
    width = 4 * lanes if outline.tiles[lane] >= 4 * lanes else lanes
    outline.step({**dict.fromkeys(results, 1), lane: width})
    outline.step(dict.fromkeys(reduced, 1), entries=held(shape))
    outline.step({lane: lanes})
    outline.step({lane: 1}, {lane: Unit(Layer.VEC, "x")})


def _along_sum(outline: ScheduleBuilder, lane: int, lanes: int) -> None:
    """Puts vector lanes along a reduced dimension. Several rows go along at once if they share an input,
    which is loaded once for all of them. Small tiles use up the lines of inputs that are contiguous along
    another reduced dimension."""
    shape = outline.shape
    results, reduced = (shape.of_kind(kind) for kind in (DimKind.CC, DimKind.PW))
    row = _shared_row(shape, lane)
    rows = {} if row is None else {row: ROWS}
    outline.step({**dict.fromkeys(results, 1), **rows})
    turned = [d for d in _turned(shape, lane) if d in reduced]
    if turned:
        outline.step({**dict.fromkeys(turned, TURNED), lane: max(lanes, LINE // shape.value_bytes)})
    together = held(shape) if row is not None and outline.tiles[row] > 1 else {}
    outline.step({**dict.fromkeys(reduced, 1), lane: lanes}, entries=together)
    if together:
        outline.step(dict.fromkeys(results, 1), attrs=(attribute("unroll"),))
    outline.step({lane: 1}, {lane: Unit(Layer.VEC, "x")})


def _shared_row(shape: Shape, lane: int) -> int | None:
    """The largest dimension of the results along which an input that moves with the lanes stands still while
    another one moves, or lies contiguous. None without any, or if a row has more than one result to hold."""
    near = _turned(shape, lane)
    moving = [a for a in shape.reads if a.buffer in shape.inputs and a.affine and shape.uses(a, lane)]
    found = [
        d
        for d in shape.of_kind(DimKind.CC)
        if shape.extents[d] >= ROWS and (d in near or len({shape.uses(a, d) for a in moving}) == 2)
    ]
    single = len(shape.stage.results) == len(shape.outputs) == 1
    return max(found, key=lambda d: shape.extents[d], default=None) if single else None


def _turned(shape: Shape, lane: int) -> list[int]:
    """The dimensions along which inputs are contiguous that move with the lanes, but not line by line."""
    found = (
        shape.contiguous(a)
        for a in shape.reads
        if a.buffer in shape.inputs and a.affine and shape.uses(a, lane) and abs(shape.stride(a, lane)) != 1
    )
    return list(dict.fromkeys(d for d in found if d is not None and d != lane))
