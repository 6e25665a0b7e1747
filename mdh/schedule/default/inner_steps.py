"""Default steps for `stage P in C:n` without steps: they split the box of P over the threads of C."""

from math import prod

from mdh.ir.program import DimKind, Program, Stage
from mdh.machine import Machine
from mdh.schedule.default.grid import AXES
from mdh.schedule.default.map import wide_elements
from mdh.schedule.default.outline import ScheduleBuilder
from mdh.schedule.default.row_groups import RowStage, fastest_first
from mdh.schedule.default.rows_cpu import vectors
from mdh.schedule.default.rows_gpu import WARP, Deal, deal, dealt_steps
from mdh.schedule.default.shape import Shape
from mdh.schedule.model import Step


def inner_steps(
    program: Program, stage: Stage, machine: Machine, threads: int, *, alone: bool
) -> tuple[Step, ...]:
    """program, stage: as the steps see them. threads: those of the reader. alone: each of them computes all
    that it reads, by loops."""
    one = RowStage(Shape(program, stage), {})
    outline = ScheduleBuilder(one.shape)
    order = fastest_first(one)
    reduced = set(one.shape.of_kind(DimKind.PW))
    if machine.kind == "cpu":
        if not reduced or (order[:1] and order[0] in reduced):
            vectors(outline, one, machine)
        return tuple(outline.steps)
    if alone:
        return ()
    deals, left = dict[int, Deal](), threads
    for d in sorted(order, key=lambda d: d in reduced)[: len(AXES)]:
        wide = wide_elements(one.shape, d) if not deals and not reduced else 1
        deals[d] = deal(one.shape.extents[d], left, wide)
        left //= deals[d].threads
    used = prod(x.threads for x in deals.values())
    together = used < threads and threads % WARP > 0 and machine.shuffle
    dealt_steps(outline, one, deals, shared=together)
    return tuple(outline.steps)
