"""Tunes each cell of some ranges, measures all schedules in all cells, and makes the table."""

import time
from collections.abc import Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from functools import cache, partial
from typing import Protocol

from mdh.checker.open_default import default_for
from mdh.device.cache import cache_if_any
from mdh.diagnostics import Diagnostic, Failed
from mdh.ir.open_size import OpenSize
from mdh.results.goal import Goal
from mdh.results.table_tuning import CellTuning, Measured, TableTuned
from mdh.results.trial import Candidate, Effort, Failure, Limits, Outcome
from mdh.results.tuning import Tuned
from mdh.schedule.printer import print_schedule
from mdh.tuner.loop.state import Watch
from mdh.tuner.measure.bench import Ground
from mdh.tuner.measure.local import LocalBench
from mdh.tuner.order import Order
from mdh.tuner.over.cells import Cell, cells
from mdh.tuner.over.choice import CaseChoice, Times, chosen
from mdh.tuner.over.order import OverOrder
from mdh.tuner.over.write import Made, made_table, write_table
from mdh.tuner.runtime.background import in_background
from mdh.tuner.runtime.interrupt import Interrupt, unless_asked
from mdh.tuner.start import Say, start, unfound

GRACE = 20.0
"""Seconds after the budget in which each cell is still measured once."""
ROUNDS = 3
"""How often all schedules are timed in turns at a size. The best round counts."""
SEARCH = 0.65
"""The share of the budget for the tunings of cells. The rest is for measuring all schedules in all cells."""
EFFORT = Effort(samples=30, seconds=0.5)
LIMITS = Limits(build=120.0, launch=120.0, measure=60.0, trial=300.0)
WHOLE = "default"


class Watching(Protocol):
    """Returns the watch of a cell's tuning, by the cell's name."""

    def __call__(self, name: str, /) -> AbstractContextManager[Watch]: ...


@dataclass
class TableWork:
    """schedules: texts by number; names: what each was made for."""

    over: OverOrder
    interrupt: Interrupt
    say: Say
    cells: tuple[Cell, ...]
    deadline: float | None
    tunings: list[Tuned | None] = field(default_factory=list)
    schedules: list[str] = field(default_factory=list)
    names: list[str] = field(default_factory=list)
    ground: Ground | None = None
    one_kernel: dict[Cell, float] = field(default_factory=dict)
    """Seconds of the default schedule for the whole ranges, at the sizes that the cells are tuned for."""
    wrong: set[int] = field(default_factory=set)
    """Schedules whose results were wrong at some size. The table has none of them."""

    def add(self, name: str, text: str) -> None:
        """Adds a schedule, unless its text is there already."""
        if text not in self.schedules:
            self.schedules.append(text)
            self.names.append(name)

    def late(self, grace: float = 0.0) -> bool:
        """Whether the budget ended `grace` seconds ago, or more."""
        return self.deadline is not None and time.monotonic() > self.deadline + grace


async def tune_over(
    over: OverOrder, goal: Goal, watching: Watching, interrupt: Interrupt, say: Say
) -> TableTuned:
    """The table, which is on disk then. goal: its time is that of the whole, its trials are those of a cell.
    Raises Failed for errors of the whole tuning: in the program, the schedule, a record or the device."""
    begun = time.monotonic()
    deadline = None if goal.seconds is None else begun + goal.seconds
    work = TableWork(over, interrupt, say, cells(over.ranges), deadline)
    await _tune_cells(work, goal, watching)
    measured = await _measured(work) if work.ground is not None else []
    return await in_background(partial(_finished, work, measured, begun))


async def _tune_cells(work: TableWork, goal: Goal, watching: Watching) -> None:
    """Tunes one cell after another. The budget that is left is divided anew before each."""
    left = None if goal.seconds is None else goal.seconds * SEARCH
    for n, cell in enumerate(work.cells):
        tuned = None
        if cell.tuned and not work.interrupt.asked:
            share = None if left is None else max(1.0, left / sum(c.tuned for c in work.cells[n:]))
            order = replace(work.over.of_cell(cell), goal=Goal(goal.trials, share, goal.speedup))
            work.say(f"{cell.name}: cell {n + 1} of {len(work.cells)}")
            with watching(cell.name) as watch:
                tuned = await start(order, watch, work.interrupt, work.say)
        work.tunings.append(tuned)
        if tuned is None:
            continue
        left = None if left is None else left - tuned.elapsed
        for name, trial in ((cell.name, tuned.best), (f"default of {cell.name}", tuned.baseline)):
            if trial is not None and trial.outcome.failure is None:
                work.add(name, trial.candidate.schedule)
        if work.ground is None and tuned.plan is not None:
            work.ground = Ground(tuned.plan.machine, tuned.target, tuned.title, ())


def _add_default(work: TableWork, name: str, ranges: tuple[OpenSize, ...]) -> None:
    """Adds the default schedule for some ranges. Requires the ground."""
    assert work.ground is not None
    program, job, ground = work.over.program(ranges), work.over.order.job, work.ground
    found = default_for(program, ground.machine, ground.target, deterministic=job.deterministic)
    work.add(name, print_schedule(replace(found, target=None, program=None)))


Points = list[tuple[Cell, list[tuple[Mapping[str, int], Times]]]]


async def _measured(work: TableWork) -> Points:
    """Times of all schedules at sizes of all cells, as far as the budget lasts: first at the sizes that the
    cells were tuned for."""
    assert work.ground is not None
    for cell in work.cells:
        if not cell.tuned:
            await in_background(partial(_add_default, work, f"default of {cell.name}", cell.ranges))
    await in_background(partial(_add_default, work, WHOLE, work.over.ranges))
    out: Points = [(cell, []) for cell in work.cells]
    most = max(len(cell.points) for cell in work.cells)
    for k in range(most):
        for cell, found in out:
            if k >= len(cell.points) or work.interrupt.asked or work.late(0.0 if k else GRACE):
                continue
            point = cell.points[k]
            work.say("measuring all schedules at " + ", ".join(f"{n} = {v}" for n, v in point.items()))
            times = await unless_asked(work.interrupt, _times(work, cell, point))
            if times:
                found.append((point, times))
            if times and k == 0 and cell.tuned and WHOLE in work.names:
                one = await unless_asked(work.interrupt, _one_kernel(work, point))
                if one is not None:
                    work.one_kernel[cell] = one
    return [(cell, [(p, _without(t, work.wrong)) for p, t in found]) for cell, found in out]


def _filled(work: TableWork, measured: Points) -> Points:
    """With a size for each cell that there was no time to measure: it keeps the schedule that was tuned for
    it, or its default one. The seconds mean nothing."""
    out: Points = []
    for (cell, found), tuned in zip(measured, work.tunings, strict=True):
        best = None if tuned is None else tuned.best
        name = f"default of {cell.name}"
        own = None if name not in work.names else work.names.index(name)
        if best is not None:
            own = work.schedules.index(best.candidate.schedule)
        known = any(times for _, times in found)
        out.append((cell, found if known or own is None else [(cell.at, _without({own: 1.0}, work.wrong))]))
    return out


def _without(times: Times, wrong: set[int]) -> Times:
    return {n: seconds for n, seconds in times.items() if n not in wrong}


async def _times(work: TableWork, cell: Cell, point: dict[str, int]) -> Times:
    """Seconds of the schedules that are legal in the cell and right at this size."""
    order = work.over.at(cell.ranges, point)
    candidates = tuple(Candidate(str(n), text) for n, text in enumerate(work.schedules))
    found = await _duel(work, order, candidates)
    for n, outcome in enumerate(found):
        if outcome.failure is Failure.WRONG:
            work.say(f"the schedule made for {work.names[n]} is wrong here: {outcome.message}")
            work.wrong.add(n)
    return {n: o.seconds for n, o in enumerate(found) if o.seconds is not None}


async def _one_kernel(work: TableWork, point: dict[str, int]) -> float | None:
    """Seconds of the default schedule for the whole ranges at this size. In most cells it is illegal, because
    its tiles are larger than all sizes there."""
    order = work.over.at(work.over.ranges, point)
    whole = Candidate(WHOLE, work.schedules[work.names.index(WHOLE)])
    found = await _duel(work, order, (whole,))
    return found[0].seconds if found else None


async def _duel(work: TableWork, order: Order, candidates: tuple[Candidate, ...]) -> tuple[Outcome, ...]:
    """The outcome of each candidate; empty if nothing can be measured at this size."""
    bench = LocalBench(order.job, order.devices[:1], order.jobs, cache_if_any(), say=work.say)
    try:
        async with bench:
            found = await bench.duel(candidates, EFFORT, LIMITS)
            for _ in range(ROUNDS - 1):
                again = await bench.duel(candidates, EFFORT, LIMITS)
                found = tuple(map(_better, found, again))
            return found
    except Failed as failed:
        work.say(f"{failed.diagnostics[0].headline}: this size is left out")
        return ()


def _better(first: Outcome, second: Outcome) -> Outcome:
    """The faster of two results, since what else a machine does makes runs longer only. Failures stay."""
    if first.seconds is None or second.seconds is None:
        return first if first.seconds is None else second
    return min(first, second, key=lambda o: o.seconds or 0.0)


def _finished(work: TableWork, measured: Points, begun: float) -> TableTuned:
    """Chooses the cases, and writes the table and the folder of its kernels."""
    order, ground = work.over.order, work.ground
    trouble = tuple(d for t in work.tunings if t is not None for d in t.trouble)
    each = tuple(
        CellTuning(c.ranges, tuple(c.at.items()), t) for c, t in zip(work.cells, work.tunings, strict=True)
    )
    made: Made | None = None
    points: tuple[Measured, ...] = ()
    if ground is not None:
        choices = _choices(work, _filled(work, measured), ground)
        points = _points(work, measured, choices)
        made = made_table(work.over, ground, choices, work.schedules, work.names, points)
    if made is None and not trouble and not work.interrupt.asked:
        trouble = _unfound(work)
    files = {} if made is None else write_table(work.over, made)
    cases = () if made is None else made.cases
    title = "" if ground is None else ground.title
    return TableTuned(
        order.program.name, order.job.defines, title, ", ".join(order.devices), each, points, cases,
        None if made is None else made.text, time.monotonic() - begun, tuple(files.items()), trouble,
    )  # fmt: skip


def _unfound(work: TableWork) -> tuple[Diagnostic, ...]:
    """Why there is no table: what is known of the first cell that was tuned (F195)."""
    known = ((c, t) for c, t in zip(work.cells, work.tunings, strict=True) if t is not None)
    return tuple(
        replace(unfound(tuned), headline=f"{cell.name}: {unfound(tuned).headline}") for cell, tuned in known
    )[:1]


def _choices(work: TableWork, measured: Points, ground: Ground) -> list[CaseChoice]:
    """The cases. If some size is in none, the last case is the default schedule for all sizes."""

    @cache
    def legal(number: int, ranges: tuple[OpenSize, ...]) -> bool:
        return work.over.plan(work.schedules[number], ranges, ground.machine, ground.target) is not None

    found = [c for c in chosen(measured, legal) if legal(c.schedule, c.ranges)]
    covered = {cell for cell, points in measured if any(times for _, times in points)}
    whole = work.names.index(WHOLE) if WHOLE in work.names else None
    if whole is not None and whole not in work.wrong and (len(covered) < len(work.cells) or not found):
        found.append(CaseChoice(work.over.ranges, whole, work.over.ranges))
    return found


def _points(work: TableWork, measured: Points, choices: list[CaseChoice]) -> tuple[Measured, ...]:
    out = []
    for cell, points in measured:
        for sizes, times in points:
            taken = (c for c in choices if all(r.takes(sizes[r.name]) for r in c.ranges))
            choice = next(taken, None)
            name = "" if choice is None else work.names[choice.schedule]
            seconds = {work.names[n]: s for n, s in times.items()}
            one = work.one_kernel.get(cell) if sizes == cell.at else None
            out.append(Measured(tuple(sizes.items()), name, seconds, one))
    return tuple(sorted(out, key=lambda m: m.sizes))
