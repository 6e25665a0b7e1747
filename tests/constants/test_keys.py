"""What is kept of a program is kept for its constants."""

import numpy as np

from mdh.frontend.c.read import read_program
from mdh.frontend.constant_arrays import constant_text, shortened
from mdh.source import Source
from mdh.tuner.records.key import program_parts
from tests.languages.kinds import Array

TEXT = """
void f(const float w[3], const float x[34], float y[32]) {
  for (int i = 0; i < 32; i++)
    for (int k = 0; k < 3; k++)
      y[i] += w[k] * x[i + k];
}"""


def _key(w: Array) -> object:
    program = read_program(Source("f.c", TEXT), defines={"w": constant_text(w)})
    return program_parts(program, deterministic=False)


def test_keys_of_records() -> None:
    one, other = np.array([1, 2, 3], np.float32), np.array([1, 2, 4], np.float32)
    assert _key(one) == _key(one.copy())
    assert _key(one) != _key(other)
    assert _key(one) != program_parts(read_program(Source("f.c", TEXT)), deterministic=False)


def test_people_see_type_and_shape() -> None:
    assert shortened(constant_text(np.ones((2, 3), np.float32))) == "f32 2×3"
    assert shortened(constant_text(np.ones((2, 3)), pattern=True)) == "pattern 2×3"
    assert shortened("1024") == "1024"
