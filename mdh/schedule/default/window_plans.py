"""Plans for contractions over windows on a GPU: tiles that fit, numbers of parts of the sum, and their
work."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import cache
from math import prod

from mdh.cost.gpu import WORD, Joining, Work, resident, warps_of
from mdh.cost.warp import shared_cycles
from mdh.machine import Machine
from mdh.occupancy import registers_at
from mdh.schedule.default.grid import ceil_div, round_up
from mdh.schedule.default.operands import Tiling
from mdh.schedule.default.shape import Shape
from mdh.schedule.default.window import Window

SHARED = 48 * 1024
"""Bytes of shared memory that every GPU gives a block by default."""
COLUMNS = (1, 2, 4)
"""Neighbouring points of a thread along rows. Whole short rows are tried as well."""
SHORT = 8
ROWS = 14
"""The most rows of points of a thread."""
FEATURES = (2, 4, 8)
"""Features of a thread."""
SIDES = (16, 32, 64)
"""Features of a block."""
CUTS = (1, 2, 4, 8)
"""The numbers of pieces that a block may cut rows and columns of an image into."""
IMAGES = (1, 2, 4)
"""Whole small images of a block."""
CHANNELS = (2, 4, 8)
"""Channels that are staged at once."""
FEW = 4
"""The most channels that are all staged together, also one row of the window at a time; and the fewest tile
heights that are tried."""
PARTS = (2, 4, 8, 16)
"""Numbers of parts of the sum."""
PER_UNIT = 4
"""The most blocks a multiprocessor that sharing a sum leads to. The fewest is half a block."""
PART_LEAST = 16
"""The fewest channels of a part."""
RESULTS = (8, 56)
"""The fewest and the most results of a thread."""
THREADS = (64, 512)
SPARE = 40
"""Registers of a thread besides results, weights and window."""
REGISTERS = 168
"""The number of registers from which on compilers spill."""
UNROLLED = 48
"""The most iterations of the sum that are unrolled."""
TIGHT = 0.79
"""Of the registers that a thread may have: where it needs more, an unrolled sum spills. On an H100 a
convolution of 39x39x44 to 97 features then takes 76 µs, 49 without unrolling."""


LANES = 32
"""Of a warp."""
SECTOR = 8
"""Elements of 4 bytes in a sector, the unit of memory transfers."""
VECTOR = 4
"""Elements of 4 bytes in the widest access."""


def plans(shape: Shape, window: Window, machine: Machine, *, adding: bool = False) -> Iterator[Tiling]:
    """The candidates. adding: blocks that share a sum add to the outputs."""
    joining = Joining.IN_PLACE if adding else Joining.KERNEL
    image, weights = shape.boxes[window.image], shape.boxes[window.weights]
    whole = {d: shape.extents[d] for d in window.reduced}
    out = shape.contiguous(shape.writes[0])
    slices = _slices(shape, window)
    room = min(SHARED, machine.shared_per_block) // shape.value_bytes
    k = window.channels[0]
    for thread in _thread_tiles(shape, window):
        held = [(slab, registers_of(shape, window, thread, {**whole, **slab})) for slab in slices]
        held = [(s, n) for s, n in held if n <= min(REGISTERS, machine.registers_per_thread)]
        for block in _block_tiles(shape, window, thread) if held else ():
            count = _threads(block, thread, out, machine)
            most = registers_at(machine, warps_of(machine, count)) if count else 0
            for slab, registers in held:
                if registers > most:
                    continue
                tiles = {**block, **whole, **slab}
                if image.elements(tiles) + weights.elements(tiles) * 9 // 8 <= room:
                    whole_sum = Tiling(block, thread, slab, k, shape.extents[k], 1, joining)
                    yield from _parted(shape, window, machine, whole_sum)


def registers_of(shape: Shape, window: Window, thread: Mapping[int, int], sums: Mapping[int, int]) -> int:
    """Registers of a thread that goes through a slice: results, weights, and the window of a channel, which
    compilers keep from one multiplication to the next."""
    inner = {r: sums[r] for _, r in window.slid}
    read = shape.boxes[window.image].elements({**thread, **inner})
    held = prod(thread.values()) + thread[window.features[0]] + read
    return max(1, shape.value_bytes // WORD) * held + SPARE


def unrolls(shape: Shape, window: Window, machine: Machine, plan: Tiling) -> bool:
    """Whether the sum over a slice is unrolled."""
    sums = {**{d: shape.extents[d] for d in window.reduced}, **plan.slices}
    count = _threads(plan.block, plan.thread, shape.contiguous(shape.writes[0]), machine)
    most = registers_at(machine, warps_of(machine, max(1, count)))
    return prod(sums.values()) <= UNROLLED and registers_of(shape, window, plan.thread, sums) <= TIGHT * most


def _threads(block: Mapping[int, int], thread: Mapping[int, int], out: int | None, machine: Machine) -> int:
    """Threads of a block; 0 if they are too few, too many, or do not fit on three axes."""
    cut = [n for _, n in _threads_of(block, thread, out)]
    axes = len(cut) <= 3 and all(n <= limit for n, limit in zip(cut, machine.block_limits, strict=False))
    count = prod(cut)
    return count if axes and THREADS[0] <= count <= min(THREADS[1], machine.threads_per_block) else 0


def _threads_of(
    block: Mapping[int, int], thread: Mapping[int, int], out: int | None
) -> list[tuple[int, int]]:
    """Dimensions that threads share, and their numbers of threads, the fastest first."""
    units = ((d, ceil_div(t, thread.get(d, 1))) for d, t in block.items())
    return [(d, n) for d, n in sorted(units, key=lambda u: (u[0] != out, -u[0])) if n > 1]


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
    """Tiles of at most ROWS elements that divide an extent. If there are few, also those with the smallest
    remainder."""
    tiles = range(1, min(extent, ROWS) + 1)
    ranked = sorted(tiles, key=lambda t: (-extent % t, -t))
    return sorted(t for n, t in enumerate(ranked) if extent % t == 0 or n < FEW)


def _block_tiles(shape: Shape, window: Window, thread: dict[int, int]) -> Iterator[dict[int, int]]:
    """Tiles of a block: boxes of whole thread tiles, and single elements of the other dimensions."""
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
    """The slices that are staged at once: some channels, or, if channels are few, a row of the window with
    all of them."""
    extents = shape.extents
    main, *rest = window.channels
    single = dict.fromkeys(rest, 1)
    out = [{main: c, **single} for c in sorted({min(c, extents[main]) for c in CHANNELS})]
    if prod(extents[c] for c in window.channels) <= FEW and len(window.slid) > 1:
        out.append({window.slid[0][1]: 1})
    return out


def _parted(shape: Shape, window: Window, machine: Machine, plan: Tiling) -> Iterator[Tiling]:
    """The plan itself, and the plans in which blocks share its sum."""
    yield plan
    k = plan.k
    counts = [ceil_div(shape.extents[d], t) for d, t in plan.block.items()]
    blocks = prod(counts)
    if blocks >= 2 * machine.units or sum(n > 1 for n in counts) > 2 or k not in plan.slices:
        return
    for parts in PARTS:
        part = round_up(ceil_div(shape.extents[k], parts), plan.slices[k])
        enough = part >= PART_LEAST and ceil_div(shape.extents[k], part) == parts
        if enough and machine.units // 2 <= blocks * parts <= PER_UNIT * machine.units:
            yield replace(plan, part=part, parts=parts)


def work_of(shape: Shape, window: Window, machine: Machine, plan: Tiling) -> Work:
    """The quantities that a plan's time depends on."""
    size, extents = shape.value_bytes, shape.extents
    words = max(1, size // WORD)
    whole = {d: extents[d] for d in window.reduced}
    sums = {**whole, **plan.slices}
    depth, channels = prod(sums.values()), prod(sums[d] for d in window.channels)
    tiles = {**plan.block, **sums}
    image, weights = (shape.boxes[b].elements(tiles) for b in (window.image, window.weights))
    threads = prod(ceil_div(t, plan.thread.get(d, 1)) for d, t in plan.block.items())
    warps = warps_of(machine, threads)
    features = plan.thread[window.features[0]]
    read = shape.boxes[window.image].elements({**plan.thread, **sums, **dict.fromkeys(window.channels, 1)})
    blocks, tiles_of_block = _grid(shape, plan)
    slices = tiles_of_block * ceil_div(prod({**whole, plan.k: plan.part}.values()), depth)
    written = size * prod(n for d, n in enumerate(extents) if d not in whole)
    shared = (image + weights * 9 // 8) * size
    at_once = _read_at_once(shape, window, plan)
    return Work(
        size, warps,
        resident=resident(machine, threads, registers_of(shape, window, plan.thread, sums), shared),
        blocks=blocks,
        slices=slices,
        multiplies=words * depth * prod(plan.thread.values()),
        vectors=words * depth * features / _lanes(features),
        words=words * channels * read * _conflicts(shape, window, plan, tiles) / at_once,
        loops=0.0 if unrolls(shape, window, machine, plan) else words * channels,
        copied=words * weights / (machine.warp * warps),
        moved=blocks * slices * (_sectors(shape, window, tiles) + weights) * size + written,
        written=written,
        parts=plan.parts,
        joining=plan.joining,
    )  # fmt: skip


def _sectors(shape: Shape, window: Window, tiles: Mapping[int, int]) -> int:
    """Elements of the image that a block's tiles touch, in whole sectors."""
    image = shape.boxes[window.image]
    row, elements = image.sides(tiles)[-1], image.elements(tiles)
    if row == image.size[-1] or row % SECTOR == 0:
        return elements
    return elements // row * round_up(row + SECTOR // 2, SECTOR)


def _lanes(elements: int) -> int:
    """Neighbouring elements that a thread reads with one access."""
    return VECTOR if elements % VECTOR == 0 else 2 if elements % 2 == 0 else 1


def _read_at_once(shape: Shape, window: Window, plan: Tiling) -> int:
    """Neighbouring elements of a window that a thread reads with one access, if they are contiguous."""
    x = window.slid[-1][0]
    beside = any(d == x for d, _ in shape.boxes[window.image].positions[-1][1])
    return _lanes(plan.thread[x]) if beside else 1


def _conflicts(shape: Shape, window: Window, plan: Tiling, tiles: Mapping[int, int]) -> float:
    """Cycles that shared memory takes for a word of the image that each lane of a warp reads."""
    image = shape.boxes[window.image]
    sides = image.sides(tiles)
    steps = dict[int, int]()
    for n, (_, moved) in enumerate(image.positions):
        for d, step in moved:
            steps[d] = steps.get(d, 0) + step * prod(sides[n + 1 :])
    lanes = tuple(
        (count, steps.get(d, 0) * plan.thread.get(d, 1))
        for d, count in _threads_of(plan.block, plan.thread, shape.contiguous(shape.writes[0]))
    )
    return _cycles(lanes)


@cache
def _cycles(lanes: tuple[tuple[int, int], ...]) -> float:
    """lanes: their numbers and the words between them, the fastest first."""
    offsets = [0]
    for count, step in lanes:
        offsets = [n * step * WORD + a for n in range(count) for a in offsets]
    return shared_cycles(offsets[:LANES], WORD, LANES)


def _grid(shape: Shape, plan: Tiling) -> tuple[int, int]:
    """(blocks, tiles that each block goes through); a grid has three axes."""
    counts = sorted((ceil_div(shape.extents[d], t) for d, t in plan.block.items()), reverse=True)
    axes = 3 if plan.parts == 1 else 2
    return plan.parts * prod(counts[:axes]), prod(counts[axes:])
