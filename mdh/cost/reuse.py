"""Bytes that a cache of some size has to fetch: the stack-distance model of nested loops.

A cache keeps what the loops inside some level touch, if that is less than its size. Going outward from there,
loops that do not move an access fetch nothing again, the next one fetches what is new to it, and every loop
further out fetches all of it once more.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from math import prod

from mdh.cost.nest import AccessView, CostNest, StagedFill
from mdh.decompose.accesses import AccessGroup
from mdh.hardware import Space

LINE = 64
PAGE = 4096
WAYS = 8
BESIDE = 5
"""Rows that are reached in turn, a piece of a line each, before prefetching loses them."""
COUNTED = 2048
"""Rows whose cache sets are looked at one by one."""


@dataclass(frozen=True, slots=True)
class Footprint:
    """bytes: in whole lines. rows of `piece` bytes lie `pitch` bytes apart (0: in one piece)."""

    bytes: float
    rows: float
    piece: float
    pitch: int

    @property
    def pages(self) -> float:
        """Pages that it lies in."""
        if self.pitch >= PAGE or not self.pitch:
            return self.rows * max(1.0, self.piece / PAGE)
        return max(1.0, self.rows * self.pitch / PAGE)

    def crowded(self, sets: int) -> float:
        """Bytes of a cache of so many sets that it takes up, where rows fall into few of them."""
        if self.pitch and self.rows > WAYS // 2 and sets:
            lines = max(1.0, self.piece / LINE)
            reach = min(float(sets), _starts(self.pitch, int(min(self.rows, COUNTED)), sets) * lines)
            if self.rows * lines > reach * WAYS / 2:
                return self.bytes * sets / reach
        return self.bytes


@lru_cache(maxsize=4096)
def _starts(pitch: int, rows: int, sets: int) -> int:
    """Different sets in which rows begin."""
    return len({(k * pitch // LINE) % sets for k in range(rows)})


@dataclass(frozen=True, slots=True)
class AccessStream:
    """What one access, or the source of a copy, touches.

    boxes[p]: by the levels from p on. moves[p]: level p moves it. inner: levels beyond which nothing is
    touched (source of a copy, results that are held). outer: levels outside of a private copy. local: it is
    a private copy, which is not fetched while it fits. scattered: the loops jump between many rows before a
    line is used up. run: bytes that they reach in one piece, a line at least. walk: rows of a copy that runs
    across the rows of its source, whose lines are fetched again if they crowd. elements: of that copy.
    """

    access: AccessGroup
    boxes: tuple[Footprint, ...]
    moves: tuple[bool, ...]
    inner: int
    outer: int = 0
    local: bool = False
    scattered: bool = False
    run: float = LINE
    walk: Footprint | None = None
    elements: int = 0

    @property
    def store(self) -> bool:
        return self.access.store and not self.local


def streams_of(nest: CostNest, *, block: bool = False) -> tuple[AccessStream, ...]:
    """Of all accesses outside of registers, and of the sources of copies.

    block: the threads of a block count as inside of every level (GPU).
    """
    out: list[AccessStream] = []
    depth = len(nest.levels)
    written = {v.access.buffer for v in nest.views if v.access.store}
    for view in nest.views:
        if view.access.store or view.region is Space.DM:
            held = nest.work.reduces and view.access.buffer in written
            out.append(_stream(nest, view, nest.region.opens if held else depth, block))
        elif view.region is Space.SM:
            out.append(_local(nest, view))
    for copy in nest.copies:
        if copy.node.source is Space.DM:
            out.append(_source(nest, copy, block))
    return tuple(out)


def _stream(nest: CostNest, view: AccessView, inner: int, block: bool) -> AccessStream:
    access, depth, count = view.access, len(nest.levels), 1.0
    inside = {v.var for v in nest.threads} if block else set[str]()
    boxes = [_box(nest, access, inside, count)] * (depth + 1)
    moves = [False] * depth
    for p in reversed(range(depth)):
        v = nest.levels[p]
        boxes[p] = boxes[p + 1]
        if view.stride(v) != 0:
            moves[p] = True
            inside.add(v.var)
            count *= v.parts if view.stride(v) is None else 1
            boxes[p] = _box(nest, access, inside, count)
    run, scattered = (float(LINE), False) if block else _run(nest, view, inner)
    return AccessStream(
        access, tuple(boxes), tuple(moves), inner, scattered=scattered, run=max(run, float(LINE))
    )


def _source(nest: CostNest, copy: StagedFill, block: bool) -> AccessStream:
    """The source of a copy. Inside of it the copy's own loops run, in the order of the target's layout."""
    s = _stream(nest, copy.source, copy.position, block)
    if copy.straight or block:
        return s
    shape, layout = copy.node.tile.shape, copy.node.tile.layout
    across = [k for k in layout[layout.index(len(shape) - 1) + 1 :] if shape[k] > 1]
    if not across:
        return s
    n = float(prod(shape[k] for k in across))
    walk = Footprint(n * LINE, n, float(LINE), s.access.row_bytes[across[-1]])
    return AccessStream(
        s.access, s.boxes, s.moves, s.inner, scattered=n > BESIDE, walk=walk, elements=copy.elements
    )


def _run(nest: CostNest, view: AccessView, inner: int) -> tuple[float, bool]:
    """(bytes in one piece that are reached before a jump, whether that is less than a line while more than
    BESIDE rows take turns)."""
    access = view.access
    if access.gather or not access.shape:
        return float(LINE), access.gather
    inside = {v.var for v in nest.levels[inner:]}
    run = float(access.size * _extents(nest, access, inside)[-1])
    beside = access.rows
    for v in reversed(nest.levels[:inner]):
        stride = abs(view.strides.get(v.var, 0))
        if not stride:
            continue
        if stride > run + LINE:
            inside.add(v.var)
            # rows that neighbours share count once
            beside = min(beside * v.parts, max(beside, prod(_extents(nest, access, inside)[:-1])))
        elif beside > BESIDE:
            break
        else:
            run = max(run, stride * (v.parts - 1) + run)
    return run, run < LINE and beside > BESIDE


def _local(nest: CostNest, view: AccessView) -> AccessStream:
    access, depth = view.access, len(nest.levels)
    inside, moves = set[str](), [False] * depth
    boxes = [_whole(view.bytes)] * (depth + 1)
    boxes[depth] = _whole(access.size)
    for p in reversed(range(view.outer, depth)):
        v = nest.levels[p]
        boxes[p] = boxes[p + 1]
        if view.stride(v) != 0:
            moves[p] = True
            inside.add(v.var)
            used = prod(_extents(nest, access, inside)) * access.size
            boxes[p] = _whole(min(view.bytes, max(used, LINE)))
    return AccessStream(access, tuple(boxes), tuple(moves), depth, view.outer, True)


def _whole(size: int) -> Footprint:
    """In one piece."""
    return Footprint(float(size), 1.0, float(size), 0)


def _extents(nest: CostNest, access: AccessGroup, inside: set[str]) -> tuple[int, ...]:
    return access.box(nest.plan.tiles.levels, frozenset(inside))


def _box(nest: CostNest, access: AccessGroup, inside: set[str], count: float) -> Footprint:
    """What an access reaches. count: how often data sends it elsewhere, which bounds it."""
    extents = _extents(nest, access, inside)
    piece, n = float(access.size), 1.0
    contiguous, pitch = True, 0
    for k in reversed(range(len(extents))):
        if contiguous:
            piece *= extents[k]
            contiguous = extents[k] == access.shape[k]
        elif extents[k] > 1:
            n *= extents[k]
            pitch = pitch or access.row_bytes[k]
    lines = n * max(piece, float(LINE))
    if access.gather:
        known = (e for e, f in zip(extents, access.linear, strict=True) if f is not None)
        each = max(float(access.size * prod(known)), float(LINE))
        return Footprint(min(lines, count * each), min(n, count), each, PAGE)
    return Footprint(lines, n, piece, pitch)


def fetched(
    nest: CostNest,
    streams: tuple[AccessStream, ...],
    capacity: float,
    sets: int = 0,
    floor: int = 0,
    *,
    warm: bool = False,
) -> list[float]:
    """Bytes of each stream that pass into a cache of `capacity` bytes, in whole lines.

    sets: of the cache, where rows may crowd into few of them; 0: they never do. floor: levels outside of
    which nothing is kept: the grid, for a cache that blocks have to themselves. warm: what fits as a whole is
    there from the run before.
    """
    trips = nest.trips
    fits = _fitting(streams, len(nest.levels), floor, capacity, lambda box: box.bytes)
    if warm and fits == 0:
        return [0.0] * len(streams)
    out = []
    for s in streams:
        own = fits
        # rows that crowd drive out one another, not what lies in other sets
        while sets and own < s.inner and s.boxes[own].crowded(sets) > capacity:
            own += 1
        if s.local and own <= s.outer:
            out.append(0.0)
        elif s.walk is not None and s.walk.crowded(sets) > capacity:
            out.append(s.elements * LINE * trips[s.inner])
        else:
            q = _kept(s, own, floor)
            out.append(s.boxes[q].bytes * trips[q])
    return out


def _fitting(
    streams: tuple[AccessStream, ...],
    depth: int,
    floor: int,
    capacity: float,
    size: Callable[[Footprint], float],
) -> int:
    """The outermost level, not below `floor`, inside which all that is touched fits together."""
    while depth > floor:
        if sum(size(s.boxes[depth - 1]) for s in streams if depth - 1 <= s.inner) > capacity:
            break
        depth -= 1
    return depth


def _kept(s: AccessStream, fits: int, floor: int) -> int:
    """The level from which on a stream is fetched once, if what levels from `fits` on touch is kept."""
    if fits > s.inner:
        return s.inner
    q = fits
    while q > floor and not s.moves[q - 1]:
        q -= 1
    if q > floor:
        q -= 1
    return max(q, s.outer) if s.local else q


def translated(nest: CostNest, streams: tuple[AccessStream, ...], entries: int) -> float:
    """Pages whose addresses a table of so many entries has to look up: the same model, in pages."""
    trips, total = nest.trips, 0.0
    fits = _fitting(streams, len(nest.levels), 0, entries, lambda box: box.pages)
    for s in streams:
        if s.local and fits <= s.outer:
            continue
        if s.walk is not None and s.walk.pages * 1.5 > entries:
            total += s.elements * trips[s.inner]
        else:
            q = _kept(s, fits, 0)
            total += s.boxes[q].pages * trips[q]
    return total
