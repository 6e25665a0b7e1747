"""Histograms: blocks and threads split the loops; each block has a private output if it fits."""

from math import prod

from mdh.hardware import Layer, Space
from mdh.ir.program import has_neutral
from mdh.machine import Machine
from mdh.schedule.default.grid import block_axes, ceil_div, power_up, round_up
from mdh.schedule.default.outline import ScheduleBuilder, held
from mdh.schedule.default.shape import Shape
from mdh.schedule.model import Mem, Unit

THREADS = 256
BLOCKS_PER_UNIT = 4
INTEGER_OPS = ("+", "min", "max", "&", "|", "^")
PRIVATE = 32 * 1024
"""The most bytes of a private output that still let a multiprocessor hold several blocks."""


def scatter(shape: Shape, machine: Machine) -> ScheduleBuilder:
    outline = ScheduleBuilder(shape)
    extents = shape.extents
    dims = [d for d, n in enumerate(extents) if n > 1]
    if not dims:
        return outline
    x = max(dims, key=lambda d: (extents[d], d))
    entries = _private(shape, machine)
    cpu = machine.kind == "cpu"
    threads = 1 if cpu else min(THREADS, power_up(extents[x]))
    blocks = machine.units if cpu else BLOCKS_PER_UNIT * machine.units
    tile = round_up(ceil_div(extents[x], min(blocks, extents[x])), threads)
    if shape.keeps_order or not _atomic(shape):
        return outline
    outline.step({x: tile}, dict(block_axes({x: tile}, extents, machine)))
    outline.step({x: threads}, entries=entries)
    if not cpu:
        outline.step({x: 1}, {x: Unit(Layer.THR, "x")})
    return outline


def _atomic(shape: Shape) -> bool:
    """Whether parallel units can update one element atomically (K142)."""
    return all(
        r.op is not None
        and [t.bits for t in r.types] in ([32], [64])
        and (r.op.name == "+" if r.types[0].is_float else r.op.name in INTEGER_OPS)
        for r in shape.stage.results
    )


def _private(shape: Shape, machine: Machine) -> dict[str, Mem]:
    """The outputs in SM, if all of them fit and each element is updated more than once on average."""
    elements = [prod(shape.program.buffer_of[b].shape) for b in shape.outputs]
    size = sum(elements) * shape.value_bytes
    # K135: a copy joins all elements of the output
    neutral = all(r.op is not None and has_neutral(r.op, r.types) for r in shape.stage.results)
    worth = neutral and prod(shape.extents) >= 4 * sum(elements)
    return held(shape, Space.SM) if worth and size <= min(PRIVATE, machine.shared_per_block // 2) else {}
