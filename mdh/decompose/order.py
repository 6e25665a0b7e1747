"""The code order of a stage plan: its sequential loops and the points at which copies stand.

Source: language.md sections 3 and 4. Units of core layers are bound at the top of the kernel (SPMD), so only
sequential loops appear. On a CPU, threads are loops inside the one work-item; they stand below the last
point that all threads reach together. Vector lanes are innermost everywhere.
"""

from dataclasses import dataclass

from mdh.hardware import THREADED, Layer, Space
from mdh.ir.layout import Level, Levels
from mdh.ir.plan import PlanStep, StagePlan


@dataclass(frozen=True, slots=True)
class Loop:
    level: Level
    lanes: bool = False


@dataclass(frozen=True, slots=True)
class Point:
    """The start of the body of a step's loops."""

    step: PlanStep


Item = Loop | Point


def code_items(plan: StagePlan, levels: Levels, *, cpu: bool) -> tuple[Item, ...]:
    items: list[Item] = []
    threads: list[Item] = []
    lanes: list[Item] = []
    meeting = 0
    for s in plan.code_order:
        mine = [lv for lv in levels.all if lv.step == s]
        lanes.extend(Loop(lv, lanes=True) for lv in mine if lv.layer == Layer.VEC)
        fresh = [Loop(lv) for lv in mine if lv.layer in THREADED] if cpu else []
        threads.extend(fresh)
        if fresh:
            meeting = max(meeting, len(items))
        sequential = sorted((lv for lv in mine if lv.layer is None), key=lambda lv: lv.rank)
        items.extend(Loop(lv) for lv in sequential)
        items.append(Point(plan.steps[s]))
        regions = [x.region for x in plan.steps[s].stagings] + [h.region for h in plan.steps[s].holdings]
        if cpu and Space.SM in regions:
            meeting = len(items)
    if cpu and threads:
        items[meeting:meeting] = threads
    return (*items, *lanes)
