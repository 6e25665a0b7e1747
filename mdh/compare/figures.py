"""The figures of a comparison: intervals, ratios, shares of the roofline, and performance portability."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import comb
from statistics import median

from mdh.cost.work import computed_stages, peak_of, plan_bytes, plan_operations, work_of
from mdh.ir.plan import Plan
from mdh.ir.turns import times
from mdh.language import LANGUAGES
from mdh.results.comparison import Entry, Platform, Portability, Roof, Row, RowKind, Spread

LEVEL = 0.95
_KNOWN = (RowKind.MEASURED, RowKind.RECORDED)


def spread(samples: Sequence[float], clock: str) -> Spread:
    """The median of at least one sample with its confidence interval. The interval lies between two order
    statistics, because times are not normally distributed. With fewer than six samples these are the
    extremes, with less confidence.

    Source: any text on order statistics; for times of programs, Hoefler and Belli, SC'15, rule 6.
    """
    ordered = sorted(samples)
    n = len(ordered)
    below = _below(n)
    level = 1.0 - 2 * sum(comb(n, i) for i in range(below + 1)) / 2**n
    return Spread(median(ordered), ordered[below], ordered[n - 1 - below], max(0.0, level), n, clock)


def _below(n: int) -> int:
    """The number of samples that may lie outside on each side; the number of samples below the median is
    binomial."""
    tail, outside = 0.0, -1
    while outside + 1 < (n + 1) // 2:
        tail += comb(n, outside + 1) / 2**n
        if tail > (1.0 - LEVEL) / 2.0:
            break
        outside += 1
    return max(0, outside)


def tied(one: Sequence[float], other: Sequence[float]) -> bool:
    """Whether times that were taken in turns may be equal: the confidence interval of the median ratio of
    consecutive runs contains 1."""
    ratios = [a / b for a, b in zip(one, other, strict=False) if b > 0]
    if not ratios:
        return False
    found = spread(ratios, "")
    return found.low <= 1.0 <= found.high


def roof_of(plan: Plan) -> Roof | None:
    """By the machine's peak speeds. Memory bounds a stage only where what it reads and writes does not stay
    in the last cache, since runs are timed one after another. None where nothing bounds the program."""
    machine, seconds, memory = plan.machine, 0.0, 0.0
    tensor_cores = LANGUAGES[plan.target].tensor_cores
    inside = work_of(plan)[1] <= machine.caches[-1]
    for number, stage in enumerate(plan.stages):
        turns = times(plan.computed.loops, number)
        computed = computed_stages(stage)
        peak = peak_of(machine, *computed, tensor_cores=tensor_cores, allowed=plan.program.allowed)
        arithmetic = plan_operations(stage) / peak
        moved = 0.0 if inside else plan_bytes(stage) / machine.bandwidth
        seconds += turns * max(arithmetic, moved)
        memory += turns * moved if moved > arithmetic else 0.0
    return Roof(seconds, "memory" if memory > seconds / 2 else "arithmetic") if seconds else None


def compared(rows: Sequence[Row], samples: Mapping[str, Sequence[float]]) -> tuple[Row, ...]:
    """The rows of one platform with their ratios to the fastest there. samples: entry -> seconds of the runs,
    in turns; estimates are compared with one another where nothing was measured."""
    timed = [r for r in rows if r.time is not None]
    real = [r for r in timed if r.kind in _KNOWN]
    first = min(real or timed, key=lambda r: r.time.seconds if r.time else 0.0, default=None)
    return tuple(_against(row, first, samples) for row in rows)


def _against(row: Row, first: Row | None, samples: Mapping[str, Sequence[float]]) -> Row:
    if row.time is None or first is None or first.time is None:
        return row
    share = None if row.roof is None else row.roof.seconds / row.time.seconds
    near = row.entry in samples and first.entry in samples and row is not first
    tie = near and tied(samples[row.entry], samples[first.entry])
    return replace(row, ratio=row.time.seconds / first.time.seconds, tie=tie, share=share)


def portability(
    entries: Sequence[Entry], platforms: Sequence[Platform], rows: Sequence[Row]
) -> tuple[Portability, ...]:
    """Of every schedule over the platforms where anything was measured; then, where there are estimates, over
    those as well. Libraries take part as what is compared with, and have no figure of their own."""
    schedules = [e for e in entries if not e.library]
    real = [p.name for p in platforms if any(r.platform == p.name and r.kind in _KNOWN for r in rows)]
    guessed = [
        p.name for p in platforms if any(r.platform == p.name and r.kind is RowKind.ESTIMATED for r in rows)
    ]
    whole = [p.name for p in platforms if p.name in real or p.name in guessed]
    sets = [(real, False)] if real else []
    sets += [(whole, True)] if guessed else []
    return tuple(_portable(e, names, rows, guess) for names, guess in sets for e in schedules)


def _portable(entry: Entry, names: Sequence[str], rows: Sequence[Row], estimated: bool) -> Portability:
    mine = {r.platform: r for r in rows if r.entry == entry.name and r.platform in names}
    of_best = [_efficiency(mine.get(name), architectural=False) for name in names]
    of_roof = [_efficiency(mine.get(name), architectural=True) for name in names]
    return Portability(entry.name, harmonic(of_best), harmonic(of_roof), tuple(names), estimated)


def _efficiency(row: Row | None, *, architectural: bool) -> float | None:
    """From 0 (does not run) to 1; None where it is not known."""
    if row is None or row.kind is RowKind.ABSENT:
        return None
    if row.time is None:
        return 0.0
    if architectural:
        # a machine file whose speeds are too low must not make up for another platform
        return None if row.share is None else min(1.0, row.share)
    return None if not row.ratio else min(1.0, 1.0 / row.ratio)


def harmonic(efficiencies: Sequence[float | None]) -> float | None:
    """|H| / sum of 1/e over the platforms H; 0 where one of them is 0.

    Source: Pennycook, Sewall, Lee, "A Metric for Performance Portability", arXiv:1611.07409, equation 1.
    """
    if any(e == 0.0 for e in efficiencies):
        return 0.0
    if not efficiencies or any(e is None for e in efficiencies):
        return None
    return len(efficiencies) / sum(1.0 / e for e in efficiencies if e)
