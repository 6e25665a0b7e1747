"""The model against spaces that were measured in full: it must not rank them worse than it does."""

import json
import re
from dataclasses import replace
from random import Random

import numpy as np
import pytest

from mdh.cost.fit import spearman
from mdh.cost.predict import predict
from mdh.frontend.c.read import read_program
from mdh.ir.plan import Plan
from mdh.machine import Machine, load_machine
from mdh.schedule.parser import parse_schedule
from mdh.source import Source
from mdh.tuner.space import make_space
from tests.cost.plans import ROOT

H200 = load_machine("h200")
AVX512 = replace(load_machine("generic-cpu"), units=16, vector_bytes=64, caches=(32768, 1 << 20, 1 << 25))
"""What the tables of CPU spaces were measured on, as far as the model asks."""
SAMPLE = 100
"""Points that are asked about."""


def agreement(name: str, machine: Machine) -> float:
    text = (ROOT / "experiments" / "spaces" / f"{name}.mdh").read_text(encoding="utf-8")
    found = re.search(r"// space (\S+)", text)
    assert found is not None
    path = ROOT / found[1]
    sizes = {k: int(v) for k, v in re.findall(r"-D (\w+)=(\d+)", text)}
    program = read_program(Source(str(path), path.read_text(encoding="utf-8")), defines=sizes)
    space = make_space(program, parse_schedule(Source(name, text)), machine, machine.targets[0])
    lines = (ROOT / "artifacts" / "spaces" / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()
    guess, took = [], []
    for row in map(json.loads, Random(0).sample(lines[1:], SAMPLE)):
        plan = space.plan(tuple(row["point"]))
        if row["seconds"] and isinstance(plan, Plan):
            guess.append(predict(plan).seconds)
            took.append(row["seconds"])
    assert len(took) > SAMPLE / 2
    return spearman(np.array(guess), np.array(took))


@pytest.mark.parametrize(
    ("name", "machine", "least"),
    [
        ("h200_ccsdt", H200, 0.55),
        ("h200_conv2d", H200, 0.65),
        ("h200_matmul", H200, 0.55),
        ("h200_matmul_1x1000x2048", H200, 0.65),
        ("cpu_ccsdt", AVX512, 0.75),
        ("cpu_conv2d", AVX512, 0.85),
        ("cpu_matmul", AVX512, 0.75),
    ],
)
def test_rank_correlation(name: str, machine: Machine, least: float) -> None:
    assert agreement(name, machine) > least
