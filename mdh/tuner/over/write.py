"""The files of a table: its text, and the folder of its kernels."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from mdh.diagnostics import Diagnostic, Failed
from mdh.ir.plan import Plan
from mdh.machine import machine_names
from mdh.pipeline import Pipeline
from mdh.printable import encodable
from mdh.report.text import seconds_text
from mdh.results.table_tuning import Measured
from mdh.schedule.cases import ranges_text
from mdh.schedule.model import Schedule, SizeCase, SizeHeader
from mdh.schedule.parser import parse_schedule
from mdh.schedule.printer import print_schedule
from mdh.source import Source
from mdh.target.dispatch import Version, as_version, dispatch_folder
from mdh.tuner.measure.bench import Ground
from mdh.tuner.outputs import free_name
from mdh.tuner.over.choice import CaseChoice
from mdh.tuner.over.order import OverOrder
from mdh.tuner.records.disk import replace_file

TOLD = "table tuned by mdh"
"""The first line of a table that the tuner wrote. Others are renamed and not replaced."""
_HEAD = 4096


@dataclass(frozen=True)
class Made:
    """text: of the table. cases: the ranges of each in words, and what its schedule was made for."""

    text: str
    cases: tuple[tuple[str, str], ...]
    choices: tuple[CaseChoice, ...]
    plans: tuple[Plan, ...]


def made_table(
    over: OverOrder, ground: Ground, choices: Sequence[CaseChoice], schedules: Sequence[str],
    names: Sequence[str], points: Sequence[Measured],
) -> Made | None:  # fmt: skip
    """The table of the chosen cases, all of which are legal; None without any."""
    cases, plans, rows = [], [], []
    for choice in choices:
        plan = over.plan(schedules[choice.schedule], choice.ranges, ground.machine, ground.target)
        assert plan is not None, "only legal cases are chosen"
        name = names[choice.schedule]
        sections = parse_schedule(Source("<plan>", plan.text)).sections
        case = SizeCase(choice.ranges, sections, comments=_told(name, choice, points))
        cases.append(case)
        plans.append(plan)
        rows.append((ranges_text(case), name))
    if not cases:
        return None
    order = over.order
    fixed = tuple((name, value) for name, value in order.job.defines if isinstance(value, int))
    head = (f"{TOLD} for {' '.join(f'{r.name}={r}' for r in over.ranges)} on {ground.title}",)
    sizes = (SizeHeader("for", fixed),) if fixed else ()
    target = ground.machine.name if ground.machine.name in machine_names() else None
    table = Schedule((), target, order.program.name, sizes, head, cases=tuple(cases))
    return Made(print_schedule(table), tuple(rows), tuple(choices), tuple(plans))


def _told(name: str, choice: CaseChoice, points: Sequence[Measured]) -> tuple[str, ...]:
    """The comments of a case: what its schedule was tuned for, and its times at the sizes that it serves."""
    times = []
    for point in points:
        sizes = dict(point.sizes)
        if point.chosen == name and all(r.takes(sizes[r.name]) for r in choice.ranges):
            at = " ".join(f"{n}={v}" for n, v in point.sizes)
            times.append(f"{at}: {seconds_text(point.seconds[name])}")
    made = "the default schedule" if name == "default" else f"made for {name}"
    return (made, *([", ".join(times)] if times else []))


def write_table(over: OverOrder, made: Made) -> dict[str, str]:
    """Writes NAME.over.mdh and the folder NAME.over, and returns them by kind. Raises Failed F111."""
    order = over.order
    path = order.place / f"{order.program.name}.over.mdh"
    out: dict[str, str] = {}
    if not _ours(path):
        kept = free_name(path, ".mdh")
        replace_file(kept, path.read_bytes())
        out["earlier"] = str(kept)
    replace_file(path, encodable(made.text).encode("utf-8"))
    out["table"] = str(path)
    inside = order.place / f"{order.program.name}.over"
    for name, content in _folder(over, made).items():
        replace_file(inside / name, encodable(content).encode("utf-8"))
    out["kernel"] = f"{inside}/"
    return out


def _ours(path: Path) -> bool:
    """Whether the file is a table of the tuner, or does not exist. Raises Failed F111."""
    try:
        with path.open("rb") as file:
            return file.read(_HEAD).startswith(f"// {TOLD}".encode())
    except FileNotFoundError:
        return True
    except OSError as error:
        headline = f"cannot read `{path}`: {error.strerror}"
        raise Failed(Diagnostic("F111", headline, help="give another folder: -o DIR")) from None


def _folder(over: OverOrder, made: Made) -> dict[str, str]:
    pipeline, versions = Pipeline(), []
    for number, (choice, found) in enumerate(zip(made.choices, made.plans, strict=True), 1):
        plan = as_version(found, number)
        versions.append(Version(choice.ranges, plan, pipeline.emit(pipeline.lower(plan), plan.program)))
    defines = dict(over.order.job.defines) | {r.name: r.most for r in over.ranges}
    arch = made.plans[0].machine.arch
    return dispatch_folder(versions, over.order.program, made.text, defines=defines, arch=arch)
