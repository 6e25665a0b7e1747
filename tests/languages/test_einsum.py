"""Random einsums compute what numpy.einsum does."""

import pytest

from tests.languages.einsum_random import case
from tests.languages.running import COUNT, assert_like, assert_same_in_c, outcome, read


@pytest.mark.parametrize("seed", range(COUNT))
def test_values(seed: int) -> None:
    one = case(f"einsum {seed}")
    program = read(one.written)
    found = outcome(program, [*one.inputs, one.result * 0 + 77], [])
    assert_like(one.written, found, [program.params[-1]], [one.result], [one.error])


@pytest.mark.parametrize("seed", range(COUNT))
def test_the_same_in_c(seed: int) -> None:
    assert_same_in_c(case(f"einsum in c {seed}").written)
