"""How long a contraction over windows takes on a GPU: an estimate that knows plans apart, for choosing one.

Blocks come in rounds over the multiprocessors. A block goes through slices of the sum: all its threads copy,
then each multiplies. `Costs` are a fit to measured plans for 17 convolutions on an H200.
"""

from collections.abc import Mapping
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


class Clock:
    """Times of plans for one contraction."""

    def __init__(self, shape: Shape, window: Window, machine: Machine, costs: Costs = COSTS) -> None:
        self.shape, self.window, self.machine, self.costs = shape, window, machine, costs
        extents = shape.extents
        self.image, self.weights = shape.box(window.image), shape.box(window.weights)
        self.words = max(1, shape.value_bytes // 4)
        self.whole = {d: extents[d] for d in window.reduced}
        self.results = prod(n for d, n in enumerate(extents) if d not in self.whole)
        peak = machine.peak_f64 if shape.value_bytes > 4 else machine.peak_f32
        self.rate = peak / (2 * machine.units * machine.clock * machine.warp)

    def seconds(self, plan: Plan) -> float:
        """An estimate for all of it."""
        machine, costs = self.machine, self.costs
        threads = prod(ceil_div(t, plan.thread.get(d, 1)) for d, t in plan.block.items())
        warps = ceil_div(threads, machine.warp)
        sums = {**self.whole, **plan.slices}
        depth = prod(sums.values())
        each, copied, shared, fetched = self._slice(plan, sums, depth)
        grid, turns = self._grid(plan)
        slices = turns * ceil_div(prod({**self.whole, plan.k: plan.part}.values()), depth)
        held = registers_of(self.shape, self.window, self.image, plan.thread, sums)
        resident = max(1, occupancy.resident(machine, threads, held, shared))

        def cycles(count: int) -> float:
            """Of so many blocks at once."""
            alone = (warps * each + copied) / self.rate * (1 + costs.warps / (count * warps or 1))
            return slices * max(count * alone, alone + costs.latency) if count else 0.0

        full, rest = divmod(ceil_div(grid, machine.units), resident)
        busy = (full * cycles(resident) + cycles(rest)) / machine.clock
        written = self.results * self.shape.value_bytes
        bandwidth = costs.reached * machine.bandwidth
        alone = hypot(busy, (grid * slices * fetched + written) / bandwidth)
        if plan.parts == 1:
            return costs.launch + alone
        return costs.launch + alone + costs.second + plan.parts * written / bandwidth

    def _slice(self, plan: Plan, sums: Mapping[int, int], depth: int) -> tuple[float, float, int, int]:
        """(instructions of a warp that multiplies, of a block's copies, bytes of shared memory, bytes of
        memory's sectors that the copies touch)."""
        costs = self.costs
        features = plan.thread[self.window.features[0]]
        channels = prod(sums[d] for d in self.window.channels)
        single = dict.fromkeys(self.window.channels, 1)
        window = self.image.elements({**plan.thread, **sums, **single})
        vectors = features / (VECTOR if features % VECTOR == 0 else 2 if features % 2 == 0 else 1)
        each = depth * (prod(plan.thread.values()) + costs.weights * vectors)
        each += costs.image * channels * window / self._read_at_once(plan)
        if depth > UNROLLED:
            each += costs.rolled * channels
        tiles = {**plan.block, **sums}
        image, weights = self.image.elements(tiles), self.weights.elements(tiles)
        copied = costs.turned * weights / self.machine.warp
        shared = (image + weights * 9 // 8) * self.shape.value_bytes
        row = self.image.sides(tiles)[-1]
        whole = row == self.image.size[-1] or row % SECTOR == 0
        sectors = image if whole else image // row * round_up(row + SECTOR // 2, SECTOR)
        fetched = (sectors + weights) * self.shape.value_bytes
        return self.words * each, self.words * copied, shared, fetched

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
