"""A model of a GPU: the speeds of a multiprocessor, blocks in rounds, and the time of sums by blocks.

Speeds and limits come from the machine file. The default schedules choose tiles by `seconds`, and the
estimates of checked plans are made of the same parts.

In a sum by blocks, each block goes through slices of the sum: its threads copy a slice to shared memory, then
each multiplies. Blocks come in rounds over the multiprocessors. `scripts/fit-default` measures, and fits
`PRODUCTS` and `WINDOWS`. Of 20 convolutions with some 90 plans each, what the estimate chooses takes 1.080
times the best measured one, as a geometric mean (artifacts/h200/window_fit.jsonl.gz); of 26 random ones with
8 plans each on an H100, 1.070 times.
"""

from dataclasses import dataclass
from enum import Enum, auto
from math import inf
from typing import Any

from mdh import occupancy
from mdh.machine import Machine

VECTOR_BYTES = 16
"""Of the widest access of a thread."""
QUARTERS = 4
"""Parts of a multiprocessor that each start instructions of their own warps."""
WORD = 4
"""Bytes of a register, and of a bank of shared memory."""
Number = Any
"""A float, or an array of them."""


class Joining(Enum):
    """How the parts of a sum that blocks share are joined. KERNEL: a second kernel adds the parts. FRESH:
    blocks add to outputs whose starting values a kernel writes first; IN_PLACE: to outputs that hold them
    already."""

    KERNEL = auto()
    FRESH = auto()
    IN_PLACE = auto()


@dataclass(frozen=True, slots=True)
class Costs:
    """Fitted constants of a class of sums. Instructions are those of a warp.

    vector: instructions to read a vector of an operand. word: to read a word that a thread uses several
    times; in BOXES and VECTORS, for each cycle in which shared memory is busy for a warp. loop: instructions
    of an iteration beside reads and multiplications. copied: instructions for each load or store of a copy.
    warps: of a multiprocessor, with which it does half of what it can; warps_f32 and warps_f64 are added for
    each warp's multiply-add that it does in a cycle (as many as latency and rate ask for: Little's law).
    latency: cycles until the copies of a slice arrive; exposed: 1 where a block waits for them before it
    computes, 0 where it copies ahead. slice, block: further cycles of each. fetch: cycles until a
    multiprocessor has read an instruction of a slice for the first time. stored: cycles in which a warp
    stores a result of each thread; added: further ones where blocks share a sum. overlap: exponent with which
    computing and memory traffic are joined (see `joined`). reached: share of the memory's bandwidth. second,
    start: seconds of a second kernel, and of one that writes starting values. traffic: share of the parts'
    bytes that is moved where blocks add to the output. worth: factor by which sharing a sum has to be faster.
    launch: seconds of any call.
    """

    vector: float
    word: float = 0.0
    loop: float = 0.0
    copied: float = 0.0
    warps: float = 0.0
    warps_f32: float = 0.0
    warps_f64: float = 0.0
    latency: float = 0.0
    exposed: float = 0.0
    slice: float = 0.0
    block: float = 0.0
    fetch: float = 0.0
    stored: float = 0.0
    added: float = 0.0
    overlap: float = inf
    reached: float = 0.68
    second: float = 1.3e-6
    start: float = 0.8e-6
    traffic: float = 0.78
    worth: float = 1.0
    launch: float = 1.2e-6


PRODUCTS = Costs(
    vector=1.39, loop=3.56, copied=6.16, warps_f32=0.694, latency=352.0, slice=20.6, block=17.0, stored=2.98,
    added=2.23, second=0.82e-6, start=0.55e-6, traffic=0.19, worth=1.03, launch=1.1e-6,
)  # fmt: skip
"""Products of matrices in fp32, whose operands are copied ahead."""
BOXES = Costs(
    vector=1.43, word=0.68, loop=3.28, copied=8.77, warps_f32=1.28, latency=291.0, slice=115.0, block=340.0,
    fetch=0.75, stored=6.4, second=1.33e-6, start=0.51e-6, traffic=0.87, worth=1.08, reached=0.546,
    launch=0.65e-6,
)  # fmt: skip
"""Contractions of tensors in fp32. Of 57 random ones with some 27 plans each on an H100, what the estimate
chooses takes 1.13 times the best, as a geometric mean."""
PRODUCTS_F64 = Costs(
    vector=1.35, loop=6.0, warps_f32=0.75, warps_f64=1.25, latency=190.0, slice=29.0, block=340.0, worth=1.02
)
"""The same in f64: from an earlier fit to fp32 on an H200, but for `warps_f64`, which two runs of all random
sizes chose."""
VECTORS = Costs(
    vector=0.6, word=0.57, loop=5.1, copied=19.0, warps_f32=1.16, latency=722.0, slice=200.0, block=200.0,
    fetch=0.5, stored=7.0, second=0.9e-6, start=0.8e-6, traffic=0.9, worth=1.04, reached=0.55, launch=0.5e-6,
)  # fmt: skip
"""Contractions whose threads read vectors along the sum. Of 40 random convolutions and three contractions
with some 14 plans each on an H100, what the estimate chooses takes 1.10 times the best, as a geometric
mean."""
WINDOWS = Costs(
    vector=10.3, word=1.54, loop=5.72, copied=30.0, warps=2.74, latency=250.0, slice=1.0, block=10.0,
    exposed=1.0, overlap=2.0, reached=0.721, second=2.7e-6, traffic=0.5, launch=1.4e-6,
)  # fmt: skip
"""Contractions over windows. Blocks mostly read from the cache; parts that lie nowhere are not read again."""


@dataclass(frozen=True, slots=True)
class Work:
    """What a candidate has to do.

    size: bytes of an element. warps: of a block. resident: blocks that a multiprocessor holds at once.
    blocks: all of them. slices: of a block. For a warp in a slice: multiplies, its multiply-adds; vectors and
    words that it reads, in boxes the cycles of shared memory; loops, its iterations; copied, its loads and
    stores of copies; results: of a thread. moved: bytes of memory traffic, written: bytes of the results.
    parts: of the sum, joined as `joining` says.
    """

    size: int
    warps: float
    resident: int
    blocks: int
    slices: int
    multiplies: float
    vectors: float
    moved: int
    written: int
    parts: int
    words: float = 0.0
    loops: float = 0.0
    copied: float = 0.0
    results: float = 0.0
    joining: Joining = Joining.KERNEL


def seconds(work: Work, machine: Machine, costs: Costs) -> float:
    """An estimate for the whole sum."""
    double = work.size > WORD
    rate = multiply_rate(machine, double=double)
    idle = costs.warps + rate * (costs.warps_f64 if double else costs.warps_f32)
    instructions = work.multiplies + costs.vector * work.vectors + costs.word * work.words
    each = (instructions + costs.loop * work.loops + costs.copied * work.copied) / rate

    each_result = costs.stored + (costs.added if work.parts > 1 else 0.0)

    def cycles(count: int) -> float:
        """Of so many blocks at once."""
        if not count:
            return 0.0
        busy = each * (count * work.warps + idle) + costs.slice * count
        body = work.slices * max(busy, costs.exposed * busy / count + costs.latency)
        return body + count * work.warps * work.results * each_result + costs.block

    full, rest = divmod(busiest(machine, work.blocks), work.resident)
    read = costs.fetch * (work.multiplies + work.vectors + work.copied)
    busy = (full * cycles(work.resident) + cycles(rest) + read) / machine.clock
    alone: float = joined(costs.overlap, busy, transfer(machine, work.moved, costs.reached))
    return parted(alone, costs, machine, work.parts * work.written if work.parts > 1 else 0, work.joining)


def dealt(warps: float) -> float:
    """Warps of a block that multiplies all the time, as its multiprocessor feels them: its four parts take
    them by turns, and the part with the most decides. Blocks of one or two warps begin at different parts.
    On an H100 products by blocks of three, five and six warps take 1.3, 1.6 and 1.3 times as long as their
    multiplications alone would explain."""
    return warps if warps <= QUARTERS // 2 else -(-warps // QUARTERS) * QUARTERS


def parted(alone: float, costs: Costs, machine: Machine, parts: int, joining: Joining) -> float:
    """Seconds of a call whose blocks take `alone`, with the joining of `parts` bytes of partial results; 0:
    there are none."""
    if not parts:
        return costs.launch + alone
    moved = transfer(machine, parts, costs.reached)
    if joining is Joining.KERNEL:
        added = costs.second + moved
    else:
        added = costs.traffic * moved + (costs.start if joining is Joining.FRESH else 0.0)
    return costs.launch + costs.worth * (alone + added)


def multiply_rate(machine: Machine, *, double: bool) -> float:
    """Multiply-adds of a warp that a multiprocessor does in a cycle."""
    peak = machine.peak_f64 if double else machine.peak_f32
    return peak / (2 * machine.units * machine.clock * machine.warp)


def warps_of(machine: Machine, threads: int) -> int:
    return -(-threads // machine.warp)


def resident(machine: Machine, threads: int, registers: int, shared: int) -> int:
    """Blocks that a multiprocessor holds at once, at least one. See `mdh.occupancy.resident`."""
    return max(1, occupancy.resident(machine, threads, registers, shared))


def busiest(machine: Machine, blocks: int) -> int:
    """Blocks of the multiprocessor that gets most."""
    return -(-blocks // machine.units)


def transfer(machine: Machine, moved: float, reached: float) -> float:
    """Seconds for so many bytes of memory, at a share `reached` of the bandwidth."""
    return moved / (reached * machine.bandwidth)


def joined(overlap: float, *terms: Number) -> Number:
    """Of terms that overlap one another: the p-norm, between their sum (1) and the largest of them (inf)."""
    if overlap == inf:
        return max(terms)
    total = terms[0] ** overlap
    for t in terms[1:]:
        total = total + t**overlap
    return total ** (1.0 / overlap)
