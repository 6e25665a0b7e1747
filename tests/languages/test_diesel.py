"""Random programs in Diesel compute what numpy's matrices do."""

import pytest

from mdh.diagnostics import Failed
from tests.languages.diesel_random import any_shapes, case
from tests.languages.kinds import converted
from tests.languages.running import COUNT, assert_like, assert_same_in_c, outcome, read


@pytest.mark.parametrize("seed", range(COUNT))
def test_values(seed: int) -> None:
    one = case(f"diesel {seed}")
    program = read(one.written)
    poison = [converted(r.array * 0 + 77, one.kind) for r in one.results]
    found = outcome(program, [*one.inputs, *poison], [])
    names = [p for p in program.params if p in program.buffer_of][len(one.inputs) :]
    wanted = [converted(r.array, one.kind) for r in one.results]
    assert_like(one.written, found, names, wanted, [4 * r.error for r in one.results])


@pytest.mark.parametrize("seed", range(COUNT))
def test_the_same_in_c(seed: int) -> None:
    assert_same_in_c(case(f"diesel in c {seed}").written)


@pytest.mark.parametrize("seed", range(COUNT))
def test_shapes(seed: int) -> None:
    written, fits = any_shapes(f"diesel shapes {seed}")
    if fits:
        read(written)
        return
    codes = set[str]()
    try:
        read(written)
    except Failed as failed:
        codes = {d.code for d in failed.diagnostics}
    assert codes == {"L103"}, written
