"""Plans for contractions over windows on a GPU: tiles that fit, and numbers of parts of the sum."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from math import prod

from mdh.machine import Machine
from mdh.occupancy import registers_at
from mdh.schedule.default.grid import ceil_div, round_up
from mdh.schedule.default.shape import Box, Shape
from mdh.schedule.default.window import Window

SHARED = 48 * 1024
"""What every GPU gives a block without asking."""
COLUMNS = (1, 2, 4)
"""Neighbouring points of a thread along rows, beside whole short rows."""
SHORT = 8
ROWS = 14
"""At most as many rows of points a thread."""
FEATURES = (2, 4, 8)
"""Of a thread."""
SIDES = (16, 32, 64)
"""Features of a block."""
CUTS = (1, 2, 4, 8)
"""Into which a block may cut rows and columns of an image."""
IMAGES = (1, 2, 4)
"""Whole small images of a block."""
CHANNELS = (2, 4, 8)
"""Staged at once."""
FEW = 4
"""Channels up to which all of them are staged together, a row of the window at a time, too; and tiles of rows
that are tried at least."""
PARTS = (2, 4, 8, 16)
"""Of the sum."""
PER_UNIT = 4
"""Blocks of a multiprocessor to which sharing sums leads, at most; half a block, at least."""
PART_LEAST = 16
"""Channels of a part."""
RESULTS = (8, 56)
"""Of a thread, at least and at most."""
THREADS = (64, 512)
SPARE = 40
"""Registers of a thread beside results, weights and window."""
REGISTERS = 168
"""From about which on compilers spill some."""
UNROLLED = 48
"""Iterations of the sum that are written out."""


@dataclass(frozen=True, slots=True)
class Plan:
    """Tiles by dim; threads compute single elements of dims that `thread` does not name. part: of dim `k`,
    where blocks share the sum in `parts`, which they add to the output where `adding`."""

    block: Mapping[int, int]
    thread: Mapping[int, int]
    slices: Mapping[int, int]
    k: int
    part: int
    parts: int
    adding: bool = False


def plans(shape: Shape, window: Window, machine: Machine) -> Iterator[Plan]:
    """What there is to choose from."""
    image, weights = shape.box(window.image), shape.box(window.weights)
    whole = {d: shape.extents[d] for d in window.reduced}
    out = shape.contiguous(shape.writes[0])
    slices = _slices(shape, window)
    room = min(SHARED, machine.shared_per_block) // shape.value_bytes
    for thread in _thread_tiles(shape, window):
        held = [(slab, registers_of(shape, window, image, thread, {**whole, **slab})) for slab in slices]
        held = [(s, n) for s, n in held if n <= min(REGISTERS, machine.registers_per_thread)]
        for block in _block_tiles(shape, window, thread) if held else ():
            count = _threads(block, thread, out, machine)
            most = registers_at(machine, ceil_div(count, machine.warp)) if count else 0
            for slab, registers in held:
                if registers > most:
                    continue
                tiles = {**block, **whole, **slab}
                if image.elements(tiles) + weights.elements(tiles) * 9 // 8 <= room:
                    yield from _parted(shape, window, machine, (block, thread, slab))


def registers_of(
    shape: Shape, window: Window, image: Box, thread: Mapping[int, int], sums: Mapping[int, int]
) -> int:
    """Of a thread that goes through a slice: results, weights, and the window of a channel, which compilers
    keep from one multiplication to the next."""
    inner = {r: sums[r] for _, r in window.slid}
    held = prod(thread.values()) + thread[window.features[0]] + image.elements({**thread, **inner})
    return max(1, shape.value_bytes // 4) * held + SPARE


def _threads(block: Mapping[int, int], thread: Mapping[int, int], out: int | None, machine: Machine) -> int:
    """Threads of a block, 0 where they are too few or too many, or do not go on three axes."""
    units = ((d, ceil_div(t, thread.get(d, 1))) for d, t in block.items())
    cut = [n for _, n in sorted(units, key=lambda u: (u[0] != out, -u[0])) if n > 1]
    axes = len(cut) <= 3 and all(n <= limit for n, limit in zip(cut, machine.block_limits, strict=False))
    count = prod(cut)
    return count if axes and THREADS[0] <= count <= min(THREADS[1], machine.threads_per_block) else 0


def _thread_tiles(shape: Shape, window: Window) -> Iterator[dict[int, int]]:
    extents = shape.extents
    x = window.slid[-1][0]
    columns = {t for t in COLUMNS if t <= extents[x]} | ({extents[x]} if extents[x] <= SHORT else set())
    rows = even(extents[window.slid[-2][0]]) if len(window.slid) > 1 else [1]
    f = window.features[0]
    for tx in sorted(columns):
        for ty in rows:
            for tf in FEATURES:
                if (tf <= extents[f] or tf == FEATURES[0]) and RESULTS[0] <= tx * ty * tf <= RESULTS[1]:
                    yield {f: tf, x: tx} | ({window.slid[-2][0]: ty} if len(window.slid) > 1 else {})


def even(extent: int) -> list[int]:
    """Tiles of at most ROWS elements that divide an extent; of the others, where few do, those that leave
    least of it."""
    tiles = range(1, min(extent, ROWS) + 1)
    ranked = sorted(tiles, key=lambda t: (-extent % t, -t))
    return sorted(t for n, t in enumerate(ranked) if extent % t == 0 or n < FEW)


def _block_tiles(shape: Shape, window: Window, thread: dict[int, int]) -> Iterator[dict[int, int]]:
    """Others one by one; boxes of whole thread tiles."""
    extents = shape.extents
    single = dict.fromkeys(
        (*window.images, *window.others, *window.features[1:], *(d for d, _ in window.slid[:-2])), 1
    )
    near = [d for d, _ in window.slid[-2:]]
    f = window.features[0]
    boxes = [dict[int, int]()]
    for d in near:
        tiles = {min(extents[d], round_up(ceil_div(extents[d], n), thread[d])) for n in CUTS}
        boxes = [{**box, d: t} for box in boxes for t in sorted(tiles)]
    for side in sorted({min(extents[f], s) for s in SIDES}):
        for box in boxes:
            block = {**single, f: side, **box}
            yield block
            if window.images and all(box[d] == extents[d] for d in near):
                n = window.images[0]
                for images in IMAGES[1:]:
                    if images <= extents[n]:
                        yield {**block, n: images}


def _slices(shape: Shape, window: Window) -> list[dict[int, int]]:
    """Channels that are staged at once, or a row of the window with all of few channels."""
    extents = shape.extents
    main, *rest = window.channels
    single = dict.fromkeys(rest, 1)
    out = [{main: c, **single} for c in sorted({min(c, extents[main]) for c in CHANNELS})]
    if prod(extents[c] for c in window.channels) <= FEW and len(window.slid) > 1:
        out.append({window.slid[0][1]: 1})
    return out


def _parted(
    shape: Shape, window: Window, machine: Machine, tiles: tuple[dict[int, int], ...]
) -> Iterator[Plan]:
    block, thread, slices = tiles
    k = window.channels[0]
    yield Plan(block, thread, slices, k, shape.extents[k], 1)
    counts = [ceil_div(shape.extents[d], t) for d, t in block.items()]
    blocks = prod(counts)
    if blocks >= 2 * machine.units or sum(n > 1 for n in counts) > 2 or k not in slices:
        return
    for parts in PARTS:
        part = round_up(ceil_div(shape.extents[k], parts), slices[k])
        enough = part >= PART_LEAST and ceil_div(shape.extents[k], part) == parts
        if enough and machine.units // 2 <= blocks * parts <= PER_UNIT * machine.units:
            yield Plan(block, thread, slices, k, part, parts)
