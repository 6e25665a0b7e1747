"""Bytes of prefix sums: threads run over long parts twice, and blocks that do not look back once before."""

from dataclasses import dataclass
from math import prod

from mdh.hardware import THREADED, Combine, Layer, Space
from mdh.ir.plan import Plan, StagePlan
from mdh.ir.program import DimKind
from mdh.lower.scan import KEPT_BYTES
from mdh.report.moves import OPERANDS, Move


@dataclass(frozen=True, slots=True)
class Passes:
    """before: kernels that run over everything before the main one; own: how often a thread of that one runs
    over its part, which begins at `start` in code order. A stage without a scan has one pass."""

    before: int = 0
    own: int = 1
    start: int = 0

    @property
    def points(self) -> int:
        """How often each point is computed."""
        return self.before + self.own

    def copies(self, position: int) -> int:
        """How often a copy at `position` in code order is made."""
        return self.before + (self.own if position >= self.start else 1)


def passes_of(plan: Plan, stage: StagePlan) -> Passes:
    scanned = {d for d, dim in enumerate(stage.stage.dims) if dim.kind is DimKind.PS}
    if not scanned:
        return Passes()
    look_back = all(Combine.TICKET in methods for methods in stage.combines)
    before = int(_blocks(stage) > 1 and not look_back)
    threads = [
        position
        for position, s in enumerate(stage.code_order)
        for x in stage.steps[s].splits
        if x.dim in scanned and x.layer in THREADED and x.parts > 1
    ]
    if plan.machine.kind == "cpu" or not threads:
        return Passes(before)
    start = max(threads) + 1
    return Passes(before, 1 if _kept(stage, scanned, start) else 2, start)


def _kept(stage: StagePlan, scanned: set[int], start: int) -> bool:
    """Whether registers keep a thread's part between its two runs, so that it is read and computed once."""
    inner = [stage.steps[s] for s in stage.code_order[start:]]
    part = prod(x.parts for step in inner for x in step.splits if x.dim in scanned)
    size = max(t.bytes for r in stage.stage.results for t in r.types)
    return part * size <= KEPT_BYTES and not any(step.stagings for step in inner)


def prefix_moves(plan: Plan, stage: StagePlan, buffer: str, passes: Passes) -> list[Move]:
    """Of one output: running values, and stores by way of the regions that hold them."""
    size = plan.program.buffer_of[buffer].dtype.bytes
    width = next(
        sum(t.bytes for t in r.types)
        for r in stage.stage.results
        if buffer in {o.buffer for o in r.outputs}
    )  # fmt: skip
    points = prod(d.extent for d in stage.stage.dims)
    out = [Move(buffer, Space.RM, OPERANDS, 0, (), 2 * width, points * passes.points)]
    source = Space.RM
    for s in reversed(stage.code_order):
        step = stage.steps[s]
        for h in step.holdings:
            if h.buffer == buffer and h.region is not None and h.region != source:
                out.append(Move(buffer, source, h.region, step.number, (), size, points))
                source = h.region
    out.append(Move(buffer, source, Space.DM, 0, (), size, points))
    if buffer in stage.stage.read:
        out.append(Move(buffer, Space.DM, Space.RM, 0, (), size, points * passes.points))
    return out


def _blocks(stage: StagePlan) -> int:
    return prod(
        x.parts
        for step in stage.steps
        for x in step.splits
        if x.layer == Layer.BLK and stage.stage.dims[x.dim].kind is DimKind.PS
    )
