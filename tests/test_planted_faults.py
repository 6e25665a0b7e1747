"""Faults that are planted in kernels by given schedules are in these kernels, on every kind of machine."""

from collections import Counter

import pytest

from mdh.machine import load_machine
from mdh.pipeline import Pipeline
from mdh.source import Source
from tests.support.planted_by_schedule import BY_SCHEDULE
from tests.support.planted_faults import PLANTED, Planted
from tests.support.source_tree import ROOT


def test_faults_of_a_program_have_names_of_their_own() -> None:
    twice = [k for k, n in Counter((f.program, f.name) for f in (*PLANTED, *BY_SCHEDULE)).items() if n > 1]
    assert not twice


@pytest.mark.parametrize("target", ["opencl", "c"])
@pytest.mark.parametrize("fault", BY_SCHEDULE, ids=lambda f: f"{f.program}-{f.name}".replace(" ", "_"))
def test_every_fault_is_in_its_text(fault: Planted, target: str) -> None:
    if fault.items and target == "c":
        pytest.skip("C has one work-item a group")
    machine, pipeline = load_machine("oclgrind" if fault.items else "generic-cpu"), Pipeline()
    text = (ROOT / "inputs_c" / f"{fault.program}.c").read_text(encoding="utf-8")
    program = pipeline.read(Source(f"{fault.program}.c", text), defines=dict(fault.defines))
    given = pipeline.schedule(Source("<given>", fault.schedule))
    plan = pipeline.check(program, given, machine, target).plan
    assert fault.apply(pipeline.emit(pipeline.lower(plan), program).source) is not None
