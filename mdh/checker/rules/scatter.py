"""K142 for histograms: parallel units need an atomic to update the same element."""

from collections.abc import Iterator

from mdh.checker.loops import by_layer
from mdh.checker.subject import Subject
from mdh.diagnostics import Diagnostic
from mdh.hardware import BLOCKED, THREADED
from mdh.ir.atomics import hardware_obstacle
from mdh.ir.program import DimKind

CODE = "K142"


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
