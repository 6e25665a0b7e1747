"""Groups of stages that work on the same rows, on a GPU: a block keeps its rows in shared memory, or in the
cache of the first level.

A long row has a block, whose threads take vectors of neighbours by turns, so that a warp reads and writes
whole lines. Several short rows share a block, and a warp or a part of one takes each.
"""

from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from math import isqrt, prod, sqrt

from mdh.hardware import Combine, Layer, Space
from mdh.ir.program import DimKind
from mdh.machine import Machine
from mdh.schedule.default.grid import AXES, block_axes, ceil_div, power_up
from mdh.schedule.default.map import wide_elements
from mdh.schedule.default.outline import ScheduleBuilder, attribute, staged
from mdh.schedule.default.row_groups import RowGroup, RowStage, fastest_first, inner_section, side_by_side
from mdh.schedule.model import Caret, Mem, Section, Unit

SHORT = 256
"""The longest row that a warp takes. On an H200 a block a row is 10 % faster for 512 columns of f32, and as
fast for 256."""
FEW = 8
"""Elements of a column for each thread of a block."""
LEAST, MOST = 64, 1024
"""Threads of a block that has a row."""
CACHED = 1 << 16
"""Bytes of the longest row that blocks leave in the cache of the first level. Its stages then read it there,
which takes fewer instructions and barriers than a copy."""
VECTORS = 16
"""Vectors of a thread that are unrolled, so that all of their loads are on their way at once."""
TOGETHER = 128
"""Threads of a block that has several rows."""
WARP = 32
COLUMNS = (32, 16)
"""Rows of a block where rows lie side by side in memory, as columns do: neighbours in whole lines, or halves
of them."""
OWN = 4
"""The fewest elements of a lane, if the row has more: with fewer, joining what the lanes have costs more."""
SINGLE = 0.7
"""What elements one by one are worth against vectors, where lanes take them."""


@dataclass(frozen=True, slots=True)
class Deal:
    """How threads take a dimension: `threads` of them, `tile` elements each, `wide` neighbours at once."""

    threads: int
    tile: int
    wide: int = 1


Deals = Mapping[int, Deal]
"""By dimension, fastest first: the axes of the threads are x, y and z in this order."""


def rows_gpu(group: RowGroup, machine: Machine) -> Iterator[tuple[Section, ...]]:
    """The sections of the group's stages, the reader's last: the best first, in case its rows do not fit."""
    side = side_by_side(group)
    if side is not None:
        for columns in COLUMNS:
            yield _columns(group, machine, side, min(columns, power_up(group.reader.shape.extents[side])))
    elif max(s.points for s in group.stages) <= SHORT:
        yield from _short(group, machine)
    else:
        yield from _long(group, machine)


def deal(extent: int, threads: int, wide: int = 1) -> Deal:
    """At most so many threads, each with as many elements as the others but the last."""
    turns = ceil_div(ceil_div(extent, wide), threads)
    return Deal(ceil_div(extent, turns * wide), min(extent, turns * wide), wide)


def lanes(extent: int, most: int, wide: int = 1) -> Deal:
    """A power of two of lanes, so that they combine by shuffles: many of them, of which few have less to do
    than the others, with vectors if it costs little."""
    found = []
    for w in {wide, 1}:
        count = most
        while count:
            tried = deal(extent, count, w)
            if tried.threads == count and tried.tile >= min(OWN, extent):
                used = extent / (count * tried.tile)
                found.append((used * sqrt(count) * (1.0 if w == wide else SINGLE), -w, tried))
            count //= 2
    return max(found, key=lambda x: x[:2])[2]


def _wide(stage: RowStage) -> int:
    """Neighbours that a thread takes at once."""
    order = fastest_first(stage)
    return wide_elements(stage.shape, order[0]) if order else 1


def _widest(stage: RowStage) -> int:
    """Bytes of the widest elements along the row."""
    shape, order = stage.shape, fastest_first(stage)
    along = [a for a in (*shape.writes, *shape.reads) if any(shape.uses(a, d) for d in order)]
    return max((shape.element_bytes(a.buffer) for a in along), default=4)


def _long(group: RowGroup, machine: Machine) -> Iterator[tuple[Section, ...]]:
    """A row a block, of as many threads as the power of two below twice the root of the row's bytes. Of the
    schedules that were timed on an H200 these are the fastest, or 1 % behind, for softmax and layer
    normalisation of 4,096 rows of 1,024, 4,096 and 16,384 columns, in f32 and bf16. Where there are
    fewer rows than the device has room for, each gets more threads."""
    most = min(MOST, machine.threads_per_block)
    points = max(s.points for s in group.stages)
    size = points * max(_widest(s) for s in group.stages)
    threads = min(MOST, max(LEAST, power_up(isqrt(4 * size) + 1) // 2))
    room = machine.units * MOST // group.rows
    while 2 * threads <= min(room, points // _wide(group.reader)):
        threads *= 2

    def deals(stage: RowStage, given: int) -> Deals:
        return _along(stage, min(given, most, threads), deal)

    if size <= CACHED and all(_wide(s) > 1 for s in group.stages):
        yield _sections(group, machine, {}, deals, cached=True)
    yield _sections(group, machine, {}, deals)


def _short(group: RowGroup, machine: Machine) -> Iterator[tuple[Section, ...]]:
    """Several rows a block, each for a warp or a part of one, as long as all multiprocessors have blocks."""
    reader = group.reader
    extents = reader.shape.extents
    each = max(prod(x.threads for x in _along(s, WARP, lanes).values()) for s in group.stages)
    row = max((d for d in reader.kept if extents[d] > 1), default=None)
    count = 1 if row is None else min(extents[row], TOGETHER // each)
    while count > 1 and group.rows < 2 * machine.units * count:
        count //= 2
    if count == 1:
        yield from _long(group, machine)
        return

    def deals(stage: RowStage, given: int) -> Deals:
        own = _along(stage, WARP, lanes)
        mine = (d for d, other in stage.kept.items() if other == row)
        return {**own, **{d: Deal(count, 1) for d in mine}}

    yield _sections(group, machine, {row: count} if row is not None else {}, deals)


def _columns(group: RowGroup, machine: Machine, side: int, columns: int) -> tuple[Section, ...]:
    """Lanes along neighbouring rows; lines of a block share each row."""
    points = max(s.points for s in group.stages)
    most = min(MOST, machine.threads_per_block) // columns
    lines = min(most, power_up(ceil_div(points, FEW)))

    def deals(stage: RowStage, given: int) -> Deals:
        beside = {d: Deal(columns, 1) for d, other in stage.kept.items() if other == side}
        return {**beside, **_along(stage, min(lines, max(1, given // columns)), deal, single=True, axes=2)}

    return _sections(group, machine, {side: columns}, deals)


def _along(
    stage: RowStage, threads: int, dealt: Callable[[int, int, int], Deal], *, single: bool = False,
    axes: int = 2,
) -> dict[int, Deal]:  # fmt: skip
    """Threads along a row, which take its fastest dimension first. single: no vectors."""
    out = dict[int, Deal]()
    for d in fastest_first(stage)[:axes]:
        wide = 1 if out or single else _wide(stage)
        out[d] = dealt(stage.shape.extents[d], threads, wide)
        threads = max(1, threads // out[d].threads)
    return out


def _sections(
    group: RowGroup, machine: Machine, tiles: Mapping[int, int], deals: Callable[[RowStage, int], Deals],
    *, cached: bool = False,
) -> tuple[Section, ...]:  # fmt: skip
    """tiles: rows of a block, by kept dimension of the reader; of others one. deals: of a stage, given the
    most threads that it may have. cached: stages read the row again from where it lies."""
    reader = group.reader
    cut = {d: tiles.get(d, 1) for d in reader.kept}
    mine = deals(reader, MOST)
    given = _count(mine)
    own = {stage.name: deals(stage, given) for stage in group.inner}
    near = {b for s in group.inner if _known_to_all(s, own[s.name], given) for b in s.shape.stage.written}
    outline = ScheduleBuilder(reader.shape)
    units = block_axes(cut, reader.shape.extents, machine)
    outline.step(cut, dict(units), entries=_copied(group, reader, near, cached))
    dealt_steps(outline, reader, mine)
    out = []
    for stage in group.inner:
        inside = ScheduleBuilder(stage.shape)
        for d, other in stage.kept.items():
            inside.tiles[d] = min(inside.tiles[d], cut[other])
        alike = _count(own[stage.name]) == given
        inside.step({}, entries=_copied(group, stage, near if alike else set(), cached))
        together = not alike and given % WARP > 0 and machine.shuffle
        dealt_steps(inside, stage, own[stage.name], shared=together)
        out.append(inner_section(group, stage, inside, 1))
    return (*out, outline.section(reader.name))


def _count(deals: Deals) -> int:
    return prod(x.threads for x in deals.values())


def _known_to_all(stage: RowStage, deals: Deals, given: int) -> bool:
    """Whether all threads share the sums of a stage, and nothing else: then each has the results."""
    reduced = stage.shape.of_kind(DimKind.PW)
    split = [d for d, x in deals.items() if x.threads > 1]
    return bool(split) and all(d in reduced for d in split) and _count(deals) == given


def _copied(group: RowGroup, host: RowStage, near: Collection[str], cached: bool) -> dict[str, Mem]:
    """What the step of a stage has in shared memory at which others are computed, or in registers. near: the
    arrays whose elements each thread keeps."""
    arrays = (*(() if cached else group.shared(host)), *group.made(host))
    return {b: staged(host.shape, b, Space.RM if b in near else Space.SM) for b in arrays}


def dealt_steps(outline: ScheduleBuilder, stage: RowStage, deals: Deals, *, shared: bool = False) -> None:
    """Threads, and vectors. shared: they combine what they have in shared memory."""
    shape = stage.shape
    reduced = set(shape.of_kind(DimKind.PW))
    split = [d for d, x in deals.items() if x.threads > 1]
    units = {d: Unit(Layer.THR, axis) for d, axis in zip(split, AXES, strict=False)}
    cyclic = {d: x.wide for d, x in deals.items() if x.threads > 1 and x.tile > x.wide}
    entries: dict[str, Mem] = {}
    if shared and reduced & set(split):
        entries = {b: Mem(Caret(), (attribute("combine", Combine.SHARED),)) for b in shape.outputs}
    outline.step({d: x.tile for d, x in deals.items()}, units, cyclic=cyclic, entries=entries)
    for d, x in deals.items():
        if x.wide > 1:
            few = x.tile <= VECTORS * x.wide
            outline.step({d: x.wide}, attrs=(attribute("unroll"),) if few else ())
            outline.step({d: 1}, {d: Unit(Layer.VEC, "x")})
