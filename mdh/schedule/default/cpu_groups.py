"""How the cores of a CPU share a contraction: into how many parts its rows are cut, and how many panels of
columns a group has."""

from dataclasses import dataclass
from itertools import product
from math import prod

from mdh.machine import Machine
from mdh.schedule.default.grid import ceil_div
from mdh.schedule.default.map import GROUPS_PER_CORE, native_lanes
from mdh.schedule.default.operands import Contraction
from mdh.schedule.default.shape import Shape

PANELS = (1, 2, 4)
"""Panels side by side in a group, besides all of them."""
COPIED, READ = 20, 5
"""Rows whose multiplications take as long as packing a panel line by line, as reading it from further away
than the first cache."""
TURNED = 4.5
"""Cycles of packing an element of a panel that is turned around."""
STREAMED, HIDDEN, SEEN = 4.0, 1.0, 0.3
"""Bytes that reach a core in a cycle from beyond its own caches; up to which part of the time of the
multiplications they hide behind these; and how much of a longer time is seen."""
KEPT = 0.75
"""Of a core's own caches, what is left beside a panel."""
WAITED = 0.2
"""Of a group: how long cores wait at the end for those that other work has held up."""


FINE = 256
"""Parts of the rows beyond which only powers of two are looked at."""


@dataclass(frozen=True, slots=True)
class SharedPanels:
    """parts: of the rows. panels: of a group."""

    parts: int
    panels: int


@dataclass(frozen=True, slots=True)
class PanelWork:
    """What the time of the groups depends on, for one element of the batch.

    groups: those of the batch and of further columns. again: how often these columns take a panel anew.
    packing: rows whose multiplications take as long as packing a panel or reading it in place. first, stored:
    bytes of the first operand and of the results. cycles: of all multiplications.
    """

    machine: Machine
    batch: int
    groups: int
    rows: int
    panels: int
    again: int
    packing: float
    first: int
    stored: int
    cycles: float

    def groups_of(self, way: SharedPanels) -> int:
        return self.groups * way.parts * ceil_div(self.panels, way.panels)

    def cost(self, way: SharedPanels) -> float:
        """The time, in parts of that of the multiplications."""
        units, groups = self.machine.units, self.groups_of(way)
        # the results of a panel pass through, too
        fits = self.first + self.stored // (self.panels * self.again) <= way.parts * kept(self.machine)
        beside = max(1, self.groups // self.batch) * ceil_div(self.panels, way.panels)
        passes = beside if fits else self.again * self.panels
        streamed = (passes * self.first + 2 * self.stored) / STREAMED / self.cycles
        time = 1 + self.packing * way.parts / self.rows + SEEN * max(0.0, streamed - HIDDEN)
        waited = WAITED * units / min(groups, GROUPS_PER_CORE * units) if units > 1 else 0.0
        return time * ceil_div(groups, units) * units / groups + waited


def shared(
    shape: Shape, found: Contraction, groups: int, width: int, packed: bool, machine: Machine
) -> SharedPanels:
    """The way that takes the least time. groups: those of the batch and of further columns. width: of a
    panel.

    Each part of the rows packs its panels anew. The panels of a group take its rows from the core's own
    cache, if this keeps them. With few groups some cores wait for others.
    """
    extents, size = shape.extents, shape.value_bytes
    column, *others = found.columns
    whole = {d: extents[d] for d in (*found.rows, *found.reduced)}
    rows, batch = (prod(extents[d] for d in dims) for dims in (found.rows, found.batch))
    again = prod(extents[d] for d in others)
    lanes = native_lanes(shape, machine)
    panels = ceil_div(extents[column], width)
    # the box around a diagonal holds more than is read
    read = min(shape.footprint(found.first, whole), prod(whole.values()))
    first = read * shape.element_bytes(found.first)
    work = PanelWork(
        machine, batch, groups, rows, panels, again,
        packing=packing(shape, found, machine) if packed else READ,
        first=first,
        stored=rows * extents[column] * again * size,
        cycles=prod(extents) / batch / (2 * lanes),
    )  # fmt: skip
    most = min(rows, max(GROUPS_PER_CORE * machine.units, ceil_div(2 * first, kept(machine))))
    parts = {*range(1, min(most, FINE) + 1), most, *(1 << n for n in range(most.bit_length()))}
    ways = [SharedPanels(*way) for way in product(sorted(parts), (*PANELS, panels)) if way[1] <= panels]
    return min(ways, key=lambda way: (work.cost(way), work.groups_of(way)))


def kept(machine: Machine) -> int:
    """Bytes that a core's own caches keep beside a panel."""
    return int(machine.caches[:2][-1] * KEPT)


def packing(shape: Shape, found: Contraction, machine: Machine) -> float:
    """Rows whose multiplications take as long as packing a panel of the second operand."""
    column = found.columns[0]
    panel = {d: shape.extents[d] for d in (column, *found.reduced)}
    # neighbouring windows of a convolution share elements
    once = min(1.0, shape.footprint(found.second, panel) / prod(panel.values()))
    if is_contiguous(shape, found.second, column):
        return COPIED * once
    return TURNED * once * 2 * native_lanes(shape, machine)


def is_contiguous(shape: Shape, buffer: str, dim: int) -> bool:
    """Whether all reads of a buffer are contiguous along a dimension."""
    return all(abs(shape.stride(a, dim)) == 1 for a in shape.reads_of(buffer))
