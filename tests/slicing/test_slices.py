"""Sampled elements come out of a slice as they come out of the whole function."""

import pytest

from mdh.frontend.c.read import read_program
from mdh.ir.program import Program
from mdh.reference.slicing import accesses, boxes, sampled
from mdh.verify.arguments import make_arrays, make_scalars
from tests.slicing.programs import PROGRAMS
from tests.slicing.random_functions import SIZE, random_function
from tests.slicing.sliced import (
    arrays_of,
    differences,
    left_by,
    outputs_of,
    shapes_of,
    sizes_of,
    syntax_of,
)
from tests.support.corpus import WORKLOADS, Sizes
from tests.support.random_programs import random_program

SMALL = [(name, sizes) for name, w in WORKLOADS.items() for sizes in w.small]


@pytest.mark.parametrize("name", PROGRAMS)
def test_programs_of_several_statements(name: str) -> None:
    function = syntax_of(PROGRAMS[name])
    arrays = arrays_of(function, 3)
    whole = left_by(function, arrays, {})
    written = outputs_of(function)
    for seed, (count, known, outputs) in enumerate(
        [
            (1, {}, written),
            (10, arrays, written),
            *((count, {}, [name]) for name in written for count in (1, 3)),
        ]
    ):
        sample = sampled(function, {}, shapes_of(arrays), outputs, known, count=count, seed=seed)
        assert sample is not None and sample.kept == sample.asked
        assert differences(function, arrays, {}, sample, whole) == []


@pytest.mark.parametrize("name", PROGRAMS)
def test_boxes_that_are_not_taken_apart(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where that would make too many, slices are larger and still right."""
    monkeypatch.setattr(boxes, "_MOST_SPLIT", 3)
    monkeypatch.setattr(accesses, "_MOST_FOUND", 3)
    function = syntax_of(PROGRAMS[name])
    arrays = arrays_of(function, 4)
    sample = sampled(function, {}, shapes_of(arrays), outputs_of(function), arrays, count=2, seed=4)
    assert sample is not None
    assert differences(function, arrays, {}, sample, left_by(function, arrays, {})) == []


@pytest.mark.parametrize("seed", range(40))
def test_random_functions(seed: int) -> None:
    function = syntax_of(random_function(seed))
    arrays = arrays_of(function, seed, SIZE)
    whole = left_by(function, arrays, {})
    for count, known in ((1, {}), (4, arrays)):
        sample = sampled(function, {}, shapes_of(arrays), outputs_of(function), known, count=count, seed=seed)
        if sample is not None:
            assert differences(function, arrays, {}, sample, whole) == []


@pytest.mark.parametrize(("name", "sizes"), SMALL, ids=str)
def test_shipped_inputs(name: str, sizes: Sizes) -> None:
    work = WORKLOADS[name]
    _compare(read_program(work.source, defines=dict(sizes)), dict(work.scalars), counts=(3, 20), seed=1)


@pytest.mark.parametrize("seed", range(60))
def test_random_programs(seed: int) -> None:
    random = random_program(seed)
    _compare(read_program(random.source), dict(random.scalars), counts=(1, 6), seed=seed)


def _compare(program: Program, given: dict[str, int | float], *, counts: tuple[int, ...], seed: int) -> None:
    function = program.syntax
    assert function is not None
    scalars = {**sizes_of(program), **make_scalars(program, given, seed)}
    arrays = make_arrays(program, {}, seed, "random")
    whole = left_by(function, arrays, scalars)
    for count in counts:
        sample = sampled(
            function, scalars, shapes_of(arrays), outputs_of(function), arrays, count=count, seed=seed
        )
        assert sample is not None and sample.kept == sample.asked
        assert differences(function, arrays, scalars, sample, whole) == []
