"""Histograms. K142: parallel units need an atomic to update the same element. K135: what no point updates
keeps its value."""

from collections.abc import Iterator

from mdh.checker.loops import by_layer
from mdh.checker.subject import Subject
from mdh.diagnostics import Diagnostic
from mdh.hardware import BLOCKED, THREADED
from mdh.ir.atomics import hardware_obstacle
from mdh.ir.program import DimKind, has_neutral

CODE = "K142"
PRIVATE = "K135"


def check_scatter(subject: Subject) -> Iterator[Diagnostic]:
    """If a scattered result's loops have more than one unit, its operator and type have an atomic."""
    if not subject.stage.scattered:
        return
    layers = BLOCKED if subject.machine.kind == "cpu" else (*BLOCKED, *THREADED)
    split = [x for x in by_layer(subject.plan, *layers) if subject.stage.dims[x.dim].kind is not DimKind.CC]
    for result in subject.stage.results:
        reason = hardware_obstacle(result)
        if reason is None or not split:
            continue
        loop = split[0]
        buffer = result.outputs[0].buffer
        headline = f"{loop.parts} units of {loop.layer} would update elements of `{buffer}` at once: {reason}"
        yield Diagnostic(
            CODE,
            headline,
            subject.at_core(loop.step, loop.dim),
            help=f"split other dimensions than `{subject.dim(loop.dim)}`, or keep it sequential",
            witness=(("dim", subject.dim(loop.dim)), ("layer", loop.layer), ("parts", loop.parts)),
        )


def check_private(subject: Subject) -> Iterator[Diagnostic]:
    """K135. A copy of a scattered result begins at the operator's identity and joins the result afterwards,
    also in elements that no point updates. So the operator leaves any value as it is when it combines it with
    the identity."""
    if not subject.stage.scattered:
        return
    without = {
        o.buffer: r.op.name
        for r in subject.stage.results
        if r.op is not None and not has_neutral(r.op, r.types)
        for o in r.outputs
    }
    for s, step in enumerate(subject.plan.steps):
        for h in step.holdings:
            if h.buffer in without and h.region is not None:
                yield _joined(subject, s, h.buffer, without[h.buffer])


def _joined(subject: Subject, step: int, buffer: str, op: str) -> Diagnostic:
    return Diagnostic(
        PRIVATE,
        f"`{buffer}` in SM would change elements of `{buffer}` that no point updates",
        subject.at_entry(step, buffer, f"joins all of `{buffer}` by {op}"),
        help=f"leave the entry out: `{buffer}` is then updated where it lies",
        witness=(("buffer", buffer), ("operator", op)),
    )
