"""K146: which loops `@combine(stream)` can share among the blocks of a grid."""

from collections.abc import Iterator

from mdh.checker.subject import Subject
from mdh.decompose.stream import stream_level
from mdh.diagnostics import Diagnostic
from mdh.hardware import Combine

CODE = "K146"


def check_stream(subject: Subject) -> Iterator[Diagnostic]:
    """A block that ends inside of a tile's loop hands its part of the sum on. So warp groups compute with
    atoms below `@roles`, all of them each tile, without clusters. The result is held in RM outside of all
    loops and copies of a tile, and the outermost of these loops is over the sum."""
    plan = subject.plan
    if not plan.streamed or not plan.grid.persistent:
        return
    entries = [
        label
        for s, step in enumerate(plan.steps)
        for h in step.holdings
        if h.combine is Combine.STREAM
        for label in subject.at_entry_attr(s, h.buffer, "combine")
    ]
    product = None if plan.atoms is None else plan.steps[plan.atoms].product
    wrong = said = ""
    if product is None or not product.atom.grouped or plan.roles is None:
        wrong = "needs warp groups that multiply (`@atom(wgmma)`) and one that copies (`@roles`)"
        said = "`@roles` and `@atom(wgmma)`, or leave it out"
    elif plan.teams > 1:
        wrong = "needs all warp groups for each tile, and here they take tiles by turns"
        said = "`@roles` without `turns`, or leave it out"
    elif plan.clustered:
        wrong, said = "is not lowered yet for clusters", "a grid over BLK alone, or leave it out"
    elif stream_level(subject.stage, subject.tiles) is None:
        wrong = "shares the outermost loop of a tile, and finds none over the sum inside of a result in RM"
        said = "hold the result in RM at the step that copies both factors in a loop over the sum"
    if wrong:
        yield Diagnostic(CODE, f"`@combine(stream)` {wrong}", tuple(entries), help=said)
