"""The loops and units of a stage plan in code order."""

from collections.abc import Iterator

from mdh.decompose.order import in_code_order
from mdh.hardware import Layer
from mdh.ir.layout import Level
from mdh.ir.plan import Split, StagePlan


def code_loops(plan: StagePlan) -> tuple[Level, ...]:
    """Splits with more than one part, each as a level without a variable, outermost first. Within a step,
    units come first, by layer, then sequential loops by rank, then vector lanes."""
    return tuple(
        Level("", s.dim, i, s.parts, s.tile, s.parent, s.layer, s.axis, s.rank, s.cyclic)
        for i in plan.code_order
        for s in sorted(plan.steps[i].splits, key=_place)
        if s.parts > 1
    )


Item = Level | int
"""A sequential loop, or the index of a step, which marks where the body of that step's loops starts."""


def code_items(plan: StagePlan, *, cpu: bool) -> list[Item]:
    """The items of `mdh.decompose.order.in_code_order`."""
    return list(in_code_order(plan, sorted(code_loops(plan), key=lambda x: x.dim), cpu=cpu))


def _place(split: Split) -> tuple[int, int]:
    if split.layer is None:
        return Layer.VEC.depth, split.rank
    depth = split.layer.depth
    return (depth + 1 if split.layer in (Layer.VEC, Layer.MMA) else depth), split.dim


def inside(plan: StagePlan, step: int) -> tuple[Level, ...]:
    """The loops in the body of a step's loops."""
    position = plan.code_order.index(step)
    within = set(plan.code_order[position + 1 :])
    return tuple(loop for loop in code_loops(plan) if loop.step in within)


def by_layer(plan: StagePlan, *layers: Layer) -> Iterator[Level]:
    return (loop for loop in code_loops(plan) if loop.layer in layers)
