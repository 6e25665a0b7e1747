"""Best-so-far updates own their elements: dims of their index run side by side only where none meet."""

import numpy as np
import pytest

from mdh.diagnostics import Failed
from mdh.frontend.c.read import read_program
from mdh.ir.program import DimKind
from mdh.reference import evaluate
from mdh.reference.interpreter import interpret_bounded
from mdh.reference.numbers import numpy_dtype
from mdh.source import Source
from tests.soundness.verdict import EQUAL, compared

HEAD = "void f(float m[40], int at[40], const float x[10][20], const int b[10]) {\n"
LOOPS = "for (int i = 0; i < 10; i++)\nfor (int j = 0; j < 20; j++)\n"
IN_TURNS = {
    "meets": "if (x[i][j] > m[i + j]) m[i + j] = x[i][j];",
    "two meet": "if (x[i][j] > m[i + j]) { m[i + j] = x[i][j]; at[i + j] = j; }",
    "one for all": "if (x[i][j] > m[i]) { m[i] = x[i][j]; at[0] = j; }",
    "another meets": "if (x[i][j] > m[i]) { m[i] = x[i][j]; at[j] = j; }",
}
REFUSED = {
    "data": "if (x[i][j] > m[b[i]]) { m[b[i]] = x[i][j]; at[b[i]] = j; }",
}


@pytest.mark.parametrize("body", REFUSED.values(), ids=list(REFUSED))
def test_shared_elements(body: str) -> None:
    with pytest.raises(Failed) as failed:
        read_program(Source("input.c", HEAD + LOOPS + body + "}"))
    (diagnostic,) = failed.value.diagnostics
    assert diagnostic.code == "C150"
    assert diagnostic.labels[0].span.line == 4


@pytest.mark.parametrize("body", IN_TURNS.values(), ids=list(IN_TURNS))
def test_shared_elements_in_turns(body: str) -> None:
    program = read_program(Source("input.c", HEAD + LOOPS + body + "}"))
    assert program.loops and program.syntax is not None
    rng = np.random.default_rng(1)
    arrays = {b.name: rng.integers(-9, 9, b.shape).astype(numpy_dtype(b.dtype)) for b in program.buffers}
    judge = interpret_bounded(program.syntax, arrays, {})
    assert compared(program, evaluate(program, arrays, {}), judge, "the Program") == EQUAL


def test_own_elements() -> None:
    for body in (
        "if (x[i][j] > m[2 * i]) { m[2 * i] = x[i][j]; at[i] = j; }",
        "if (x[i][j] > m[i]) m[i] = x[i][j];",
    ):
        (stage,) = read_program(Source("input.c", HEAD + LOOPS + body + "}")).stages
        assert [d.kind for d in stage.dims] == [DimKind.CC, DimKind.PW]


def test_at_an_index_that_is_data() -> None:
    """A best at an index that is data is a histogram: all its loops reduce."""
    text = HEAD + LOOPS + "if (x[i][j] > m[b[i]]) m[b[i]] = x[i][j]; }"
    (stage,) = read_program(Source("input.c", text)).stages
    assert [d.kind for d in stage.dims] == [DimKind.PW, DimKind.PW]


def test_a_record_of_rounded_values() -> None:
    """C compares before it rounds: of two values that round to one, the greater is the best. So this is no
    reduction, and each turn of j makes one comparison."""
    text = HEAD + LOOPS + "if (x[i][j] * 0.1 > m[i]) { m[i] = x[i][j] * 0.1; at[i] = j; } }"
    program = read_program(Source("input.c", text))
    assert [x.name for x in program.loops] == ["j"]
    assert all(r.op is None for s in program.stages for r in s.results)
