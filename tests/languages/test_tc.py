"""Random programs in Tensor Comprehensions compute what the paper's rules say."""

import numpy as np
import pytest

from mdh.diagnostics import Failed
from mdh.frontend.read import read_heading
from mdh.source import Source
from tests.languages.running import COUNT, assert_like, assert_same_in_c, outcome, read
from tests.languages.tc_cases import case, refused


@pytest.mark.parametrize("seed", range(COUNT))
def test_values(seed: int) -> None:
    one = case(f"tc {seed}")
    program = read(one.written)
    arrays = [p for p in program.params if p in program.buffer_of]
    names = arrays[len(one.inputs) :]
    # results that calls allocate may hold anything first
    source, w = Source(one.written.name, one.written.text), one.written
    anew = read_heading(source, function=w.function).results
    # a tensor without indices is an array of one element
    before = [
        np.atleast_1d(np.full_like(b, 77) if n in anew else b) for n, b in zip(names, one.before, strict=True)
    ]
    found = outcome(program, [*one.inputs, *before], one.free)
    assert_like(
        one.written,
        found,
        names,
        [np.atleast_1d(t.array) for t in one.results],
        [4 * t.error for t in one.results],
    )


@pytest.mark.parametrize("seed", range(COUNT))
def test_the_same_in_c(seed: int) -> None:
    assert_same_in_c(case(f"tc in c {seed}").written)


@pytest.mark.parametrize("seed", range(COUNT))
def test_refused(seed: int) -> None:
    written, codes = refused(f"tc refused {seed}")
    found = set[str]()
    try:
        read(written)
    except Failed as failed:
        found = {d.code for d in failed.diagnostics}
    # types come first, wherever they are
    assert found and found <= {*codes, "T112"}, f"{found} for {codes}\n{written}"
