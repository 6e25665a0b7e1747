"""Prefix sums: blocks and threads split the scanned dimension, and each takes a contiguous part."""

from mdh.hardware import Layer, Space
from mdh.ir.program import DimKind
from mdh.machine import Machine
from mdh.schedule.default.grid import block_axes, ceil_div, grid_size, power_up, round_up
from mdh.schedule.default.outline import ScheduleBuilder, attribute, held, stageable, staged
from mdh.schedule.default.shape import Shape
from mdh.schedule.model import Mem, Unit

THREADS = 256
ELEMENTS = 15
"""Elements of a thread. The number is odd, so that the lanes' words lie in different banks."""
BLOCKS_PER_UNIT = 2
GROUPS_PER_CORE = 4
CHUNK = 8
"""Elements that a CPU scans at a time before it adds the running value."""


def scan(shape: Shape, machine: Machine) -> ScheduleBuilder:
    outline = ScheduleBuilder(shape)
    extents = shape.extents
    rows = shape.of_kind(DimKind.CC)
    scanned = shape.of_kind(DimKind.PS)
    tiles = dict.fromkeys(rows, 1)
    groups = grid_size(block_axes(tiles, extents, machine), tiles, extents)
    s = max(scanned, key=lambda d: extents[d], default=None)
    if s is None or len(scanned) > 1 or shape.keeps_order:
        outline.step(tiles, dict(block_axes(tiles, extents, machine)))
        return outline
    if machine.kind == "cpu":
        if groups < machine.units:
            tiles[s] = ceil_div(extents[s], min(extents[s], GROUPS_PER_CORE * machine.units))
        outline.step(tiles, dict(block_axes(tiles, extents, machine)))
        if outline.tiles[s] >= 2 * CHUNK:
            outline.step({**dict.fromkeys(shape.of_kind(DimKind.CC), 1), s: CHUNK})
            outline.step({s: 1}, attrs=(attribute("unroll"),))
        return outline
    threads = min(THREADS, power_up(ceil_div(extents[s], ELEMENTS)))
    part = threads * ELEMENTS
    if groups < BLOCKS_PER_UNIT * machine.units:
        tiles[s] = part
        most = 8 * BLOCKS_PER_UNIT * machine.units
        # blocks that look back read and write once, however many there are; otherwise the parts' totals are
        # scanned separately
        if not machine.acquire_release and ceil_div(extents[s], part) > most:
            tiles[s] = round_up(ceil_div(extents[s], most), part)
    outline.step(tiles, dict(block_axes(tiles, extents, machine)))
    entries = _copies(shape, {s: part}, machine) | _held_back(shape, part, machine)
    outline.step({s: part}, entries=entries)
    outline.step({s: ELEMENTS}, {s: Unit(Layer.THR, "x")})
    return outline


def _held_back(shape: Shape, part: int, machine: Machine) -> dict[str, Mem]:
    """Stages the outputs in shared memory, so that neighbouring threads store neighbouring elements."""
    size = part * len(shape.outputs) * shape.value_bytes
    in_place = any(b in shape.inputs for b in shape.outputs)
    return {} if in_place or size > machine.shared_per_block // 4 else held(shape, Space.SM)


def _copies(shape: Shape, tiles: dict[int, int], machine: Machine) -> dict[str, Mem]:
    """Stages the inputs that move with the scanned dimension alone in shared memory, because threads read
    them in turn."""
    room = machine.shared_per_block // 4
    out: dict[str, Mem] = {}
    for buffer in shape.inputs:
        if not stageable(shape, buffer):
            continue
        used = {d for a in shape.reads_of(buffer) for d in range(len(shape.extents)) if shape.uses(a, d)}
        size = shape.footprint(buffer, tiles) * shape.element_bytes(buffer)
        inner = any(d in used for d in shape.of_kind(DimKind.PW))
        if used & set(tiles) and not inner and size <= room:
            room -= size
            out[buffer] = staged(shape, buffer, Space.SM)
    return out
