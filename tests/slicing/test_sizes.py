"""What slices take: of large sizes a sample that fits, quickly; of small ones no more than they must."""

from time import perf_counter

import numpy as np
import pytest

from mdh.frontend.c.read import read_program
from mdh.reference.slicing import SampledSlice, sampled
from mdh.verify.arguments import make_scalars
from tests.slicing.programs import PROGRAMS
from tests.slicing.sliced import arrays_of, outputs_of, shapes_of, sizes_of, syntax_of
from tests.support.corpus import WORKLOADS

BUDGET = 2_000_000


def _sample(name: str, **sizes: int) -> SampledSlice | None:
    work = WORKLOADS[name]
    program = read_program(work.source, defines={**dict(work.full), **sizes})
    assert program.syntax is not None
    shapes = {b.name: b.shape for b in program.buffers if not b.temp}
    scalars = {**sizes_of(program), **make_scalars(program, dict(work.scalars), 0)}
    return sampled(program.syntax, scalars, shapes, outputs_of(program.syntax), budget=BUDGET)


@pytest.mark.parametrize(("name", "sizes", "least"), [
    ("matmul", {}, 1000),
    ("matmul", {"M": 4096, "N": 4096, "K": 4096}, 480),
    ("matmul_flat", {}, 1000),
    ("conv2d", {}, 1000),
    ("jacobi2d", {}, 1000),
    ("softmax", {}, 1000),
    ("ccsdt_1", {}, 1000),
    ("prefix_sum", {}, 900),
    ("gather_sum", {}, 1000),
    ("row_argmax", {}, 300),
])  # fmt: skip
def test_large_sizes(name: str, sizes: dict[str, int], least: int) -> None:
    began = perf_counter()
    sample = _sample(name, **sizes)
    seconds = perf_counter() - began
    assert sample is not None and sample.kept >= least and sample.executions <= BUDGET
    # some tenths of a second where the machine is idle
    assert seconds < 20


def test_nothing_fits() -> None:
    """A sum of 2^24 terms is one element."""
    assert _sample("dot") is None


def test_cones_of_time_loops() -> None:
    """Their boxes overlap: what fits is known once they are counted without."""
    function = syntax_of(
        PROGRAMS["jacobi time"].replace("40", "4000").replace("39", "3999").replace("6", "50")
    )
    shapes = {"A": (4000,), "B": (4000,)}
    sample = sampled(function, {}, shapes, ["A"], count=20, budget=220_000)
    # a cone has 50 * 50 * 2 * 2 assignments of A and of B each, half of them
    assert sample is not None and sample.kept == 20


def test_corners_and_edges() -> None:
    sample = _sample("matmul")
    assert sample is not None
    i, j = sample.elements["C"]
    found = set(zip(i.tolist(), j.tolist(), strict=True))
    assert {(0, 0), (0, 1023), (1023, 0), (1023, 1023)} <= found
    for ends in (i, j):
        assert np.count_nonzero(ends == 0) > 50 and np.count_nonzero(ends == 1023) > 50


def test_the_same_seed_gives_the_same_elements() -> None:
    a, b = _sample("conv2d"), _sample("conv2d")
    assert a is not None and b is not None
    for x, y in zip(a.elements["O"], b.elements["O"], strict=True):
        assert (x == y).all()


@pytest.mark.parametrize(("name", "most"), [
    # one element each: a row of the product; rows up to one; a cone; a row's locals; an element's bins
    ("old style", 30), ("inplace mm", 600), ("reverse", 62), ("jacobi time", 400), ("argmax locals", 70),
    ("doitgen", 110), ("flat", 10), ("index old", 6), ("outer in inner", 9), ("perm", 15), ("strided", 9),
    ("diag", 60), ("histo", 120),
])  # fmt: skip
def test_no_more_than_needed(name: str, most: int) -> None:
    function = syntax_of(PROGRAMS[name])
    arrays = arrays_of(function, 3)
    for seed in range(4):
        sample = sampled(
            function, {}, shapes_of(arrays), outputs_of(function)[:1], arrays, count=1, seed=seed
        )
        assert sample is not None and sample.executions <= most
