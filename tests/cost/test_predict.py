"""Every plan gets a finite prediction, quickly."""

import math
import time

import pytest

from mdh.cost.predict import predict
from mdh.diagnostics import Failed
from mdh.frontend.c.read import read_program
from mdh.machine import load_machine
from mdh.schedule.parser import parse_schedule
from mdh.source import Source
from tests.cost.plans import ROOT, plan_of
from tests.support.pairs import planned
from tests.support.random_programs import random_program
from tests.support.random_schedules import random_schedule

PROGRAMS = sorted(p.stem for p in (ROOT / "inputs_c").glob("*.c"))


@pytest.mark.parametrize("machine", ["generic-cpu", "h200", "a100"])
@pytest.mark.parametrize("name", PROGRAMS)
def test_every_shipped_program(name: str, machine: str) -> None:
    plan = plan_of(name, None, machine)
    found = predict(plan)
    assert 0.0 < found.seconds < 1e4
    assert all(math.isfinite(s) and s >= 0.0 for _, s in found.terms)
    assert len(found.features) == len(plan.stages)
    assert found.kind == plan.machine.kind
    assert predict(plan) == found


@pytest.mark.parametrize("machine", ["generic-cpu", "oclgrind", "v100"])
def test_random_programs(machine: str) -> None:
    device = load_machine(machine)
    count = 0
    for seed in range(60):
        try:
            program = read_program(random_program(seed).source)
            schedule = parse_schedule(Source("random", random_schedule(program, device, seed)))
            plan = planned(program, schedule, device, device.targets[0])
        except Failed:
            continue
        found = predict(plan)
        assert 0.0 < found.seconds < 1e6, plan.text
        count += 1
    assert count > 15


@pytest.mark.parametrize("machine", ["generic-cpu", "h200"])
def test_a_product_takes_less_than_three_milliseconds(machine: str) -> None:
    plan = plan_of("matmul", None, machine)
    predict(plan)
    times = []
    for _ in range(20):
        start = time.perf_counter()
        predict(plan)
        times.append(time.perf_counter() - start)
    assert min(times) < 3e-3


def test_stages_add_up() -> None:
    plan = plan_of("softmax", None, "generic-cpu")
    assert len(plan.stages) > 1
    assert len(predict(plan).features) == len(plan.stages)


def test_another_size_is_about_something_else() -> None:
    small, large = (predict(plan_of("matmul", None, "h200", M=n, N=n, K=n)) for n in (512, 1024))
    assert small.about != large.about
    assert small.seconds < large.seconds
