"""The loops of a stage plan in code order."""

from collections.abc import Iterator
from dataclasses import dataclass

from mdh.ir.plan import Split, StagePlan
from mdh.schedule.model import CORE_LAYERS

THREADED = ("WGP", "WRP", "THR")
"""Layers whose units share a block."""
BLOCKED = ("CLU", "BLK")
"""Layers whose units are blocks of the grid."""


@dataclass(frozen=True, slots=True)
class Loop:
    """One split with more than one part; `step` is the index of its step in the plan."""

    step: int
    dim: int
    parts: int
    tile: int
    parent: int
    layer: str | None
    axis: int
    cyclic: int


def code_loops(plan: StagePlan) -> tuple[Loop, ...]:
    """Outermost first. Within a step: units by layer, then sequential loops by rank, then vector lanes."""
    return tuple(
        Loop(i, s.dim, s.parts, s.tile, s.parent, s.layer, s.axis, s.cyclic)
        for i in plan.code_order
        for s in sorted(plan.steps[i].splits, key=_place)
        if s.parts > 1
    )


def _place(split: Split) -> tuple[int, int]:
    if split.layer is None:
        return CORE_LAYERS.index("VEC"), split.rank
    depth = CORE_LAYERS.index(split.layer)
    return (depth + 1 if split.layer in ("VEC", "MMA") else depth), split.dim


def inside(plan: StagePlan, step: int) -> tuple[Loop, ...]:
    """The loops in the body of a step's loops."""
    position = plan.code_order.index(step)
    within = set(plan.code_order[position + 1 :])
    return tuple(loop for loop in code_loops(plan) if loop.step in within)


def by_layer(plan: StagePlan, *layers: str) -> Iterator[Loop]:
    return (loop for loop in code_loops(plan) if loop.layer in layers)
