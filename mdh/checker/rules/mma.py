"""K170: a tensor-core step is the last one, and computes a sum of products in whole atoms."""

from collections.abc import Iterator

from mdh.checker.resolve import has_layer
from mdh.checker.subject import Subject
from mdh.diagnostics import Diagnostic
from mdh.hardware import Layer
from mdh.ir.product_sum import product_sum
from mdh.ir.program import DimKind
from mdh.schedule.model import Unit

CODE = "K170"


def check_mma(subject: Subject) -> Iterator[Diagnostic]:
    """The MMA step is last; m, n split cc dims, k a pw dim; the stage sums products; atoms divide."""
    steps = subject.draft.splitting
    for s, step in enumerate(steps):
        if not has_layer(step, Layer.MMA):
            continue
        if s != len(steps) - 1:
            headline = f"MMA stands in step {s + 1} of {len(steps)}; it is always the last"
            yield Diagnostic(
                CODE, headline, subject.at_step(s), help="put it last: nothing can split an atom"
            )
        for d, core in enumerate(step.cores):
            if not isinstance(core.value, Unit) or core.value.layer != Layer.MMA:
                continue
            wanted = DimKind.PW if core.value.axis == "k" else DimKind.CC
            dim = subject.stage.dims[d]
            if dim.kind is not wanted:
                kinds = ("not reduced", "reduced")
                is_, needed = kinds if wanted is DimKind.PW else kinds[::-1]
                headline = f"MMA.{core.value.axis} takes `{dim.name}`, which is {is_}"
                said = f"MMA.{core.value.axis} takes a dimension that is {needed}"
                yield Diagnostic(CODE, headline, subject.at_core(s, d), help=said)
            split = subject.plan.steps[s].splits[d]
            if not split.exact:
                headline = (
                    f"the atom's {split.tile} does not divide the {split.parent} elements of `{dim.name}`"
                )
                yield Diagnostic(
                    CODE, headline, subject.at_tile(s, d), help="a tile outside that the atom divides"
                )
        if product_sum(subject.stage) is None:
            headline = f"stage `{subject.stage.name}` is not a sum of products of two reads"
            yield Diagnostic(CODE, headline, subject.at_step(s), help="use THR and a register tile")
