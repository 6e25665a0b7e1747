"""Chooses who judges results, and on which data.

If the function runs few enough assignments, the interpreter of the C text judges. Otherwise the vectorised
reference does, which reads the program as the front end has understood it; the interpreter judges sampled
elements, on the part of the function that they need.
"""

from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from mdh.diagnostics import Failed
from mdh.ir.numerics import OWN, ByStage, assumed
from mdh.ir.program import Program
from mdh.memory_left import within_room
from mdh.reference.error import Bounded
from mdh.reference.evaluate import evaluate_bounded, with_passed_over
from mdh.reference.interpreter import (
    EndlessLoop,
    Undecided,
    UnknownMeaning,
    interpret_bounded,
    steps,
)
from mdh.reference.numbers import Array
from mdh.reference.sampling import EXECUTIONS, interpreted_sample, replaced
from mdh.wording import counted

STEPS = 300_000
"""The most assignments that the interpreter runs: a second or two."""
ATTEMPTS = 4
"""How often data are drawn again if a result depends on rounding."""
POSITIVE = 2
"""The first attempt with positive data, for programs that divide by zero or give NaN on other data."""
INTERPRETER = "interpreter of the C text"
VECTORISED = "vectorised reference"

Arguments = tuple[Mapping[str, Array], Mapping[str, Any]]


@dataclass(frozen=True)
class Expected:
    """want: the expected contents of the written arrays, with error bounds. judge: who computed them."""

    want: dict[str, Bounded]
    judge: str


@dataclass(frozen=True)
class Drawn:
    """The data of an attempt, with the expected results."""

    attempt: int
    arrays: Mapping[str, Array]
    scalars: Mapping[str, Any]
    expected: Expected


def expected(
    program: Program,
    arrays: Mapping[str, Array],
    scalars: Mapping[str, Any],
    *,
    exact: bool = False,
    numerics: ByStage = (),
    executions: int = EXECUTIONS,
) -> Expected:
    """The expected results. The judge is chosen by the number of assignments that the C runs.

    exact: the arrays hold small integers. numerics: of the plan whose results are judged. executions: the
    most statements that sampled elements may take. Raises Failed A130, A131, Undecided if the C's result for
    these data depends on rounding, and DisagreementError if the two judges disagree about a sampled element.
    """
    values = {s.name: scalars.get(s.name, s.size) for s in program.scalars}
    function = program.syntax
    if function is None:
        return vectorised(program, arrays, scalars, exact=exact, numerics=numerics)
    if steps(function, values, STEPS) > STEPS:
        # numpy multiplies matrices without Python's lock, so the interpreter can run beside it
        with ThreadPoolExecutor(1) as beside:
            work = partial(vectorised, program, arrays, scalars, exact=exact, numerics=numerics)
            whole = beside.submit(copy_context().run, work)
            some = interpreted_sample(program, arrays, values, executions=executions)
            every = whole.result()
        if some is None:
            return every
        sample, own = some
        want = replaced(every.want, own, sample.elements)
        if numerics:
            want = widened(want, every.want)
        count = counted(sample.kept, "sampled element")
        return Expected(want, f"{every.judge}; C text interpreted at {count}")
    try:
        want = interpret_bounded(function, arrays, values, strict=program.strict_fp, limit=2 * STEPS)
    except (UnknownMeaning, EndlessLoop):
        return vectorised(program, arrays, scalars, exact=exact, numerics=numerics)
    want = with_passed_over(want, program, arrays, scalars, exact=exact)
    if numerics or rounds_in_turns(program) or any(assumed(stage) != OWN for stage in program.stages):
        other = evaluate_bounded(program, arrays, scalars, exact=exact, numerics=numerics)
        want = widened(want, other)
    return Expected(want, INTERPRETER)


def rounds_in_turns(program: Program) -> bool:
    """Whether turns of a loop store floats of 16 or 8 bits: each turn rounds what it stores. The interpreter
    takes a sum over all turns for one that is rounded at its end."""
    return any(
        program.buffer_of[o.buffer].dtype.is_float and program.buffer_of[o.buffer].dtype.bits < 32
        for x in program.loops
        for s in program.stages[x.first : x.last + 1]
        for r in s.results
        for o in r.outputs
    )


def widened(want: Mapping[str, Bounded], other: Mapping[str, Bounded]) -> dict[str, Bounded]:
    """With the larger of two bounds: the text does not say how a plan adds its sums."""
    out = dict(want)
    for name, w in want.items():
        if name in other and (w.bound is not None or other[name].bound is not None):
            out[name] = replace(w, bound=np.maximum(w.slack, other[name].slack))
    return out


def vectorised(
    program: Program, arrays: Mapping[str, Array], scalars: Mapping[str, Any], *, exact: bool = False,
    numerics: ByStage = (),
) -> Expected:  # fmt: skip
    want = evaluate_bounded(program, arrays, scalars, exact=exact, numerics=numerics)
    return Expected(want, VECTORISED)


@within_room("the arrays and the reference, which takes several times their memory")
def draw_expected(
    program: Program,
    draw: Callable[[int], Arguments],
    *,
    exact: bool = False,
    numerics: ByStage = (),
    attempts: int = ATTEMPTS,
    executions: int = EXECUTIONS,
) -> Drawn:
    """Data whose results are no NaN and depend neither on rounding nor on a division by zero.

    `draw(attempt)` is called until it gives such data; from attempt POSITIVE on it should give positive
    numbers. If it never does, the result is data with NaN, or else the first data with the vectorised
    reference. Raises Failed A130, and D104 if memory is short: the reference takes several times the arrays'
    size.
    """
    other: Drawn | None = None
    for attempt in range(attempts):
        arrays, scalars = draw(attempt)
        try:
            right = expected(program, arrays, scalars, exact=exact, numerics=numerics, executions=executions)
            drawn = Drawn(attempt, arrays, scalars, right)
            if not any(np.isnan(b.value).any() for b in right.want.values()):
                return drawn
            other = other or drawn
        except Undecided:
            continue
        except Failed as failed:
            if attempts == 1 or any(d.code != "A131" for d in failed.diagnostics):
                raise
    if other is not None:
        return other
    arrays, scalars = draw(0)
    return Drawn(0, arrays, scalars, vectorised(program, arrays, scalars, exact=exact, numerics=numerics))
