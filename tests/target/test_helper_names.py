"""Names of the program that look like names of helpers are not taken for them."""

import pytest

from mdh.frontend.c.read import read_program
from mdh.lower.run import lower
from mdh.machine import load_machine
from mdh.source import Source
from mdh.target.emit import emit
from tests.support.pairs import planned


@pytest.mark.parametrize("function", ["f16", "f2", "a_f32x4"])
def test_a_kernel_named_after_its_stage(function: str) -> None:
    text = f"void {function}(float u[8], float v[8]) {{ for (int i = 0; i < 8; i++) u[i] = 1; v[0] = 2; }}"
    program = read_program(Source("names.c", text))
    machine = load_machine("generic-cpu")
    emitted = emit(lower(planned(program, None, machine, "opencl")), program)
    assert f"typedef {function} " not in emitted.source
