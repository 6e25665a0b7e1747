"""Regions of partial results: where each opens, and which part of the output it holds.

Source: language.md section 5. A step's region opens outside the longest run of enclosing sequential loops
that ends with the step's own loops and carries only reduction dimensions. Every reduction also has a register
region at the innermost place, so that partial results are always combined in private memory first.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from mdh.hardware import Space
from mdh.ir.affine import Affine
from mdh.ir.layout import Axis, Level, Levels
from mdh.ir.plan import Holding, PlanStep
from mdh.ir.program import DimKind, Stage
from mdh.ir.tile import Item


@dataclass(frozen=True, slots=True)
class RegionOpening:
    """Where a region opens: before item `opens`. holding, step: the schedule entry that asks for it and the
    index of its step; None if no entry does."""

    opens: int
    space: Space
    holding: Holding | None = None
    step: int | None = None


def openings(
    items: Sequence[Item], stage: Stage, steps: Sequence[PlanStep], buffers: Collection[str], *, reduces: bool
) -> tuple[RegionOpening, ...]:
    """The regions of one result that is stored in `buffers`, from outside in. reduces: False for a result
    that is not reduced."""
    found: dict[tuple[int, Space], RegionOpening] = {}
    for p, item in enumerate(items):
        for h in steps[item].holdings if isinstance(item, int) else ():
            if isinstance(item, int) and h.region is not None and h.buffer in buffers:
                opens = run_start(items, stage, p) if reduces else p
                found.setdefault((p, h.region), RegionOpening(opens, h.region, h, item))
    mine = list(found.values())
    if reduces and not any(r.space is Space.RM for r in mine):
        mine.append(RegionOpening(run_start(items, stage, computing(items, steps)), Space.RM))
    mine.sort(key=lambda r: (r.opens, r.space is Space.RM))
    private = next((k for k, r in enumerate(mine) if r.space is Space.RM), len(mine))
    # a thread's registers are not shared further in, even if another output of the record asks for SM there
    return tuple(r for k, r in enumerate(mine) if k <= private or r.space is Space.RM)


def computing(items: Sequence[Item], steps: Sequence[PlanStep]) -> int:
    """Where points are computed: behind all items, or at the loops over atoms, which keep no order."""
    atoms = {s for s, step in enumerate(steps) if step.product is not None}
    of = ((p, item.step if isinstance(item, Level) else item) for p, item in enumerate(items))
    return next((p for p, s in of if s in atoms), len(items))


def run_start(items: Sequence[Item], stage: Stage, end: int) -> int:
    """The first item of the longest run of sequential reduction loops that ends before item `end`."""
    start = end
    for p in reversed(range(end)):
        item = items[p]
        if isinstance(item, Level):
            if stage.dims[item.dim].kind is DimKind.CC:
                break
            start = p
    return start


def levels_from(items: Sequence[Item], position: int) -> tuple[Level, ...]:
    """The levels of the loops from item `position` on."""
    return tuple(item for item in items[position:] if isinstance(item, Level))


def held_axis(levels: Levels, function: Affine | None, extent: int, inside: frozenset[str]) -> Axis:
    """One dimension of an output over the levels of `inside`, packed. function: its index as a function of
    the stage's dimensions; None if it is data, which may be any of `extent` numbers."""
    if function is None:
        return Axis(Affine(), extent, False, ())
    terms = sorted((abs(c), v, c) for v, c in levels.over(Affine(function.terms)).terms if v in inside)
    variables, radix = [], 1
    for _, var, c in terms:
        parts = levels.of_var(var).parts
        variables.append((var, parts, c, radix))
        radix *= parts
    return Axis(Affine(), radix, True, tuple(reversed(variables)))
