"""K140: partial results lie where all units that share a split reduction can access them."""

from collections.abc import Iterator

from mdh.checker.footprint import first_of_part
from mdh.checker.loops import by_layer
from mdh.checker.subject import Subject, parts, step_name
from mdh.diagnostics import Diagnostic
from mdh.hardware import BLOCKED
from mdh.ir.layout import Level
from mdh.ir.plan import Holding, StagePlan
from mdh.ir.program import DimKind

CODE = "K140"


def unshared(plan: StagePlan) -> Iterator[tuple[Level, int, Holding]]:
    """Each region that opens where blocks still share a reduction: the loop over the blocks, the index of the
    step that opens the region, and the region."""
    kinds = [dim.kind for dim in plan.stage.dims]
    position = {i: n for n, i in enumerate(plan.code_order)}
    for loop in by_layer(plan, *BLOCKED):
        for i, step in enumerate(plan.steps):
            if kinds[loop.dim] is DimKind.PW and position[i] <= position[loop.step]:
                yield from ((loop, i, h) for h in step.holdings if h.region is not None)


def check_visibility(subject: Subject) -> Iterator[Diagnostic]:
    """If a pw dimension has p > 1 parts on BLK or CLU at step s, no output region that is open at s lies in
    SM or RM.

    Units of a block can share registers (by shuffles) and shared memory, but blocks share only device memory.
    So the region must open further inside, and every block merges its own partial result outward.
    """
    plan = subject.plan
    for loop, i, holding in unshared(plan):
        given = f"{parts(loop.parts)} of `{subject.dim(loop.dim)}`"
        headline = f"{given} meet in `{holding.buffer}`, which {loop.layer} cannot share in {holding.region}"
        labels = subject.at_core(loop.step, loop.dim, f"{loop.layer} splits the reduction")
        labels += subject.at_entry(i, holding.buffer)
        where = step_name(plan.steps[loop.step], plan.steps[loop.step].number)
        yield Diagnostic(
            CODE,
            headline,
            labels,
            help=f"{loop.layer} shares device memory only: "
            f"open `{holding.buffer}:{holding.region}` in a step inside {where}, or write `^` here",
            witness=(
                ("dim", subject.dim(loop.dim)),
                ("first", 0),
                ("second", first_of_part(plan, loop, 1)),
                ("region", holding.region or ""),
            ),
        )
