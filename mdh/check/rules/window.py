"""K110 for `@window`: a sliding buffer keeps what two consecutive parts have in common."""

from collections.abc import Iterator

from mdh.check.footprint import access_groups, footprints
from mdh.check.subject import Subject
from mdh.diagnostics import Diagnostic

CODE = "K110"


def check_window(subject: Subject) -> Iterator[Diagnostic]:
    """For some index function of B and sequential dim d of the step: extent of the part > advance along d."""
    for i, step in enumerate(subject.plan.steps):
        for staging in step.stagings:
            if staging.window and not _overlaps(subject, i, staging.buffer):
                fact = f"consecutive parts of `{staging.buffer}` have nothing in common"
                headline = f"`@window` has no effect: {fact}"
                labels = subject.at_entry_attr(i, staging.buffer, "window")
                said = "it belongs to an input whose parts overlap along a sequential loop (a halo)"
                yield Diagnostic(CODE, headline, labels, help=said)


def _overlaps(subject: Subject, i: int, buffer: str) -> bool:
    sliding = {str(s.dim): s for s in subject.plan.steps[i].splits if s.layer is None and s.parts > 1}
    if not sliding:
        return True  # said where the step's loops are read
    cpu = subject.machine.kind == "cpu"
    held = [
        f for f in footprints(subject.program, subject.plan, cpu=cpu) if f.step == i and f.buffer == buffer
    ]
    groups = access_groups(subject.program, subject.stage, buffer)
    return any(
        extent > abs(c) * sliding[name].tile
        for linear, f in zip(groups, held, strict=True)
        for function, extent in zip(linear, f.shape, strict=True)
        for name, c in function.terms
        if name in sliding
    )
