"""K110 and K190 for `@window`: a sliding buffer keeps what consecutive parts have in common."""

from collections.abc import Iterator

from mdh.checker.footprint import chain_of
from mdh.checker.rules.pipeline import shares_scan
from mdh.checker.subject import Subject
from mdh.diagnostics import Diagnostic
from mdh.hardware import Space
from mdh.ir.plan import PlanStep, Split, Staging
from mdh.poly.digits import digits

CODE, LATER = "K110", "K190"


def check_window(subject: Subject) -> Iterator[Diagnostic]:
    """For every index function of B and the innermost sequential dimension d of the step: one dimension of B
    moves forward with d, and the extent of the part exceeds the advance along d.

    K190. The part lies in SM, in one slot, and threads share no prefix sum.
    """
    for i, step in enumerate(subject.plan.steps):
        loop = _innermost(step)
        for staging in step.stagings:
            if not staging.window or loop is None:
                continue  # a step without loops is refused where its loops are read
            labels = subject.at_entry_attr(i, staging.buffer, "window")
            fact = _obstacle(subject, i, staging, loop)
            if fact:
                headline = f"`@window` has no effect: {fact}"
                said = (
                    "it belongs to an input whose parts overlap along the innermost sequential loop (a halo)"
                )
                yield Diagnostic(CODE, headline, labels, help=said)
            elif staging.region != Space.SM or step.stages > 1 or shares_scan(subject):
                where = "for parts in several slots" if staging.region == Space.SM else "for parts in RM"
                where = "where threads share a prefix sum" if shares_scan(subject) else where
                headline = f"`@window` is not lowered yet {where}"
                yield Diagnostic(LATER, headline, labels, help="leave it out, or stage one slot in SM")


def _innermost(step: PlanStep) -> Split | None:
    loops = [s for s in step.splits if s.layer is None and s.parts > 1]
    return max(loops, key=lambda s: s.rank, default=None)


def _obstacle(subject: Subject, i: int, staging: Staging, loop: Split) -> str:
    """Why consecutive parts along `loop` have nothing in common that could stay."""
    plan, name = subject.plan, subject.dim(loop.dim)
    own = [digit for digit in digits(chain_of(plan, loop.dim)) or () if digit.cut == i]
    if len(own) > 1:
        return f"parts of `{name}` are dealt out and do not follow one another"
    # units that execute a step in turns advance by the parts of all of them
    moved = own[0].weight if own else loop.tile
    for copy in subject.copies(i, staging.buffer):
        linear, tile = copy.linear, copy.tile
        moving = [k for k, function in enumerate(linear) if str(loop.dim) in function.names]
        if len(moving) != 1:
            return f"parts of `{staging.buffer}` do not move along one of its dimensions with `{name}`"
        k = moving[0]
        advance = linear[k].coefficient(str(loop.dim)) * moved
        if advance < 0:
            return f"parts of `{staging.buffer}` move backward with `{name}`"
        if tile.shape[k] <= advance or tile.shape[k] < tile.box[k]:
            return f"consecutive parts of `{staging.buffer}` along `{name}` have nothing in common"
    return ""
