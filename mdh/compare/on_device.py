"""Compares all entries on one device of this machine."""

import time
from collections.abc import Callable
from contextlib import AbstractContextManager, ExitStack
from dataclasses import dataclass, replace
from pathlib import Path

from mdh.compare.closing import Closed, candidate_of, checked, closed, first, is_open
from mdh.compare.figures import compared, roof_of
from mdh.compare.limits import constants_of
from mdh.compare.rows import ENDED, measured, planned
from mdh.compare.task import Contender, Task
from mdh.compare.timing import Contest, Say, timed
from mdh.device.cache import cache_if_any
from mdh.diagnostics import Diagnostic, Failed
from mdh.folders import scratch
from mdh.report.measurement import demand_fit
from mdh.report.text import duration_text
from mdh.results.comparison import Platform, Row, RowKind
from mdh.results.goal import Goal
from mdh.schedule.parser import parse_schedule
from mdh.source import Source
from mdh.tuner.loop.state import Watch
from mdh.tuner.measure.local import LocalBench
from mdh.tuner.order import Order
from mdh.tuner.records.key import Setting
from mdh.tuner.runtime.interrupt import Interrupt, unless_asked
from mdh.tuner.start import start

Watched = Callable[[str], AbstractContextManager[Watch]]
"""Returns the watch of a tuning, by its name."""
Doing = Callable[[str], AbstractContextManager[Say]]
"""Shows what a device does, by its name, as long as it lasts; returns what is told each step."""
_CHECK = "2 inputs"
"""How candidates are judged, in the words of the tuner's records."""
Found = tuple[Platform, tuple[Row, ...]]


@dataclass
class Purse:
    """Seconds for tuning, shared among the entries to tune. left None: nothing is tuned."""

    left: float | None
    shares: int

    def share(self) -> float | None:
        return None if self.left is None else self.left / max(1, self.shares)

    def spent(self, seconds: float = 0.0) -> None:
        """One share was used, or was not needed."""
        self.shares -= 1
        self.left = None if self.left is None else max(1.0, self.left - seconds)


@dataclass(frozen=True)
class DeviceWork:
    """What the work on all devices shares."""

    task: Task
    interrupt: Interrupt
    say: Say
    watched: Watched
    doing: Doing
    purse: Purse


async def on_device(work: DeviceWork, spec: str) -> Found:
    """The results on one device. Never raises Failed: a device that cannot be used has that as its trouble,
    and rows without a time."""
    platform = Platform(spec)
    bench = LocalBench(replace(work.task.job, device=spec), cache=cache_if_any())
    try:
        with work.doing(spec) as step:
            step("starts processes")
            opened = None if work.interrupt.asked else await unless_asked(work.interrupt, bench.__aenter__())
        if opened is None:
            return platform, _absent(work.task, spec, None)
        ground, machine = bench.ground, bench.ground.machine
        platform = Platform(spec, ground.title, machine.name, ground.target, machine.kind)
        demand_fit(work.task.program, machine, spec)
        return platform, await _rows(work, platform, bench)
    except Failed as failed:
        why = failed.diagnostics[0]
        return replace(platform, trouble=why), _absent(work.task, spec, why)
    finally:
        await bench.close()


def _absent(task: Task, spec: str, why: Diagnostic | None) -> tuple[Row, ...]:
    note = ENDED if why is None else ""
    return tuple(Row(spec, e.name, RowKind.ABSENT, why=why, note=note) for e in task.entries)


async def _rows(work: DeviceWork, platform: Platform, bench: LocalBench) -> tuple[Row, ...]:
    task, spec = work.task, platform.name
    deterministic = task.job.deterministic
    ground = bench.ground
    setting = Setting(ground.machine, ground.target, ground.title, deterministic, ground.versions, _CHECK)
    rows = {e.name: Row(spec, e.name, RowKind.ABSENT, note=ENDED) for e in task.entries}
    ready: dict[str, Closed] = {}
    for contender in task.contenders:
        name = contender.entry.name
        try:
            found = await _closed(work, contender, spec, setting)
            if found is not None:
                constants = constants_of(found.plan, platform, ground.versions)
                rows[name], ready[name] = planned(spec, name, found, constants, drawn=task.drawn), found
        except Failed as failed:
            rows[name] = Row(spec, name, RowKind.FAILED, why=failed.diagnostics[0])
    candidates = {n: candidate_of(c.plan, setting, c.values) for n, c in ready.items()}
    contest = Contest(
        task.program,
        bench,
        spec,
        task.job.seed,
        candidates,
        task.libraries,
        task.samples,
        task.seconds,
        task.inputs,
    )
    with work.doing(spec) as step:
        bench.doing = step
        runs = {} if work.interrupt.asked else await timed(contest, work.interrupt, work.say)
    # the roof depends on the program and the machine, whatever the schedule is
    plan = next((c.plan for c in ready.values()), None)
    roof = None if plan is None else roof_of(plan)
    every = [replace(measured(rows[e.name], runs.get(e.name)), roof=roof) for e in task.entries]
    return compared(every, {name: r.seconds for name, r in runs.items() if not r.over})


async def _closed(work: DeviceWork, contender: Contender, spec: str, setting: Setting) -> Closed | None:
    """The values from a record, from a tuning now, or of the first point; None if the user ended the tuning.
    Raises Failed."""
    program, schedule = work.task.program, contender.schedule
    found = closed(program, schedule, setting, work.task.shelf, here=True)
    if found is not None or schedule is None:
        work.purse.spent() if is_open(schedule) else None
        return found
    share = work.purse.share()
    if share is None:
        return first(program, schedule, setting)
    return await _tuned(work, contender, spec, setting, share)


async def _tuned(
    work: DeviceWork, contender: Contender, spec: str, setting: Setting, share: float
) -> Closed | None:
    task, schedule, begun = work.task, contender.schedule, time.monotonic()
    assert schedule is not None
    with ExitStack() as stack:
        place = task.place
        if place is None:
            place = stack.enter_context(scratch("compare"))
        order = Order(
            replace(task.job, device=spec), task.program, schedule, (spec,), Goal(seconds=share),
            place=Path(place), seed=task.job.seed, command=task.command,
        )  # fmt: skip
        name = contender.entry.name
        work.say(f"{spec}: tuning {name} for {duration_text(share)}")
        watch = stack.enter_context(work.watched(name))
        tuned = await start(order, watch, work.interrupt, work.say)
    work.purse.spent(time.monotonic() - begun)
    best = None if tuned is None else tuned.best_point
    if tuned is None or best is None:
        return None if work.interrupt.asked else first(task.program, schedule, setting)
    plan = checked(task.program, parse_schedule(Source("<tuned>", best.candidate.schedule)), setting)
    how = f"tuned now: {len(tuned.trials)} trials in {duration_text(tuned.elapsed)}"
    return Closed(plan, how, best.candidate.values)
