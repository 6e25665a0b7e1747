"""A refused schedule up to the step at which it stops being legal: the steps before it are drawn, as far as
they are a legal schedule of their own, and the step itself stands below them with its messages."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from html import escape

from mdh.diagnostics import Diagnostic, Failed
from mdh.ir.plan import Plan, StagePlan
from mdh.report.picture.stage import DimView, StageView, StepView, stage_view
from mdh.report.picture.tour import Later, tour
from mdh.schedule.model import Caret, Mem, Schedule, Section, Step

_BARE = "Tiles and units alone: what these steps say of memory is legal only together with later steps."


@dataclass(frozen=True, slots=True)
class Stop:
    """A section stops at step `bad` (from 0), and `drawn` steps are drawn: fewer than `bad` if the steps
    between are not legal without those that follow."""

    bad: int
    drawn: int


@dataclass(frozen=True)
class Stopped:
    """plan: of the steps that are drawn. stops: by the place of the section in the schedule. bare: memory
    entries and attributes of the drawn steps are left out."""

    schedule: Schedule
    plan: Plan
    stops: Mapping[int, Stop]
    bare: bool


def bad_steps(schedule: Schedule, diagnostics: Sequence[Diagnostic]) -> dict[int, int]:
    """The first step of each section that a message points into."""
    out: dict[int, int] = {}
    for d in diagnostics:
        for label in d.labels[:1]:
            place = _place(schedule, label.span.source, label.span.start)
            if place is not None:
                section, step = place
                out[section] = min(step, out.get(section, step))
    return out


def _place(schedule: Schedule, source: object, at: int) -> tuple[int, int] | None:
    for n, section in enumerate(schedule.sections):
        for s, step in enumerate(section.steps):
            span = step.span
            if span is not None and span.source == source and span.start <= at < span.end:
                return n, s
    return None


def cut(schedule: Schedule, counts: Mapping[int, int], *, bare: bool) -> Schedule:
    """The schedule with so many steps left of some sections. bare: without their memory entries and
    attributes."""
    sections = []
    for n, section in enumerate(schedule.sections):
        steps = section.steps
        if n in counts:
            steps = tuple(_bare(s) if bare else s for s in steps[: counts[n]])
        sections.append(replace(section, steps=steps))
    return replace(schedule, sections=tuple(sections))


def _bare(step: Step) -> Step:
    def same(entries: tuple[Mem, ...]) -> tuple[Mem, ...]:
        return tuple(replace(e, value=Caret(), attrs=()) for e in entries)

    return replace(step, inputs=same(step.inputs), outputs=same(step.outputs), attrs=())


def stopped_before(
    given: Schedule, diagnostics: Sequence[Diagnostic], checked: Callable[[Schedule], Plan]
) -> Stopped | None:
    """The steps in front of the bad ones, if they are a legal schedule by themselves. If not, without their
    memory entries and attributes, which later steps may be needed for; else fewer steps. None if nothing of
    the schedule is legal. checked: the plan of a schedule; raises Failed."""
    bad = counts = bad_steps(given, diagnostics)
    while counts:
        more: dict[int, int] = {}
        for bare in (False, True):
            try:
                plan = checked(cut(given, counts, bare=bare))
            except Failed as again:
                more = bad_steps(given, again.diagnostics)
                continue
            stops = {n: Stop(bad.get(n, count), count) for n, count in counts.items()}
            return Stopped(given, plan, stops, bare)
        fewer = {n: min(counts.get(n, count), count) for n, count in {**counts, **more}.items()}
        if fewer == counts:
            return None
        counts = fewer
    return None


def stopped_html(stopped: Stopped, diagnostics: Sequence[Diagnostic]) -> tuple[str, list[object]]:
    """The pictures of the sections that stop, and their data for the script."""
    parts: list[str] = []
    data: list[object] = []
    for at, stop in sorted(stopped.stops.items()):
        section = stopped.schedule.sections[at]
        stage = _stage_of(stopped.plan, section)
        if stage is None or stage.call is not None:
            continue
        view, later = _up_to(stopped, stage, section, stop, diagnostics)
        title = f"<h2>Stage {escape(view.name)}</h2>" if not stopped.plan.alone else ""
        note = f"<p class=note>{_BARE}</p>" if stopped.bare else ""
        said = f"<h3>Up to step {stop.bad + 1}</h3>{note}{tour(view, later)}"
        parts.append(f'<section id="stage-{len(data)}">{title}{said}</section>')
        data.append(asdict(view))
    return "".join(parts), data


def _stage_of(plan: Plan, section: Section) -> StagePlan | None:
    found = [s for s in plan.stages if section.name in (None, s.stage.name)]
    return found[0] if found else None


def _up_to(
    stopped: Stopped, stage: StagePlan, section: Section, stop: Stop, diagnostics: Sequence[Diagnostic]
) -> tuple[StageView, tuple[Later, ...]]:
    """The stage with the first step that is not drawn in the place of the implied last one: at it, pictures
    show the tile that it would split."""
    view = stage_view(stopped.plan, stage)
    implied = bool(stage.steps) and not stage.steps[-1].text
    k = len(stage.steps) - implied
    rows = [
        Later(s + 1, _text(section, s), tuple(_said(stopped, section, s, diagnostics)), s == stop.bad)
        for s in range(stop.drawn, len(section.steps))
    ]
    if stop.drawn < stop.bad:
        why = "not drawn: it is legal only together with the steps below"
        rows[0] = replace(rows[0], facts=(why, *rows[0].facts))
    first = StepView(rows[0].number, rows[0].text, (), rows[0].facts, bad=rows[0].bad)
    held = tuple(h for h in view.held if h.step < k)
    dims = tuple(_undivided(dim, k) for dim in view.dims)
    drawn = [replace(view.steps[s], text=_text(section, s)) for s in range(k)]
    return replace(view, dims=dims, steps=(*drawn, first), held=held), tuple(rows[1:])


def _undivided(dim: DimView, k: int) -> DimView:
    """The dimension with the parts of step `k` as those of a later one, which the page does not have."""
    digits = tuple(replace(d, step=k + 1, layer="") if d.step >= k else d for d in dim.digits)
    return replace(dim, digits=digits)


def _text(section: Section, step: int) -> str:
    span = section.steps[step].span
    return " ".join(span.text.split()) if span is not None else ""


def _said(stopped: Stopped, section: Section, step: int, diagnostics: Sequence[Diagnostic]) -> list[str]:
    """The messages that begin at a step."""
    at = next(n for n, s in enumerate(stopped.schedule.sections) if s is section)
    out = []
    for d in diagnostics:
        if d.labels and _place(stopped.schedule, d.labels[0].span.source, d.labels[0].span.start) == (
            at,
            step,
        ):
            label = f"{d.labels[0].span.text}: {d.labels[0].message}" if d.labels[0].message else ""
            out += [f"{d.code}: {d.headline}", *filter(None, [label, f"help: {d.help}" if d.help else ""])]
    return out
