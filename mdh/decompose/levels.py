"""Levels: the loops and units of a plan, and every dimension's index as a function of them.

A level is one split with more than one part. `@cyclic(n)` deals out blocks of n elements; deeper levels are
cut at n there, so that every dimension's index stays an affine function of level variables.
"""

from dataclasses import replace
from math import prod

from mdh.ir.affine import Affine
from mdh.ir.layout import Guard, Level, Levels
from mdh.ir.names import fresh
from mdh.ir.plan import PlanStep, StagePlan
from mdh.poly.digits import Chain, Cut, IndexDigit, digits


def make_levels(plan: StagePlan, names: set[str]) -> Levels:
    """The levels of a stage plan. Variables are named after dimension, layer and depth.

    names: names that variables must not have. The variables are added to it.
    """
    by_dim: list[tuple[Level, ...]] = []
    index: list[Affine] = []
    guards: list[Guard] = []
    for d, dim in enumerate(plan.stage.dims):
        whole = _levels_of(plan.steps, d, dim.name, names)
        chain = tuple(Cut(lv.parent, lv.tile, lv.cyclic) for lv in whole)
        levels = _cut_cyclic(whole, chain, names)
        pieces = [[lv for lv in levels if lv.step == w.step] for w in whole]
        by_dim.append(tuple(levels))
        index.append(_offset(pieces, chain, 0))
        for k in reversed(range(len(whole))):
            if not whole[k].exact:
                at = _offset(pieces, chain, k)
                guards.append(Guard(pieces[k][0], at, whole[k].parent, d, whole[k].open))
        for k, bound in _short(plan.steps, d):
            guards.append(Guard(pieces[k][0], _offset(pieces, chain, k), bound, d))
    return Levels(tuple(by_dim), tuple(index), tuple(guards), tuple(d.extent for d in plan.stage.dims))


def _short(steps: tuple[PlanStep, ...], d: int) -> list[tuple[int, int]]:
    """(number of the level below, elements) for splits whose single part is longer than the dimension."""
    out, below = [], 0
    count = sum(step.splits[d].parts > 1 for step in steps)
    for split in (step.splits[d] for step in steps):
        if split.parts > 1:
            below += 1
        elif split.tile > split.parent and below < count:
            out.append((below, split.parent))
    return out


def _levels_of(steps: tuple[PlanStep, ...], d: int, name: str, taken: set[str]) -> list[Level]:
    out = []
    for s, step in enumerate(steps):
        split = step.splits[d]
        if split.parts == 1:
            continue
        stem = f"{split.layer.lower()}_{name}" if split.layer else f"{name}_{s + 1}"
        var = fresh(stem, taken)
        out.append(
            Level(
                var, d, s, split.parts, split.tile, split.parent, split.layer, split.axis, split.rank,
                split.cyclic if split.cyclic and split.cyclic < split.tile else 0, open=split.open,
            )
        )  # fmt: skip
    return out


def _cut_cyclic(levels: list[Level], chain: Chain, taken: set[str]) -> list[Level]:
    """Cuts the levels below a cyclic one at its blocks, so that each level is one digit of the index."""
    found = _digits(chain)
    out: list[Level] = []
    for position, level in enumerate(levels):
        counts = [digit.count for digit in found if digit.cut == position]
        for k, count in enumerate(counts):
            piece = prod(counts[k + 1 :])
            whole = replace(
                level,
                parts=count,
                tile=level.tile * piece,
                parent=level.parent if k == 0 else level.tile * piece * count,
                piece=piece,
            )
            if len(counts) == 1:
                out.append(level)
                continue
            digit_name = "hl"[k] if len(counts) == 2 else str(k)
            out.append(replace(whole, var=fresh(f"{level.var}{digit_name}", taken)))
    return out


def _offset(pieces: list[list[Level]], chain: Chain, first: int) -> Affine:
    """The element that levels `first`, `first + 1`, … select among those of the first one's parent."""
    terms: dict[str, int] = {}
    found = _digits(chain[first:])
    for k, digit in enumerate(found):
        inner = prod(other.count for other in found[k + 1 :] if other.cut == digit.cut)
        for level in pieces[first + digit.cut]:
            # outer cyclic levels may have cut this digit further
            if inner <= level.piece < inner * digit.count:
                terms[level.var] = digit.weight * (level.piece // inner)
    return Affine.of(terms)


def _digits(chain: Chain) -> tuple[IndexDigit, ...]:
    found = digits(chain)
    assert found is not None, "K121 refuses tiles that do not nest with a cyclic split"
    return found
