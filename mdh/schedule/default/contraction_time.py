"""How long a contraction takes on a GPU: an estimate that knows tiles apart, for choosing one.

Blocks come in rounds over the multiprocessors, each a row of slices, none of which is done before its copies
arrive; or all takes what memory needs, if that is more. `scripts/fit-default` measures, and fits `Costs`.
"""

from dataclasses import dataclass

from mdh.machine import Machine
from mdh.schedule.default.grid import ceil_div
from mdh.schedule.default.joining import Joining

VECTOR_BYTES = 16


@dataclass(frozen=True, slots=True)
class Costs:
    """What was fitted.

    load, fixed: instructions of a warp that count beside the multiplications of an iteration: for a vector of
    an operand, and for all else. warps: of a multiprocessor, with which it does half of what it can, for each
    warp's multiply-add that it does in a cycle (as many as latency and rate ask for: Little's law);
    warps_double: the same of doubles (no part of the fit: by two runs of all random sizes on an H200, which
    chose differently). latency: least cycles for a slice: its copies, and the barrier. slice, block: cycles
    of each, beside its work.
    second, start: seconds that a second kernel costs, and one that writes starting values. traffic: of the
    parts' bytes, where blocks add to the output. worth: by how much sharing a sum has to be faster.
    reached: of the memory's bandwidth, in traffic that is not all in order. launch: seconds of any call,
    which decide nothing, but are part of what is measured.
    """

    load: float = 1.35
    fixed: float = 6.0
    warps: float = 0.75
    warps_double: float = 1.25
    latency: float = 190.0
    slice: float = 29.0
    block: float = 340.0
    second: float = 1.3e-6
    start: float = 0.8e-6
    traffic: float = 0.78
    worth: float = 1.02
    reached: float = 0.68
    launch: float = 1.2e-6


COSTS = Costs()


@dataclass(frozen=True, slots=True)
class Work:
    """What there is to do.

    size: bytes of an element. high, wide: results of a thread. warps: of a block. depth: iterations of a
    slice. resident: blocks that a multiprocessor holds at once. blocks: all of them. slices: of a block.
    parts: of the sum, added as `joining` says. results, read: elements of the output and of both operands.
    """

    size: int
    high: int
    wide: int
    warps: float
    depth: int
    resident: int
    blocks: int
    slices: int
    parts: int
    results: int
    read: int
    joining: Joining = Joining.KERNEL


def seconds(work: Work, machine: Machine, costs: Costs = COSTS) -> float:
    """An estimate for the whole contraction."""
    peak = machine.peak_f64 if work.size > 4 else machine.peak_f32
    rate = peak / (2 * machine.units * machine.clock * machine.warp)
    idle = rate * (costs.warps_double if work.size > 4 else costs.warps)
    vectors = (work.high + work.wide) * work.size / VECTOR_BYTES
    each = work.depth * (work.high * work.wide + costs.load * vectors + costs.fixed) / rate

    def cycles(count: int) -> float:
        """Of so many blocks at once."""
        busy = each * (count * work.warps + idle) + costs.slice * count
        return work.slices * max(busy, costs.latency) + costs.block if count else 0.0

    full, rest = divmod(ceil_div(work.blocks, machine.units), work.resident)
    bandwidth = costs.reached * machine.bandwidth
    alone = max(
        (full * cycles(work.resident) + cycles(rest)) / machine.clock,
        (work.read + work.results) * work.size / bandwidth,
    )
    if work.parts == 1:
        return costs.launch + alone
    moved = work.parts * work.results * work.size / bandwidth
    if work.joining is Joining.KERNEL:
        added = costs.second + moved
    else:
        added = costs.traffic * moved + (costs.start if work.joining is Joining.FRESH else 0.0)
    return costs.launch + costs.worth * (alone + added)
