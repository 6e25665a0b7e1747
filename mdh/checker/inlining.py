"""K119, K122, S158: stages that their readers compute, and the program that is left for kernels."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace

from mdh.checker.online import renamed, with_online
from mdh.checker.sections import match_sections
from mdh.checker.subject import at
from mdh.diagnostics import Diagnostic, Failed, Label
from mdh.ir.expression_text import expression_text
from mdh.ir.inlining import InlineStage, InliningError
from mdh.ir.program import Program, Stage
from mdh.machine import Machine
from mdh.poly.inlining import Inlined, inlined
from mdh.poly.recomputation import computed_twice
from mdh.schedule.model import Beside, Caret, How, Library, Mem, Schedule, Section
from mdh.schedule.printer import print_how

CODE = "K119"
ONCE = "K122"
STEPS = "S158"
NO_EFFECT = "K110"


@dataclass(frozen=True)
class Staged:
    """program: with readers that compute the inline stages. kernels: its stages, each with its section.
    inline: the stages of the C that are inline. sections: those of `kernels`, and of stages without a kernel,
    in the order of the C. stored: arrays that stand for others of the C outside of the kernels that compute
    these."""

    program: Program
    kernels: tuple[tuple[Stage, Section], ...]
    inline: tuple[InlineStage, ...]
    sections: tuple[Section, ...]
    stored: Mapping[str, str] = field(default_factory=dict)


def staged(program: Program, schedule: Schedule, machine: Machine, default: Schedule | None) -> Staged:
    """The stages that get a kernel, with their sections. `default` has those that the schedule leaves out.

    Raises Failed: S150 to S155, and what `with_inline` and `with_online` raise.
    """
    matched = match_sections(program, schedule, machine, default)
    by_name = {stage.name: section for stage, section in matched}
    found = with_inline(program, by_name)
    left = {s.name: s for s in found.program.stages}
    before = found.program
    if any(s.chosen and s.how is How.INLINE for s in by_name.values()):
        before = with_inline(program, {n: s for n, s in by_name.items() if not s.chosen}).program
    spare = {} if default is None else {s.name: s for s in default.sections}
    sections, missing = [], []
    for stage, given in matched:
        section = given
        if stage.name not in left or isinstance(given.how, Library):
            section = replace(given, steps=(), fuses=(), wheres=(), derived=True)
        elif not given.derived:
            section = _adapted(before, found.program, left[stage.name], given)
        elif (own := spare.get(stage.name)) is not None and not own.derived:
            section = replace(given, steps=own.steps, fuses=own.fuses, derived=False)
        else:
            missing.append(Diagnostic("S153", f"the schedule has no steps for stage `{stage.name}`"))
        sections.append(section)
    if missing:
        raise Failed(*missing)
    joined = with_online(found.program, {s.name: x for (s, _), x in zip(matched, sections, strict=True)})
    whole, left = joined.program, {s.name: s for s in joined.program.stages}
    for n, (stage, _) in enumerate(matched):
        if stage.name in left and left[stage.name].read & {*joined.stored.values()}:
            sections[n] = renamed(sections[n], joined.stored)
    kernels = tuple(
        (left[stage.name], section)
        for (stage, _), section in zip(matched, sections, strict=True)
        if stage.name in left
    )
    stored = {new: old for old, new in joined.stored.items()}
    return Staged(whole, kernels, found.stages, tuple(sections), stored)


def with_inline(program: Program, sections: Mapping[str, Section]) -> Inlined:
    """The program in which the readers of inline stages compute them. sections: by the stage's name; stages
    without one, and those whose way is still a hole, have kernels.

    Raises Failed. K119: a stage cannot be inline. K122: `@once`, and a point is computed twice. S158: steps
    for a stage that has no kernel. K110: `@once` of a stage that is not inline.
    """
    names = {name for name, section in sections.items() if section.how is How.INLINE}
    wrong = [d for name, section in sections.items() for d in _idle(name, section)]
    if wrong:
        raise Failed(*wrong)
    if not names:
        return Inlined(program, ())
    try:
        found = inlined(program, names)
    except InliningError as unfit:
        (name,) = unfit.__notes__
        raise Failed(_unfit(name, unfit, sections[name])) from unfit
    for one in found.stages:
        section = sections[one.name]
        wrong += _once(program, one, section)
        steps = section.steps or section.fuses or section.wheres
        if steps and not one.kept and not section.chosen:
            headline = f"stage `{one.name}` has steps, but no kernel: its readers compute it"
            place = section.steps[0].span if section.steps else section.span
            hint = f"write `stage {one.name} inline` without steps, or leave `inline` out"
            wrong.append(Diagnostic(STEPS, headline, at(place, "no kernel has these"), help=hint))
    if wrong:
        raise Failed(*wrong)
    return found


def _idle(name: str, section: Section) -> Iterator[Diagnostic]:
    """K110 for `@once` where nothing is inline, S158 for steps where a library computes."""
    once = section.how is How.KERNEL or isinstance(section.how, Beside | Library)
    if once and not section.chosen:
        for attr in section.attrs:
            what, who = "has a kernel of its own", "a kernel"
            if isinstance(section.how, Library):
                what, who = "a call of a library computes", "a call"
            headline = f"`@{attr.name}` has no effect on stage `{name}`, which {what}"
            hint = f"{who} computes each point once: leave it out"
            yield Diagnostic(NO_EFFECT, headline, at(attr.span), help=hint)
    steps = section.steps or section.fuses or section.wheres
    if isinstance(section.how, Library) and steps and not section.chosen:
        headline = f"stage `{name}` has steps, but no kernel: a call of a library computes it"
        place = section.steps[0].span if section.steps else section.span
        choice = f"stage {name} = ?{{steps, {print_how(section.how)}}}"
        hint = f"leave them out, or let the tuner choose: `{choice}`"
        yield Diagnostic(STEPS, headline, at(place, "no kernel has these"), help=hint)


def _unfit(name: str, unfit: InliningError, section: Section) -> Diagnostic:
    labels = at(section.span, _access(unfit))
    if unfit.reader is not None and unfit.reader.span is not None:
        labels = (*labels, Label(unfit.reader.span, f"stage `{unfit.reader.name}`"))
    hint = f"leave it out: stage `{name}` then has a kernel of its own"
    return Diagnostic(
        CODE, f"stage `{name}` cannot be inline: {unfit.why}", labels, help=hint, witness=unfit.witness
    )


def _access(unfit: InliningError) -> str:
    if unfit.access is None:
        return ""
    buffer, index = unfit.access
    return buffer + "".join(f"[{expression_text(e)}]" for e in index)


def _once(program: Program, one: InlineStage, section: Section) -> Iterator[Diagnostic]:
    attr = next((a for a in section.attrs if a.name == "once"), None)
    stage = next(s for s in program.stages if s.name == one.name)
    found = None if attr is None else computed_twice(stage, one)
    if attr is None or found is None:
        return
    hint = "leave `@once` out, or `inline`; `mdh explain` says how often its points are computed"
    point = ", ".join(f"{d.name} = {d.at(found.point[d.name])}" for d in stage.dims if found.point)
    what = f"point ({point}) {found.why}" if point else found.why
    headline = f"stage `{one.name}` is computed more often than once: {what}"
    yield Diagnostic(ONCE, headline, at(attr.span), help=hint, witness=found.witness)


def _adapted(before: Program, after: Program, stage: Stage, section: Section) -> Section:
    """The section of a stage of `after`, written for its entries in `before`, where the stages whose way is
    the value of a hole have kernels. An array that it no longer reads has no entry, and one that it reads
    instead is read where it lies."""
    old = next((s for s in before.stages if s.name == stage.name), stage)
    was, now = ((p.inputs(s), p.outputs(s)) for p, s in ((before, old), (after, stage)))
    if was == now:
        return section
    steps = tuple(
        replace(s, inputs=_entries(s.inputs, was[0], now[0]), outputs=_entries(s.outputs, was[1], now[1]))
        for s in section.steps
    )
    return replace(section, steps=steps)


def _entries(entries: tuple[Mem, ...], was: tuple[str, ...], now: tuple[str, ...]) -> tuple[Mem, ...]:
    if len(entries) != len(was):
        return entries
    by_name = dict(zip(was, entries, strict=True))
    return tuple(by_name.get(name, Mem(Caret())) for name in now)
