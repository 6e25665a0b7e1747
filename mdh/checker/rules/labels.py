"""K103: labels are the numbers 0 to S or 1 to S in some order, on all steps or on none."""

from collections.abc import Iterator

from mdh.checker.subject import Draft, at, listed
from mdh.diagnostics import Diagnostic
from mdh.hardware import Space
from mdh.schedule.model import BufferPlace

CODE = "K103"
OTHER_PROGRAM = "S150"


def check_labels(draft: Draft) -> Iterator[Diagnostic]:
    """Labels are a permutation of 0..S or 1..S, or there are none; label 0 stands first."""
    labelled = [s for s in draft.steps if s.label is not None]
    if not labelled:
        return
    if len(labelled) < len(draft.steps):
        bare = next(s for s in draft.steps if s.label is None)
        headline = f"{len(labelled)} of {len(draft.steps)} steps have labels"
        yield Diagnostic(
            CODE, headline, at(bare.span, "no label"), help="label all steps of a stage, or none"
        )
        return
    labels = [s.label for s in draft.steps]
    first = 0 if 0 in labels else 1
    wanted = list(range(first, first + len(labels)))
    for n, step in enumerate(draft.steps):
        if step.label in labels[:n]:
            headline = f"label {step.label} stands on two steps"
            yield Diagnostic(
                CODE, headline, at(step.span, "again"), help=f"labels: {listed(map(str, wanted))}, each once"
            )
        elif step.label not in wanted:
            headline = f"label {step.label} is not one of {wanted[0]} to {wanted[-1]}"
            missing = listed(str(n) for n in wanted if n not in labels)
            yield Diagnostic(CODE, headline, at(step.span), help=f"not used yet: {missing}")
    if 0 in labels[1:]:
        step = draft.steps[labels.index(0)]
        headline = "label 0 is the initial state, but another step stands before it"
        yield Diagnostic(CODE, headline, at(step.span), help="put the step labelled 0 first, or leave it out")


def check_initial(draft: Draft) -> Iterator[Diagnostic]:
    """Label 0 states the extents (else S150), and buffers in DM in C's layout."""
    step = draft.initial
    if step is None:
        return
    for tile, dim in zip(step.tiles, draft.stage.dims, strict=True):
        if isinstance(tile.value, int) and tile.value != dim.extent and dim.open is None:
            fact = f"its initial state gives `{dim.name}` the extent {tile.value}, the C {dim.extent}"
            headline = f"a schedule of another program: {fact}"
            extents = ", ".join(str(e) for e in draft.extents)
            labels = at(tile.span or step.span) + at(dim.span, f"{dim.extent} iterations")
            yield Diagnostic(
                OTHER_PROGRAM, headline, labels, help=f"step 0 must read ( {extents} ), or be left out"
            )
    for mem in (*step.inputs, *step.outputs):
        place = mem.value
        if isinstance(place, BufferPlace) and place.region not in (Space.DM, Space.HM):
            headline = f"the initial state has `{place.buffer}` in {place.region}"
            yield Diagnostic(
                CODE, headline, at(mem.span), help="buffers start in DM; copy them in a later step"
            )
        elif isinstance(place, BufferPlace) and place.layout != tuple(range(1, _rank(place.layout) + 1)):
            headline = f"the initial state has `{place.buffer}` in a layout that C does not give it"
            natural = ",".join(str(n + 1) for n in range(_rank(place.layout)))
            yield Diagnostic(CODE, headline, at(mem.span), help=f"write `{place.buffer}:DM[{natural}]`")


def _rank(layout: object) -> int:
    return len(layout) if isinstance(layout, tuple) else 0
