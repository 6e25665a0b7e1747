"""Measures an experiment on a device, case by case, until its minutes are over."""

import asyncio
import os
from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from datetime import date
from time import monotonic

from mdh.compare.library import computes_on
from mdh.compare.on_device import Watched
from mdh.compare.run import compare
from mdh.compare.task import Contender, Task
from mdh.compare.timing import JUDGED, Say
from mdh.cost.work import operations, peak_of
from mdh.device.api import open_device
from mdh.diagnostics import Failed
from mdh.ir.program import Program
from mdh.language import LANGUAGES
from mdh.machine import Machine
from mdh.pipeline import Pipeline
from mdh.release import release
from mdh.report.compare_text import reason
from mdh.report.text import duration_text
from mdh.reproduce.cases import defines_of, schedule_source, source_of
from mdh.results.comparison import Comparison, Entry, Row, RowKind
from mdh.results.experiment import Case, Experiment
from mdh.results.reproduction import CaseTime, PeerTime, Reproduction
from mdh.results.trial import Job
from mdh.schedule.parser import parse_schedule
from mdh.tuner.runtime.interrupt import Interrupt

_DEFAULT = "default"
_LAUNCHES, _CALLS, _REFERENCE = 30, 10, 20
"""How often about a schedule and a library compute a case that takes long; and what its reference takes, in
such runs."""
_LEAST = 3.0
"""Seconds that any case takes: processes start, a compiler runs."""


@dataclass(frozen=True)
class ExperimentOrder:
    """An experiment to be measured. minutes: after them no case goes on. command: as it was typed."""

    experiment: Experiment
    device: str
    minutes: float
    command: str = ""
    seed: int = 0


@dataclass(frozen=True)
class _Measuring:
    order: ExperimentOrder
    machine: Machine
    target: str
    end: float
    interrupt: Interrupt
    say: Say
    watched: Watched

    @property
    def left(self) -> float:
        return self.end - monotonic()

    @property
    def over(self) -> str:
        """Why nothing more is measured; empty while there is time."""
        if self.interrupt.signal is not None:
            return "not measured: interrupted before"
        if self.interrupt.asked or self.left <= 0:
            return f"not measured within {_minutes(self.order.minutes)}; --minutes gives more"
        return ""


def _minutes(minutes: float) -> str:
    return f"{minutes:g} minute{'' if minutes == 1 else 's'}"


async def reproduce(order: ExperimentOrder, interrupt: Interrupt, say: Say, watched: Watched) -> Reproduction:
    """The result on the order's device. A case that cannot be measured says why. Raises Failed D1xx for a
    device that is not there."""
    experiment, begun = order.experiment, monotonic()
    device = open_device(order.device)
    load = _load()
    work = _Measuring(
        order, device.machine, device.target, begun + 60 * order.minutes, interrupt, say, watched
    )
    timer = asyncio.get_running_loop().call_later(60 * order.minutes, interrupt.event.set)
    found, versions, clock, wrong = list[CaseTime](), dict[str, None](), "", False
    try:
        for number, case in enumerate(experiment.cases):
            if not work.over:
                say(f"{experiment.name}: {case.name}, {number + 1} of {len(experiment.cases)}")
            time, rows = await _case(work, case)
            found.append(time)
            versions |= dict.fromkeys(_versions(case, rows))
            clock = clock or next((r.time.clock for r in rows if r.time is not None), "")
            wrong = wrong or any(r.why is not None and r.why.code.startswith("N") for r in rows)
    finally:
        timer.cancel()
    return Reproduction(
        experiment.name, order.device, device.machine.title, device.machine.kind, order.command,
        date.today().isoformat(), tuple(found), (f"mdh {release()}", *sorted(versions)), clock,
        monotonic() - begun, load, wrong,
    )  # fmt: skip


def _load() -> float | None:
    """Processes that wanted to run in the last minute, by processor."""
    try:
        return os.getloadavg()[0] / (os.cpu_count() or 1)
    except OSError:
        return None


async def _case(work: _Measuring, case: Case) -> tuple[CaseTime, tuple[Row, ...]]:
    if work.over:
        return CaseTime(case.name, why=work.over), ()
    try:
        task = _task(work, case)
        need = _need(task.program, work, len(task.contenders), len(task.libraries))
        if need > work.left:
            why = f"left out: it takes about {duration_text(need)}, and {duration_text(work.left)} were left"
            return CaseTime(case.name, why=f"{why}; --minutes gives more"), ()
        compared = await compare(task, work.interrupt, _quiet, work.watched, _unseen)
    except Failed as failed:
        return CaseTime(case.name, why=reason(failed.diagnostics[0])), ()
    return case_time(case, compared, work.over), compared.rows


def _quiet(_: str) -> None:
    """The rounds of one case are no news."""


def _unseen(_: str) -> AbstractContextManager[Say]:
    """Nor is what a device does meanwhile."""
    return nullcontext(_quiet)


def _need(program: Program, work: _Measuring, schedules: int, libraries: int) -> float:
    """About the seconds that a case takes, if its arithmetic runs at the machine's peak."""
    computed = sum(map(operations, program.stages))
    tensor_cores = LANGUAGES[work.target].tensor_cores
    peak = peak_of(work.machine, *program.stages, tensor_cores=tensor_cores, allowed=program.allowed)
    once = computed / peak if peak else 0.0
    return _LEAST + once * (_LAUNCHES * schedules + _CALLS * libraries + _REFERENCE)


def _task(work: _Measuring, case: Case) -> Task:
    """The comparison that measures a case. Raises Failed for a program or a schedule that cannot be read."""
    order, kind = work.order, work.machine.kind
    source, defines = source_of(case), defines_of(case)
    program = Pipeline().read(source, defines=defines)
    contenders = [
        Contender(Entry(name, name), parse_schedule(schedule_source(name)))
        for name in (*case.written, *case.schedules.get(kind, ()))
    ]
    share = order.experiment.share
    return Task(
        Job(source.name, source.text, tuple(defines.items()), seed=order.seed), program,
        (*contenders, Contender(Entry(_DEFAULT), None)), (order.device,),
        libraries=tuple(p for p in case.peers if computes_on(p.library, kind, order.device)),
        budget=share * work.left if share else None, seconds=order.experiment.seconds,
        inputs=JUDGED, command=order.command,
    )  # fmt: skip


def case_time(case: Case, compared: Comparison, over: str = "") -> CaseTime:
    """What a comparison came to: the fastest of the schedules that are not the paper's own, beside all else.
    over: why it may have been ended before it was complete."""
    rows = {row.entry: row for row in compared.rows}
    theirs = {*case.written, *(p.name for p in case.peers)}
    mine = [r for name, r in rows.items() if name not in theirs and r.time is not None]
    ours = min(mine, key=lambda r: r.time.seconds if r.time else 0.0, default=None)
    failed = [f"{r.entry}: {reason(r.why)}" for r in rows.values() if r.why and r.kind is RowKind.FAILED]
    if ours is None or ours.time is None:
        trouble = next((p.trouble for p in compared.platforms if p.trouble is not None), None)
        why = reason(trouble) if trouble is not None else over or "; ".join(failed) or "no time"
        return CaseTime(case.name, why=why)
    peers = tuple(_peer(row, ours.time.seconds) for name, row in rows.items() if name in theirs)
    own = rows.get(_DEFAULT)
    default = None if own is None or own.time is None else own.time.seconds
    return CaseTime(
        case.name, ours.time.seconds, ours.entry, default,
        None if ours.cold is None else ours.cold.seconds, peers,
        failed=tuple(f for f in failed if f.partition(":")[0] not in theirs),
    )  # fmt: skip


def _peer(row: Row, ours: float) -> PeerTime:
    if row.time is None:
        why = row.note if row.why is None else reason(row.why)
        return PeerTime(row.entry, why=why)
    return PeerTime(row.entry, row.time.seconds, row.time.seconds / ours)


def _versions(case: Case, rows: Sequence[Row]) -> list[str]:
    """`numpy 2.1.0, openblas 0.3`: the first part of a library's remark."""
    libraries = {p.name for p in case.peers}
    return [r.note.partition(";")[0] for r in rows if r.entry in libraries and r.time is not None and r.note]
