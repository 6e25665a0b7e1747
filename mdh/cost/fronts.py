"""What stages take in wavefronts: units share their turns, and a launch has those of one time."""

from collections.abc import Sequence

from mdh.cost.prediction import TERMS
from mdh.ir.plan import Plan

STARTED = ("launch", "groups")
"""Terms of a launch, which is one for each time."""


def in_fronts(
    plan: Plan, features: Sequence[tuple[float, ...]], turns: Sequence[int]
) -> tuple[tuple[float, ...], ...]:
    """The terms of one turn of each stage. features: as if a kernel were launched for each turn."""
    names = TERMS[plan.machine.kind]
    out = list(features)
    for x in plan.fronts:
        units = x.blocks * x.threads
        width = min(units, plan.machine.units) if plan.machine.kind == "cpu" else units
        for n in range(x.first, x.last + 1):
            launches = x.launches / turns[n] if n == x.first else 0.0
            out[n] = tuple(
                t * launches if name in STARTED else t / width
                for name, t in zip(names, features[n], strict=True)
            )
    return tuple(out)
