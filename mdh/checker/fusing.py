"""K116: what a section's `fuse` lines make of a stage."""

from collections.abc import Iterator

from mdh.checker.subject import at, listed, nearest
from mdh.diagnostics import Diagnostic, Failed
from mdh.ir.expression_text import expression_text
from mdh.ir.fusion import FusionError, Group, fused, fusible, obstacle
from mdh.ir.program import Program, Stage
from mdh.schedule.model import Fuse, Section

CODE = "K116"


def view_of(program: Program, stage: Stage, section: Section) -> Program:
    """The program as the steps of the section see it: with the stage's fused dimensions as one; the program
    itself if the section fuses none. Raises Failed K116.

    The dimensions of a group are all reduced or all not; reduced ones stand in the order of the C. Each
    access that uses one of them uses all, side by side and in this order. The first may be offset. The others
    are alone in the index and run along the whole array. Nothing else uses them.
    """
    if not section.fuses:
        return program
    found = list(_wrong_names(stage, section)) or list(_unfit(program, stage, section.fuses))
    if found:
        raise Failed(*found)
    return fused(program, stage, section.groups)


def stage_in(program: Program, name: str | None) -> Stage:
    """The stage of that name; a program's only stage needs none."""
    return next((s for s in program.stages if s.name == name), program.stages[0])


def _wrong_names(stage: Stage, section: Section) -> Iterator[Diagnostic]:
    known, seen = [d.name for d in stage.dims], set[str]()
    for fuse in section.fuses:
        for n, name in enumerate(fuse.names):
            place = fuse.spans[n] if fuse.spans else fuse.span
            if name not in known:
                headline = f"stage `{stage.name}` has no dimension `{name[:60]}`"
                hint = f"{nearest(name, known)} its dimensions: {listed(known)}".strip()
                yield Diagnostic(CODE, headline, at(place), help=hint)
            elif name in seen:
                yield Diagnostic(CODE, f"`{name}` is fused twice", at(place, "again here"))
            seen.add(name)


def _unfit(program: Program, stage: Stage, fuses: tuple[Fuse, ...]) -> Iterator[Diagnostic]:
    """The first group that does not fit with those before it."""
    before: tuple[Group, ...] = ()
    for fuse in fuses:
        unfit = obstacle(program, stage, (*before, fuse.names))
        if unfit is not None:
            what = f"{listed(fuse.names)} of stage `{stage.name}` cannot be one dimension"
            headline = f"{what}: {unfit.why}"
            labels = at(fuse.span, _access(unfit))
            yield Diagnostic(CODE, headline, labels, help=_help(program, stage))
            return
        before = (*before, fuse.names)


def _access(unfit: FusionError) -> str:
    if unfit.access is None:
        return ""
    buffer, index = unfit.access
    return buffer + "".join(f"[{expression_text(e)}]" for e in index)


def _help(program: Program, stage: Stage) -> str:
    legal = fusible(program, stage)
    if not legal:
        return "no dimensions of the stage can be one: leave the line out"
    return "these can: " + ", ".join(f"`fuse {', '.join(group)}`" for group in legal)
