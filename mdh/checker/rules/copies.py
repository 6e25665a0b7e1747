"""K150, K154: copies go inward, and only data of a known extent can be copied."""

from collections.abc import Iterable, Iterator

from mdh.checker.subject import Subject, at, step_name
from mdh.decompose.accesses import affine_index
from mdh.diagnostics import Diagnostic, Label
from mdh.hardware import Space
from mdh.ir.expr import loads
from mdh.ir.plan import Staging
from mdh.schedule.model import BufferPlace

INWARD, DATA = "K150", "K154"


def outward(regions: Iterable[Space | None]) -> Iterator[tuple[int, int, Space]]:
    """regions: of the entries of a buffer in code order; None: the entry names none of the device. Yields the
    place of each that lies farther out than one before it, and the place and the region of that one."""
    nearest, where = Space.DM, -1
    for n, region in enumerate(regions):
        if region is None:
            continue
        if region.depth < nearest.depth:
            yield n, where, nearest
        elif region is not Space.DM:
            nearest, where = region, n


def check_inward(subject: Subject) -> Iterator[Diagnostic]:
    """K150. For entries B:R at a and B:R' at b, a outside of b in code order: R' is R or nearer."""
    plan = subject.plan
    for buffer in (*subject.draft.inputs, *subject.draft.outputs):
        places = [_place(subject, i, buffer) for i in plan.code_order]
        regions = [_device_region(place) for place in places]
        farther = {n: (plan.code_order[m], nearest) for n, m, nearest in outward(regions)}
        natural = tuple(range(1, len(subject.program.buffer_of[buffer].shape) + 1))
        for n, (i, place) in enumerate(zip(plan.code_order, places, strict=True)):
            if n in farther:
                where, nearest = farther[n]
                outer = step_name(plan.steps[where], plan.steps[where].number)
                headline = f"`{buffer}` goes from {nearest} ({outer}) out to {regions[n]}"
                labels = subject.at_entry(i, buffer, f"farther than {nearest}")
                labels += subject.at_entry(where, buffer)
                legal = ", ".join(tuple(Space)[nearest.depth :])
                yield Diagnostic(INWARD, headline, labels, help=f"regions from here on: {legal}; or `^`")
            elif place is not None and regions[n] is Space.DM and place.layout != natural:
                headline = f"`{buffer}` would change its layout inside device memory"
                yield Diagnostic(
                    INWARD,
                    headline,
                    subject.at_entry(i, buffer),
                    help=f"copies go to SM or RM: `{buffer}:SM[{','.join(str(n) for n in place.layout)}]`"
                    if isinstance(place.layout, tuple)
                    else "copies go to SM or RM",
                )


def _place(subject: Subject, i: int, buffer: str) -> BufferPlace | None:
    step = subject.written(i)
    if step is None:
        return None
    names = (*subject.draft.inputs, *subject.draft.outputs)
    value = (*step.inputs, *step.outputs)[names.index(buffer)].value
    return value if isinstance(value, BufferPlace) else None


def _device_region(place: BufferPlace | None) -> Space | None:
    region = None if place is None else place.region
    return region if isinstance(region, Space) and region is not Space.HM else None


def check_known_extent(subject: Subject) -> Iterator[Diagnostic]:
    """K154. A staged buffer is read at affine indices only, or it lies whole in a GPU's SM: then its extents
    are closed, and data decides of all of its reads. A scattered output is not held in RM."""
    stage = subject.stage
    for i, step in enumerate(subject.plan.steps):
        for staging in step.stagings:
            reason = _gathered(subject, staging)
            if reason is not None:
                headline, said = reason
                labels = subject.at_entry(i, staging.buffer) + _reads(subject, staging.buffer)
                yield Diagnostic(DATA, headline, labels, help=said)
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


def _gathered(subject: Subject, staging: Staging) -> tuple[str, str] | None:
    """Why a buffer cannot be copied since data decides where it is read, and what to do."""
    name, buffer = staging.buffer, subject.program.buffer_of[staging.buffer]
    found = (load for e in subject.stage.expressions() for load in loads(e) if load.buffer == name)
    known = {affine_index(subject.program, subject.stage, load.index) is not None for load in found}
    if False not in known:
        return None
    whole = not any(buffer.open) and subject.machine.kind == "gpu" and known == {False}
    if whole and staging.region is Space.SM:
        return None
    what = f"`{name}` is read at an index that is data: "
    if whole:
        layout = ",".join(str(n + 1) for n in range(len(buffer.shape)))
        return f"{what}registers have no such index", f"`{name}:SM[{layout}]` copies all of it, or `^`"
    return f"{what}its part of a tile is not known", "leave it in DM (`^`); stage its index array instead"


def _reads(subject: Subject, buffer: str) -> tuple[Label, ...]:
    return at(subject.stage.span, f"`{buffer}` is gathered here") if subject.stage.span else ()


def _writes(subject: Subject, buffer: str) -> tuple[Label, ...]:
    spans = [o.span for r in subject.stage.results for o in r.outputs if o.buffer == buffer and o.span]
    return at(spans[0], "scattered here") if spans else ()
