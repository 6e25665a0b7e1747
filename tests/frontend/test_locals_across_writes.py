"""Locals keep what they read of an array while other elements are written, or the program is refused."""

import random

import numpy as np
import pytest

from mdh.diagnostics import Failed
from mdh.frontend.c.read import read_program
from mdh.reference import evaluate
from mdh.source import Source
from mdh.verify.arguments import make_arrays
from tests.support.exact_interpreter import interpret

SIZE = 12


def _body(rng: random.Random) -> str:
    """Statements of a loop over i: locals that read x and y, and writes of elements beside those."""
    shift = rng.choice((0, 0, 1, 2))
    names = ["t", "u", "v"][: rng.randint(1, 3)]
    lines = [f"float {n} = {rng.choice('xy')}[i + {rng.randint(0, 3)}] + {k};" for k, n in enumerate(names)]
    for _ in range(rng.randint(1, 4)):
        array, to = rng.choice("xyz"), rng.randint(0, 3)
        value = f"{rng.choice(names)} * 2 + {rng.choice('xyz')}[i + {rng.randint(0, 3)}]"
        match rng.randrange(5):
            case 0:
                lines.append(f"{rng.choice(names)} = {value};")
            case 1:
                lines.append(f"for (int j = 0; j < 2; j++) {array}[i + {to} + j] = {value};")
            case _:
                lines.append(f"{array}[i + {to}] = {value};")
    lines.append(f"z[i + {shift}] = {' + '.join(names)};")
    return " ".join(lines)


def _program(seed: int) -> str:
    rng = random.Random(seed)
    step = rng.choice((1, 1, 4, 4, 4))
    head = f"void f(float x[{SIZE}], float y[{SIZE}], float z[{SIZE}])"
    return f"{head} {{ for (int i = 0; i < 8; i += {step}) {{ {_body(rng)} }} }}\n"


@pytest.mark.parametrize("seed", range(120))
def test_read_as_c_reads_it(seed: int) -> None:
    text = _program(seed)
    try:
        program = read_program(Source("f.c", text))
    except Failed as failed:
        assert {d.code for d in failed.diagnostics} <= {"C115", "C150"}, text
        return
    assert program.syntax is not None
    arrays = make_arrays(program, {}, seed, "exact")
    want, got = interpret(program.syntax, arrays, {}), evaluate(program, arrays, {})
    for name in got:
        np.testing.assert_array_equal(got[name], want[name], err_msg=text)


def test_another_element_leaves_the_local_as_it_is() -> None:
    read_program(
        Source("f.c", "void f(float x[9], float y[9]) { for (int i = 0; i < 8; i++) {"
               " float t = x[i]; x[i + 1] = t + y[i]; y[i] = t; } }")
    )  # fmt: skip
