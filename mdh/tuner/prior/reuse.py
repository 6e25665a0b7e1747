"""Bytes that a cache of some size has to fetch: the stack-distance model of nested loops.

A cache keeps what the loops inside some level touch, if that is less than its size. Going outward from there,
loops that do not move an access fetch nothing again, the next one fetches what is new to it, and every loop
further out fetches all of it once more.
"""

from dataclasses import dataclass
from functools import lru_cache
from math import prod

from mdh.hardware import Space
from mdh.tuner.prior.facts import Access
from mdh.tuner.prior.nest import Copy, Nest, extents_of, row_bytes

LINE = 64
PAGE = 4096
WAYS = 8
BESIDE = 5
"""Rows that are reached in turn, a piece of a line each, before prefetching loses them."""
COUNTED = 2048
"""Rows whose cache sets are looked at one by one."""


@dataclass(frozen=True, slots=True)
class Box:
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
class Stream:
    """What one access, or the source of a copy, touches.

    boxes[p]: by the levels from p on. moves[p]: level p moves it. inner: levels beyond which nothing is
    touched (source of a copy, results that are held). outer: levels outside of a private copy, which is never
    fetched while it fits. scattered: the loops jump between many rows before a line is used up. run:
    bytes that they reach in one piece, a line at least. walk: rows
    and elements of a copy that runs across the rows of its source, whose lines are fetched again if they
    crowd.
    """

    access: Access
    boxes: tuple[Box, ...]
    moves: tuple[bool, ...]
    inner: int
    outer: int = 0
    local: bool = False
    scattered: bool = False
    run: float = LINE
    walk: Box | None = None
    elements: int = 0

    @property
    def store(self) -> bool:
        return self.access.store and not self.local


def streams_of(nest: Nest, *, block: bool = False) -> tuple[Stream, ...]:
    """Of all accesses outside of registers, and of the sources of copies.

    block: the threads of a block count as inside of every level (GPU).
    """
    out: list[Stream] = []
    depth = len(nest.levels)
    reduces = nest.facts.results[0].op is not None
    written = {v.access.buffer for v in nest.views if v.access.store}
    for view in nest.views:
        if view.access.store or view.region == Space.DM:
            held = reduces and view.access.buffer in written
            out.append(_stream(nest, view.access, nest.region.opens if held else depth, block))
        elif view.region == Space.SM:
            out.append(_local(nest, view.access, view.outer, view.bytes))
    for copy in nest.copies:
        if copy.source == Space.DM:
            out.append(_source(nest, copy, block))
    return tuple(out)


def _stream(nest: Nest, access: Access, inner: int, block: bool) -> Stream:
    depth = len(nest.levels)
    points = [1] * len(nest.facts.extents)
    if block:
        for v in nest.threads:
            points[v.dim] = min(points[v.dim] * v.parts, nest.facts.extents[v.dim])
    dims, rows, count = access.dims, row_bytes(access), 1.0
    box = box_of(access, rows, points, 1.0)
    boxes = [box] * (depth + 1)
    moves = [False] * depth
    for p in reversed(range(depth)):
        v = nest.levels[p]
        if v.parts > 1 and (v.dim in dims or access.gather):
            moves[p] = True
            points[v.dim] = min(points[v.dim] * v.parts, nest.facts.extents[v.dim])
            count *= 1 if v.dim in dims else v.parts
            box = box_of(access, rows, points, count)
        boxes[p] = box
    run, scattered = (float(LINE), False) if block else _run(nest, access, rows, inner)
    return Stream(access, tuple(boxes), tuple(moves), inner, scattered=scattered, run=max(run, float(LINE)))


def _source(nest: Nest, copy: Copy, block: bool) -> Stream:
    """The source of a copy; inside of it the copy's own loops run, in the order of the target's layout."""
    s = _stream(nest, copy.access, copy.position, block)
    if copy.straight or block:
        return s
    last = len(copy.extents) - 1
    position = copy.staging.layout.index(last)
    across = [k for k in copy.staging.layout[position + 1 :] if copy.extents[k] > 1]
    if not across:
        return s
    rows = row_bytes(copy.access)
    n = float(prod(copy.extents[k] for k in across))
    walk = Box(n * LINE, n, float(LINE), rows[across[-1]])
    return Stream(
        s.access, s.boxes, s.moves, s.inner, scattered=n > BESIDE, walk=walk, elements=copy.elements
    )


def _run(nest: Nest, access: Access, rows: tuple[int, ...], inner: int) -> tuple[float, bool]:
    """(bytes in one piece that are reached before a jump, whether that is less than a line while more than
    BESIDE rows take turns)."""
    if access.gather:
        return float(LINE), True
    points = [1] * len(nest.facts.extents)
    for v in nest.levels[inner:]:
        points[v.dim] = min(points[v.dim] * v.parts, nest.facts.extents[v.dim])
    run = float(access.size * extents_of(access, points)[-1]) if access.shape else float(LINE)
    beside = access.rows
    for p in reversed(range(inner)):
        v = nest.levels[p]
        stride = 0
        for terms, row in zip(access.index, rows, strict=True):
            stride += sum(c * row * v.stride for d, c in terms or () if d == v.dim)
        stride = abs(stride)
        if not stride or v.parts == 1:
            continue
        if stride > run + LINE:
            points[v.dim] = min(points[v.dim] * v.parts, nest.facts.extents[v.dim])
            # rows that neighbours share count once
            beside = min(beside * v.parts, max(beside, prod(extents_of(access, points)[:-1])))
        elif beside > BESIDE:
            break
        else:
            run = max(run, stride * (v.parts - 1) + run)
    return run, run < LINE and beside > BESIDE


def _local(nest: Nest, access: Access, outer: int, size: int) -> Stream:
    depth = len(nest.levels)
    points = [1] * len(nest.facts.extents)
    moves = [False] * depth
    whole = Box(float(size), 1.0, float(size), 0)
    box = Box(float(access.size), 1.0, float(access.size), 0)
    boxes = [whole] * (depth + 1)
    boxes[depth] = box
    for p in reversed(range(outer, depth)):
        v = nest.levels[p]
        if v.dim in access.dims and v.parts > 1:
            moves[p] = True
            points[v.dim] *= v.parts
            used = float(min(size, max(prod(extents_of(access, points)) * access.size, LINE)))
            box = Box(used, 1.0, used, 0)
        boxes[p] = box
    return Stream(access, tuple(boxes), tuple(moves), depth, outer, True)


def box_of(access: Access, rows: tuple[int, ...], points: list[int], count: float) -> Box:
    """The box that an access reaches. count: how often data sends it elsewhere, which bounds it."""
    extents = extents_of(access, points)
    piece = float(access.size)
    n = 1.0
    contiguous = True
    pitch = 0
    for k in reversed(range(len(extents))):
        if contiguous:
            piece *= extents[k]
            contiguous = extents[k] == access.shape[k]
        elif extents[k] > 1:
            n *= extents[k]
            if not pitch:
                pitch = rows[k]
    lines = n * max(piece, float(LINE))
    if access.gather:
        known = (e for e, terms in zip(extents, access.index, strict=True) if terms is not None)
        each = max(float(access.size * prod(known)), float(LINE))
        return Box(min(lines, count * each), min(n, count), each, PAGE)
    return Box(lines, n, piece, pitch)


def fetched(
    nest: Nest,
    streams: tuple[Stream, ...],
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
    depth = len(nest.levels)
    trips = [1.0] * (depth + 1)
    for p, v in enumerate(nest.levels):
        trips[p + 1] = trips[p] * v.parts
    fits = depth
    while fits > floor and sum(s.boxes[fits - 1].bytes for s in streams if fits - 1 <= s.inner) <= capacity:
        fits -= 1
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


def _kept(s: Stream, fits: int, floor: int) -> int:
    """The level from which on a stream is fetched once, if what levels from `fits` on touch is kept."""
    if fits > s.inner:
        return s.inner
    q = fits
    while q > floor and not s.moves[q - 1]:
        q -= 1
    if q > floor:
        q -= 1
    return max(q, s.outer) if s.local else q


def translated(nest: Nest, streams: tuple[Stream, ...], entries: int) -> float:
    """Pages whose addresses a table of so many entries has to look up: the same model, in pages."""
    depth = len(nest.levels)
    trips = [1.0] * (depth + 1)
    for p, v in enumerate(nest.levels):
        trips[p + 1] = trips[p] * v.parts
    fits = depth
    while fits > 0 and sum(s.boxes[fits - 1].pages for s in streams if fits - 1 <= s.inner) <= entries:
        fits -= 1
    total = 0.0
    for s in streams:
        if s.local and fits <= s.outer:
            continue
        if s.walk is not None and s.walk.pages * 1.5 > entries:
            total += s.elements * trips[s.inner]
        else:
            q = _kept(s, fits, 0)
            total += s.boxes[q].pages * trips[q]
    return total
