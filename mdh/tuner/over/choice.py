"""Which schedule serves which sizes, decided from times."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import inf, log

from mdh.ir.open_size import OpenSize
from mdh.tuner.over.cells import Cell

SWITCH = 0.05
"""The share of time that another schedule must save, summed over the measured sizes, to be one more case."""
CLOSE = 1.03
"""A schedule is as good as the best of a cell if it takes no longer than this factor."""
Times = Mapping[int, float]
"""Seconds by the number of the schedule; schedules that are illegal or wrong there are missing."""
Legal = Callable[[int, tuple[OpenSize, ...]], bool]
"""Whether a schedule is legal for ranges of sizes."""


@dataclass(frozen=True, slots=True)
class CaseChoice:
    """A schedule, by its number, and the sizes that it serves. within: ranges that hold these, for which the
    schedule is legal."""

    ranges: tuple[OpenSize, ...]
    schedule: int
    within: tuple[OpenSize, ...]


def chosen(
    measured: Sequence[tuple[Cell, Sequence[tuple[Mapping[str, int], Times]]]], legal: Legal
) -> list[CaseChoice]:
    """The cases of a table, in an order in which the first that takes a size is the one chosen for it.
    measured: for each cell, times of schedules at some of its sizes; those schedules are legal in the cell.
    Cells without any time are served by a neighbour's schedule only if that is legal there."""
    known = [(cell, points) for cell, points in measured if any(times for _, times in points)]
    if not known:
        return []
    if len(known[0][0].ranges) == 1:
        return _ordered(merged(_along_one_size(known), legal), legal)
    numbers = sorted({n for _, points in known for _, times in points for n in times})
    picked = [(cell, of_cell([t for _, t in points if t], numbers)) for cell, points in known]
    return merged([CaseChoice(c.ranges, n, c.ranges) for c, n in picked if n is not None], legal)


def _along_one_size(
    known: Sequence[tuple[Cell, Sequence[tuple[Mapping[str, int], Times]]]],
) -> list[CaseChoice]:
    """Pieces of cells. Between two measured sizes with different schedules, the first serves the sizes up to
    their geometric mean."""
    (name,) = (r.name for r in known[0][0].ranges)
    rows = sorted(
        ((p[name], times, cell) for cell, points in known for p, times in points if times), key=lambda r: r[0]
    )
    numbers = along([times for _, times, _ in rows])
    out: list[CaseChoice] = []
    for cell in dict.fromkeys(cell for _, _, cell in rows):
        (whole,) = cell.ranges
        mine = [(size, n) for (size, _, of), n in zip(rows, numbers, strict=True) if of is cell]
        start = whole.least
        for k, (size, number) in enumerate(mine):
            after = mine[k + 1] if k + 1 < len(mine) else None
            if after is not None and after[1] == number:
                continue
            end = whole.most if after is None else _between(size, after[0], whole.multiple)
            out.append(CaseChoice((_range(whole, start, end),), number, (_range(whole, start, whole.most),)))
            start = end + whole.multiple
    return out


def _between(low: int, high: int, multiple: int) -> int:
    """The geometric mean, as a multiple from `low` to below `high`."""
    middle = int((low * high) ** 0.5) // multiple * multiple
    return max(low, min(middle, high - multiple))


def _range(size: OpenSize, least: int, most: int) -> OpenSize:
    return OpenSize(size.name, least, most, 1 if least == most else size.multiple)


def _ordered(choices: list[CaseChoice], legal: Legal) -> list[CaseChoice]:
    """Cases of one size. A schedule may be illegal for as few sizes as it serves, as with a tile larger than
    all of them. Then its case goes on to larger sizes, which cases above it serve."""
    exact = [legal(c.schedule, c.ranges) for c in choices]
    if all(exact):
        return choices
    wider = [
        c if fits else CaseChoice(c.within, c.schedule, c.within)
        for c, fits in zip(choices, exact, strict=True)
    ]
    return wider[::-1]


def along(points: Sequence[Times]) -> list[int]:
    """The schedule for each of several sizes in their order: the least sum of the logarithms of times over
    the best ones and of SWITCH for each change (dynamic programming). Requires some time at each."""
    names = sorted({name for times in points for name in times})
    costs: dict[int, float] = dict.fromkeys(names, 0.0)
    back: list[dict[int, int]] = []
    for times in points:
        least = min(costs, key=lambda n: (costs[n], n))
        best = min(times.values())
        came, after = {}, {}
        for name in names:
            stay, change = costs[name], costs[least] + SWITCH
            came[name] = name if stay <= change else least
            after[name] = min(stay, change) + (log(times[name] / best) if name in times else inf)
        back.append(came)
        costs = after
    name = min(costs, key=lambda n: (costs[n], n))
    out = []
    for came in reversed(back):
        out.append(name)
        name = came[name]
    return out[::-1]


def of_cell(times: Sequence[Times], preferred: Sequence[int]) -> int | None:
    """The schedule of a cell from its times at several sizes. Among those as good as the best, the first of
    `preferred`. None if none has a time at all of the sizes."""
    common = set.intersection(*(set(t) for t in times)) if times else set()
    if not common:
        return None
    sums = {name: sum(log(t[name] / min(t.values())) for t in times) / len(times) for name in common}
    best = min(sums.values())
    good = {name for name, cost in sums.items() if cost <= best + log(CLOSE)}
    return next((name for name in preferred if name in good), min(good, key=lambda n: (sums[n], n)))


def merged(choices: Sequence[CaseChoice], legal: Legal) -> list[CaseChoice]:
    """One choice for neighbours with the same schedule, where together they are a box of sizes for which the
    schedule is legal."""
    out = list(choices)
    while (pair := _pair(out, legal)) is not None:
        first, second, box = pair
        within = _box(out[first].ranges, out[second].within) or box
        out[first] = CaseChoice(
            box, out[first].schedule, within if legal(out[first].schedule, within) else box
        )
        del out[second]
    return out


def _pair(choices: Sequence[CaseChoice], legal: Legal) -> tuple[int, int, tuple[OpenSize, ...]] | None:
    for a, first in enumerate(choices):
        for b in range(a + 1, len(choices)):
            box = None
            if first.schedule == choices[b].schedule and not (_one(first) and _one(choices[b])):
                box = _box(first.ranges, choices[b].ranges)
            if box is not None and legal(first.schedule, box):
                return a, b, box
    return None


def _one(choice: CaseChoice) -> bool:
    """Whether it serves one value of each size. Kernels for one value are not those for a range of two."""
    return all(r.value is not None for r in choice.ranges)


def _box(first: tuple[OpenSize, ...], second: tuple[OpenSize, ...]) -> tuple[OpenSize, ...] | None:
    """The box that two boxes make, if they differ in one size alone and meet there."""
    differ = [k for k, (a, b) in enumerate(zip(first, second, strict=True)) if a != b]
    if len(differ) != 1:
        return None
    (k,) = differ
    a, b = sorted((first[k], second[k]), key=lambda r: r.least)
    multiple = max(a.multiple, b.multiple)
    if b.least - a.most != multiple:
        return None
    return (*first[:k], OpenSize(a.name, a.least, b.most, multiple), *first[k + 1 :])
