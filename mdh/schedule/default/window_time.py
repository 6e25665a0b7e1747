"""How long a contraction over windows takes on a GPU: an estimate that knows plans apart, for choosing one.

Blocks come in rounds over the multiprocessors. A block goes through slices of the sum: all its threads copy,
then each multiplies. `Costs` are a fit to measured plans for 20 convolutions on an H200.

`scripts/fit-default measure-windows` measures plans, `fit-windows` says what the estimate chooses of them,
and what a fit to them would. Of 20 convolutions with some 90 plans each, what it chooses takes 1.095 times
the best measured one, as a geometric mean (artifacts/h200/window_fit.jsonl.gz).
"""

from dataclasses import dataclass
from math import hypot, prod

from mdh import occupancy
from mdh.machine import Machine
from mdh.schedule.default.grid import ceil_div, round_up
from mdh.schedule.default.shape import Shape
from mdh.schedule.default.window import Window
from mdh.schedule.default.window_plans import UNROLLED, Plan, registers_of

SECTOR = 8
"""Elements of 4 bytes that memory hands over together."""
VECTOR = 4
"""Elements of 4 bytes in the widest access."""


@dataclass(frozen=True, slots=True)
class Costs:
    """What was fitted, in instructions of a warp where no unit is given.

    image, weights: to read words of the image, or a vector of weights, for the multiplications. rolled: for a
    channel whose iterations are a loop's. turned: to copy a word of the weights. warps: of a multiprocessor,
    with which it does half of what it can. latency: cycles that a block waits for a slice. reached: of the
    memory's bandwidth, in all that blocks read, mostly from the cache. launch, second: seconds of any call,
    and of a second kernel.
    """

    image: float = 1.7
    weights: float = 10.0
    rolled: float = 43.0
    turned: float = 3.5
    warps: float = 2.6
    latency: float = 300.0
    reached: float = 0.52
    launch: float = 1.4e-6
    second: float = 2.7e-6


COSTS = Costs()


@dataclass(frozen=True, slots=True)
class Work:
    """What there is to do.

    size: bytes of an element. own: results of a thread. vectors: of weights, for an iteration. depth:
    iterations of a slice, in so many channels; window: elements that a thread reads of the image for one of
    them, at_once of them together. turned: elements of weights that a block copies for a slice. warps: of a
    block. resident: blocks that a multiprocessor holds at once. blocks: all of them. slices: of a block.
    fetched: bytes of memory's sectors that a slice's copies touch. parts: of the sum, which blocks add to
    the output where `adding`, else a second kernel does. results: elements of the output.
    """

    size: int
    own: int
    vectors: float
    depth: int
    channels: int
    window: int
    at_once: int
    turned: int
    warps: int
    resident: int
    blocks: int
    slices: int
    fetched: int
    parts: int
    results: int
    adding: bool = False


def seconds(work: Work, machine: Machine, costs: Costs = COSTS) -> float:
    """An estimate for the whole contraction."""
    peak = machine.peak_f64 if work.size > 4 else machine.peak_f32
    rate = peak / (2 * machine.units * machine.clock * machine.warp)
    words = max(1, work.size // 4)
    each = work.depth * (work.own + costs.weights * work.vectors)
    each += costs.image * work.channels * work.window / work.at_once
    if work.depth > UNROLLED:
        each += costs.rolled * work.channels
    slice_of_block = words * (work.warps * each + costs.turned * work.turned / machine.warp) / rate

    def cycles(count: int) -> float:
        """Of so many blocks at once."""
        if not count:
            return 0.0
        alone = slice_of_block * (1 + costs.warps / (count * work.warps))
        return work.slices * max(count * alone, alone + costs.latency)

    full, rest = divmod(ceil_div(work.blocks, machine.units), work.resident)
    busy = (full * cycles(work.resident) + cycles(rest)) / machine.clock
    written = work.results * work.size
    bandwidth = costs.reached * machine.bandwidth
    alone = hypot(busy, (work.blocks * work.slices * work.fetched + written) / bandwidth)
    if work.parts == 1:
        return costs.launch + alone
    moved = work.parts * written / bandwidth
    # parts that lie nowhere are not read again
    return costs.launch + alone + (moved / 2 if work.adding else costs.second + moved)


class Clock:
    """Times of plans for one contraction."""

    def __init__(self, shape: Shape, window: Window, machine: Machine, costs: Costs = COSTS) -> None:
        self.shape, self.window, self.machine, self.costs = shape, window, machine, costs
        extents = shape.extents
        self.image, self.weights = shape.box(window.image), shape.box(window.weights)
        self.whole = {d: extents[d] for d in window.reduced}
        self.results = prod(n for d, n in enumerate(extents) if d not in self.whole)

    def seconds(self, plan: Plan) -> float:
        """An estimate for all of it."""
        return seconds(self.work(plan), self.machine, self.costs)

    def work(self, plan: Plan) -> Work:
        """What the estimate looks at."""
        size = self.shape.value_bytes
        threads = prod(ceil_div(t, plan.thread.get(d, 1)) for d, t in plan.block.items())
        sums = {**self.whole, **plan.slices}
        depth = prod(sums.values())
        features = plan.thread[self.window.features[0]]
        single = dict.fromkeys(self.window.channels, 1)
        tiles = {**plan.block, **sums}
        image, weights = self.image.elements(tiles), self.weights.elements(tiles)
        row = self.image.sides(tiles)[-1]
        whole = row == self.image.size[-1] or row % SECTOR == 0
        sectors = image if whole else image // row * round_up(row + SECTOR // 2, SECTOR)
        shared = (image + weights * 9 // 8) * size
        held = registers_of(self.shape, self.window, self.image, plan.thread, sums)
        blocks, turns = self._grid(plan)
        return Work(
            size=size,
            own=prod(plan.thread.values()),
            vectors=features / (VECTOR if features % VECTOR == 0 else 2 if features % 2 == 0 else 1),
            depth=depth,
            channels=prod(sums[d] for d in self.window.channels),
            window=self.image.elements({**plan.thread, **sums, **single}),
            at_once=self._read_at_once(plan),
            turned=weights,
            warps=ceil_div(threads, self.machine.warp),
            resident=max(1, occupancy.resident(self.machine, threads, held, shared)),
            blocks=blocks,
            slices=turns * ceil_div(prod({**self.whole, plan.k: plan.part}.values()), depth),
            fetched=(sectors + weights) * size,
            parts=plan.parts,
            results=self.results,
            adding=plan.adding,
        )

    def _read_at_once(self, plan: Plan) -> int:
        """Neighbours of a window that a thread reads at once, where they lie side by side."""
        x = self.window.slid[-1][0]
        if all(d != x for d, _ in self.image.positions[-1][1]):
            return 1
        tile = plan.thread[x]
        return VECTOR if tile % VECTOR == 0 else 2 if tile % 2 == 0 else 1

    def _grid(self, plan: Plan) -> tuple[int, int]:
        """(blocks, tiles that each goes through): a grid has three axes."""
        extents = self.shape.extents
        counts = sorted((ceil_div(extents[d], t) for d, t in plan.block.items()), reverse=True)
        axes = 3 if plan.parts == 1 else 2
        return plan.parts * prod(counts[:axes]), prod(counts[axes:])
