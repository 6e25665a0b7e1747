"""K168, and K110 and K190 for `@stages`: the loop around the slots can rotate through them."""

from collections.abc import Iterator

from mdh.checker.loops import by_layer
from mdh.checker.subject import Subject
from mdh.diagnostics import Diagnostic
from mdh.hardware import THREADED, Space
from mdh.ir.program import DimKind

UNROLLED, EFFECT, LATER = "K168", "K110", "K190"


def check_pipeline(subject: Subject) -> Iterator[Diagnostic]:
    """K168. For n slots in registers, the loop is unrolled by a multiple of n, or fully.

    K110. On a CPU, at least one staged input lies in RM, because nothing copies into SM while a work-group
    computes.
    """
    for i, step in enumerate(subject.plan.steps):
        if step.stages == 1:
            continue
        labels = subject.at_step_attr(i, "stages")
        regions = {s.region for s in step.stagings}
        if subject.machine.kind == "cpu" and regions == {Space.SM}:
            headline = "`@stages` has no effect on copies into SM on a CPU, which computes or copies"
            yield Diagnostic(EFFECT, headline, labels, help="leave it out, or stage an input in RM")
        elif shares_scan(subject):
            headline = "`@stages` is not lowered yet where threads share a prefix sum"
            yield Diagnostic(LATER, headline, labels, help="leave it out")
        elif Space.RM in regions and step.unroll and step.unroll % step.stages:
            headline = f"{step.stages} slots of registers in a loop that is unrolled by {step.unroll}"
            n = step.stages
            said = f"registers have no addresses: `@unroll({n})`, `@unroll({2 * n})`, `@unroll`, or none"
            labels += subject.at_step_attr(i, "unroll")
            yield Diagnostic(UNROLLED, headline, labels, help=said)


def shares_scan(subject: Subject) -> bool:
    """Whether threads share a prefix sum. Their loops over it then move inside all others."""
    split = by_layer(subject.plan, *THREADED)
    gpu = subject.machine.kind != "cpu"
    return gpu and any(subject.stage.dims[x.dim].kind is DimKind.PS for x in split)
