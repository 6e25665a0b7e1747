"""The code order of a stage plan: its sequential loops, and the points at which copies stand.

Source: language.md sections 3 and 4. Only sequential loops appear, since units of core layers are bound at
the top of the kernel (SPMD). On a CPU, threads are loops inside the one work-item; they stand below the last
point that all threads reach together. Vector lanes are innermost everywhere.
"""

from collections.abc import Sequence

from mdh.hardware import THREADED, Layer, Space
from mdh.ir.layout import Level
from mdh.ir.plan import StagePlan
from mdh.ir.tile import Item


def _rank(loop: Level) -> int:
    return loop.rank


def in_code_order(plan: StagePlan, loops: Sequence[Level], *, cpu: bool) -> tuple[Item, ...]:
    """The sequential loops from outside in, and each step's index where the body of its loops starts."""
    items: list[Item] = []
    threads: list[Item] = []
    meeting = 0
    for s in plan.code_order:
        mine = [x for x in loops if x.step == s]
        fresh = [x for x in mine if x.layer in THREADED] if cpu else []
        threads.extend(fresh)
        if fresh:
            meeting = max(meeting, len(items))
        sequential = sorted((x for x in mine if x.layer is None), key=_rank)
        items.extend(sequential)
        items.append(s)
        regions = [x.region for x in plan.steps[s].stagings] + [h.region for h in plan.steps[s].holdings]
        if cpu and Space.SM in regions:
            meeting = len(items)
    items[meeting:meeting] = threads
    lanes = (x for s in plan.code_order for x in loops if x.step == s and x.layer is Layer.VEC)
    return (*items, *lanes)
