"""mdh accepts all computations of PolyBench, and these mean what C says."""

import numpy as np
import pytest

from mdh.frontend.c.read import read_program
from mdh.reference import evaluate
from mdh.reference.interpreter import interpret_bounded
from mdh.reference.numbers import numpy_dtype
from tests.soundness.verdict import EQUAL, compared
from tests.support.polybench import FOLDER, PROGRAMS, small, without_directives


def test_there_are_thirty() -> None:
    assert len(PROGRAMS) == 30


@pytest.mark.parametrize("name", sorted(PROGRAMS))
def test_they_are_right(name: str) -> None:
    program = read_program(PROGRAMS[name], defines=small(name))
    rng = np.random.default_rng(7)
    arrays = {
        b.name: rng.uniform(0.5, 2.0, b.shape).astype(numpy_dtype(b.dtype))
        for b in program.buffers
        if not b.temp
    }
    scalars = {s.name: 0.75 for s in program.scalars}
    assert program.syntax is not None
    judge = interpret_bounded(program.syntax, arrays, scalars)
    assert compared(program, evaluate(program, arrays, scalars), judge, "the Program") == EQUAL


@pytest.mark.parametrize("name", sorted(PROGRAMS))
def test_directives_are_all_that_is_added(name: str) -> None:
    """What mdh is timed beside is the same C with lines of OpenMP, and `restrict` in its parameters."""
    added = (FOLDER / "directives" / f"{name}.c").read_text(encoding="utf-8")
    assert without_directives(added) == without_directives(PROGRAMS[name].text)
