"""The code order of a stage plan: its sequential loops and the points at which copies stand.

Source: language.md sections 3 and 4. Units of core layers are bound at the top of the kernel (SPMD), so only
sequential loops appear. On a CPU, threads are loops inside the one work-item; they stand below the last
point that all threads reach together. Vector lanes are innermost everywhere.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, TypeVar

from mdh.hardware import THREADED, Layer, Space
from mdh.ir.layout import Level, Levels
from mdh.ir.plan import PlanStep, StagePlan


class Placed(Protocol):
    """A loop or the units of a layer."""

    @property
    def step(self) -> int: ...

    @property
    def layer(self) -> Layer | None: ...

    @property
    def rank(self) -> int: ...


L = TypeVar("L", bound=Placed)


@dataclass(frozen=True, slots=True)
class Point:
    """The start of the body of a step's loops. index: of the step in its plan."""

    step: PlanStep
    index: int


Item = Level | Point
"""A level among them is a sequential loop; one of VEC runs as the lanes of a vector."""


def code_items(plan: StagePlan, levels: Levels, *, cpu: bool) -> tuple[Item, ...]:
    return tuple(
        Point(plan.steps[x], x) if isinstance(x, int) else x for x in in_code_order(plan, levels.all, cpu=cpu)
    )


def _rank(loop: Placed) -> int:
    return loop.rank


def in_code_order(plan: StagePlan, loops: Sequence[L], *, cpu: bool) -> list[L | int]:
    """Sequential loops from outside in, and where the body of each step's loops starts: its index."""
    items: list[L | int] = []
    threads: list[L | int] = []
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
    return [*items, *lanes]
