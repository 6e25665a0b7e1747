"""K177: loops over constant arrays are not unrolled to more code than compilers and caches take."""

from collections.abc import Iterator
from math import prod

from mdh.checker.subject import Subject
from mdh.diagnostics import Diagnostic
from mdh.ir.constant_loads import MOST_COPIES, constant_dims

CODE = "K177"


def check_copies(subject: Subject) -> Iterator[Diagnostic]:
    """K177. The loops that `@unroll` unrolls whole, over the dimensions of constant arrays, have at most
    MOST_COPIES turns together."""
    names = constant_dims(subject.program, subject.stage)
    turns = {
        i: prod(s.parts for s in step.splits if s.layer is None and subject.dim(s.dim) in names)
        for i, step in enumerate(subject.plan.steps)
        if step.unroll == 0
    }
    copies = prod(turns.values())
    if not names or copies <= MOST_COPIES:
        return
    widest = max(turns, key=lambda i: turns[i])
    headline = f"loops over constants are unrolled to {copies:,} copies, more than {MOST_COPIES:,}"
    help_ = "leave `@unroll` out on one of the steps: its loops then read a table of the constants"
    yield Diagnostic(
        CODE, headline, subject.at_step_attr(widest, "unroll"), help=help_, witness=(("copies", copies),)
    )
