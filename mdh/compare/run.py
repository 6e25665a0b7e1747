"""Runs a comparison, platform by platform. Each failure becomes a row of the result."""

from dataclasses import replace

from mdh.compare.closing import closed, first, is_open
from mdh.compare.figures import compared, portability, roof_of
from mdh.compare.on_device import DeviceWork, Doing, Found, Purse, Watched, on_device
from mdh.compare.rows import planned, recorded
from mdh.compare.task import Away, Contender, Task
from mdh.compare.timing import Say
from mdh.diagnostics import Failed
from mdh.ir.program import Program
from mdh.machine import Machine
from mdh.results.comparison import Comparison, Difference, Platform, Row, RowKind
from mdh.schedule.difference import StageNames, differences
from mdh.schedule.model import Schedule
from mdh.schedule.parser import parse_schedule
from mdh.source import Source
from mdh.tuner.records.key import Setting
from mdh.tuner.runtime.interrupt import Interrupt


async def compare(task: Task, interrupt: Interrupt, say: Say, watched: Watched, doing: Doing) -> Comparison:
    """The result of a task. Failures of schedules and devices are rows and do not raise. If the user ends it,
    it has the complete rows, and the others without a time."""
    to_tune = sum(is_open(c.schedule) for c in task.contenders) * len(task.devices)
    work = DeviceWork(task, interrupt, say, watched, doing, Purse(task.budget, to_tune))
    done = [await on_device(work, spec) for spec in task.devices]
    done += [_away(task, away, target) for away in task.machines for target in _targets(task, away.machine)]
    platforms, rows = tuple(p for p, _ in done), tuple(row for _, found in done for row in found)
    arrays = (f"{b.name} {b.dtype}{''.join(f'[{n}]' for n in b.shape)}" for b in task.program.buffers)
    return Comparison(
        task.program.name, task.job.defines, tuple(arrays), task.entries, platforms, rows,
        portability(task.entries, platforms, rows), _differences(task, rows), task.shelf.remarks,
        interrupt.asked,
    )  # fmt: skip


def _targets(task: Task, machine: Machine) -> tuple[str, ...]:
    """The targets of a machine that is not here: all that records have, else its first."""
    return tuple(t for t in machine.targets if task.shelf.knows(machine, t)) or machine.targets[:1]


def _away(task: Task, away: Away, target: str) -> Found:
    """The rows of a machine that is not here: times on record, else the model's."""
    machine = away.machine
    name = away.name if target == machine.targets[0] else f"{away.name}, {target}"
    platform = Platform(name, machine.title, machine.name, target, machine.kind, here=False)
    setting = Setting(machine, target, machine.title, task.job.deterministic)
    rows = [_guess(task, name, contender, setting) for contender in task.contenders]
    note = f"{away.name} is not here, and the cost model knows schedules alone"
    rows += [Row(name, peer.name, RowKind.ABSENT, note=note) for peer in task.libraries]
    return platform, compared(rows, {})


def _guess(task: Task, machine: str, contender: Contender, setting: Setting) -> Row:
    name = contender.entry.name
    program, schedule = task.program, contender.schedule
    try:
        found = closed(program, schedule, setting, task.shelf, here=False)
        if found is None:
            assert schedule is not None
            found = first(program, schedule, setting)
        row = recorded(planned(machine, name, found, None, drawn=task.drawn), found)
    except Failed as failed:
        return Row(machine, name, RowKind.FAILED, why=failed.diagnostics[0])
    return replace(row, roof=roof_of(found.plan))


def _differences(task: Task, rows: tuple[Row, ...]) -> tuple[Difference, ...]:
    """The differences of every schedule from the first one, as they are written. mdh's default is the one of
    the first platform that it has a plan for."""
    own = next((c.entry.name for c in task.contenders if c.schedule is None), "")
    row = next((r for r in rows if r.entry == own and r.schedule), None)
    default = None if row is None else parse_schedule(Source("<default>", row.schedule))
    texts = [(c.entry.name, c.schedule or default) for c in task.contenders]
    (base, before), *others = texts
    names = names_of(task.program)
    out = []
    for name, after in others:
        if before is None or after is None:
            continue
        if default is not None and row is not None and own in (base, name):
            # what one schedule leaves to the default is no difference from the default
            found = differences(_whole(before, default), _whole(after, default), names)
            # the default of a stage of a single element has no steps
            found = tuple(replace(s, dims=(max(s.dims),) * 2) if s.lone else s for s in found)
            out.append(Difference(base, name, found, row.platform))
        else:
            out.append(Difference(base, name, differences(before, after, names)))
    return tuple(out)


def _whole(schedule: Schedule, default: Schedule) -> Schedule:
    """The schedule with the default's sections for the stages that it leaves out."""
    if len(default.sections) < 2:
        return schedule
    own = {section.name for section in schedule.sections}
    rest = tuple(section for section in default.sections if section.name not in own)
    return replace(schedule, sections=(*schedule.sections, *rest))


def names_of(program: Program) -> dict[str, StageNames]:
    """Dimensions and entries of every stage by its name; a program's only stage also by no name."""
    out = {
        s.name: StageNames(tuple(d.name for d in s.dims), program.inputs(s), program.outputs(s))
        for s in program.stages
    }
    return {**out, "": out[program.stages[0].name]} if len(out) == 1 else out
