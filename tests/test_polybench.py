"""mdh accepts all computations of PolyBench, and these mean what C says."""

from pathlib import Path

import numpy as np
import pytest

from mdh.device.api import open_device
from mdh.frontend.c.read import read_program
from mdh.machine import load_machine
from mdh.reference import evaluate
from mdh.reference.interpreter import interpret_bounded
from mdh.reference.numbers import numpy_dtype
from mdh.schedule.parser import parse_schedule
from mdh.schedule.printer import print_schedule
from mdh.source import Source
from tests.soundness.verdict import EQUAL, compared
from tests.support.native import compiler
from tests.support.pairs import arguments, execute, planned
from tests.support.polybench import FOLDER, PROGRAMS, small, without_directives

SCHEDULES = sorted((FOLDER.parents[1] / "schedules" / "polybench").rglob("*.mdh"))


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


@pytest.mark.parametrize("path", SCHEDULES, ids=lambda p: p.parts[-3])
def test_shipped_schedules_are_right(path: Path) -> None:
    """What the kernels compute at small sizes, after odd numbers of turns; each is legal at its full size."""
    name, text = path.parts[-3], path.read_text(encoding="utf-8")
    assert "avx512" in path.stem or path.stem == "base", "the bench looks for these"
    schedule = parse_schedule(Source(path.name, text))
    assert print_schedule(schedule) == text
    assert planned(read_program(PROGRAMS[name]), schedule, load_machine("generic-cpu"), "c").fronts
    if compiler() is None:
        pytest.skip("no C compiler here")
    opened = open_device("c")
    # a band and a part of one
    program = read_program(PROGRAMS[name], defines={"N": 11, "T": 11 if name == "heat-3d" else 37})
    plan = planned(program, schedule, opened.machine, opened.target)
    assert execute(plan, opened, arguments(program, {}, 1), {}).kind == "equal"
