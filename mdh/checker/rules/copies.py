"""K150, K154: copies go inward, and only data of a known extent can be copied."""

from collections.abc import Iterator

from mdh.checker.subject import Subject, at, step_name
from mdh.decompose.accesses import affine_index
from mdh.diagnostics import Diagnostic, Label
from mdh.hardware import Space
from mdh.ir.expr import loads
from mdh.schedule.model import Place

INWARD, DATA = "K150", "K154"


def check_inward(subject: Subject) -> Iterator[Diagnostic]:
    """K150. For entries B:R at a and B:R' at b, a outside of b in code order: R' is R or nearer."""
    plan = subject.plan
    for buffer in (*subject.draft.inputs, *subject.draft.outputs):
        nearest, where = Space.DM, -1
        for i in plan.code_order:
            place = _place(subject, i, buffer)
            if place is None or not isinstance(place.region, str) or place.region == Space.HM:
                continue
            natural = tuple(range(1, len(subject.program.buffer_of[buffer].shape) + 1))
            outward = place.region.depth < nearest.depth
            if outward:
                outer = step_name(plan.steps[where], plan.steps[where].number)
                headline = f"`{buffer}` goes from {nearest} ({outer}) out to {place.region}"
                labels = subject.at_entry(i, buffer, f"farther than {nearest}") + subject.at_entry(
                    where, buffer
                )
                legal = ", ".join(tuple(Space)[nearest.depth :])
                yield Diagnostic(INWARD, headline, labels, help=f"regions from here on: {legal}; or `^`")
            elif place.region == Space.DM and place.layout != natural:
                headline = f"`{buffer}` would change its layout inside device memory"
                yield Diagnostic(
                    INWARD,
                    headline,
                    subject.at_entry(i, buffer),
                    help=f"copies go to SM or RM: `{buffer}:SM[{','.join(str(n) for n in place.layout)}]`"
                    if isinstance(place.layout, tuple)
                    else "copies go to SM or RM",
                )
            elif place.region != Space.DM:
                nearest, where = place.region, i


def _place(subject: Subject, i: int, buffer: str) -> Place | None:
    step = subject.written(i)
    if step is None:
        return None
    names = (*subject.draft.inputs, *subject.draft.outputs)
    value = (*step.inputs, *step.outputs)[names.index(buffer)].value
    return value if isinstance(value, Place) else None


def check_known_extent(subject: Subject) -> Iterator[Diagnostic]:
    """K154. A staged buffer is read at affine indices only; a scattered output is not held in RM."""
    stage = subject.stage
    gathered = {
        load.buffer
        for e in stage.expressions()
        for load in loads(e)
        if affine_index(subject.program, stage, load.index) is None
    }
    for i, step in enumerate(subject.plan.steps):
        for staging in step.stagings:
            if staging.buffer in gathered:
                headline = (
                    f"`{staging.buffer}` is read at an index that is data: its part of a tile is not known"
                )
                labels = subject.at_entry(i, staging.buffer) + _reads(subject, staging.buffer)
                yield Diagnostic(
                    DATA, headline, labels, help="leave it in DM (`^`); stage its index array instead"
                )
        for holding in step.holdings:
            if stage.scattered and holding.region == Space.RM:
                headline = (
                    f"`{holding.buffer}` is written at an index that is data: registers have no such index"
                )
                shape = subject.program.buffer_of[holding.buffer].shape
                layout = ",".join(str(n + 1) for n in range(len(shape)))
                labels = subject.at_entry(i, holding.buffer) + _writes(subject, holding.buffer)
                yield Diagnostic(
                    DATA, headline, labels, help=f"hold it whole: `{holding.buffer}:SM[{layout}]`, or `^`"
                )


def _reads(subject: Subject, buffer: str) -> tuple[Label, ...]:
    return at(subject.stage.span, f"`{buffer}` is gathered here") if subject.stage.span else ()


def _writes(subject: Subject, buffer: str) -> tuple[Label, ...]:
    spans = [o.span for r in subject.stage.results for o in r.outputs if o.buffer == buffer and o.span]
    return at(spans[0], "scattered here") if spans else ()
