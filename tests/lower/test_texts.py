"""The kernel text of representative workloads under their default schedules, whole: any change shows here."""

import pytest

from mdh.checker.run import check
from mdh.frontend.c.read import read_program
from mdh.lower.run import lower
from mdh.machine import load_machine
from mdh.schedule.default import default_schedule
from mdh.target.emit import emit
from tests.support.corpus import WORKLOADS
from tests.support.source_tree import ROOT

CASES = [
    ("matmul", "generic-cpu", "opencl"),
    ("matmul", "h200", "cuda"),
    ("dot", "generic-cpu", "opencl"),
    ("dot", "oclgrind", "opencl"),
    ("prefix_sum", "h200", "cuda"),
    ("histogram", "h200", "cuda"),
    ("row_argmax", "generic-cpu", "opencl"),
    ("jacobi2d", "h200", "cuda"),
    ("conv2d", "generic-cpu", "opencl"),
    ("transpose", "h200", "cuda"),
    ("softmax", "oclgrind", "opencl"),
]


CUT = {"M": 100, "N": 100, "K": 96}
"""Tiles of the default schedule do not divide these."""


@pytest.mark.parametrize(("name", "machine", "target"), CASES)
def test_text(name: str, machine: str, target: str, request: pytest.FixtureRequest) -> None:
    same_text(name, name, dict(WORKLOADS[name].small[-1]), machine, target, request)


def test_text_of_cut_tiles(request: pytest.FixtureRequest) -> None:
    same_text("matmul_cut", "matmul", CUT, "h200", "cuda", request)


def same_text(
    stem: str, name: str, sizes: dict[str, int], machine: str, target: str, request: pytest.FixtureRequest
) -> None:
    program = read_program(WORKLOADS[name].source, defines=sizes)
    model = load_machine(machine)
    plan = check(program, default_schedule(program, model, target), model, target)
    text = emit(lower(plan), program).source
    assert emit(lower(plan), program).source == text, "byte-identical for the same input"
    golden = ROOT / "tests" / "golden" / "lower" / f"{stem}.{machine}.{'cu' if target == 'cuda' else 'cl'}"
    if request.config.getoption("--update-golden"):
        golden.parent.mkdir(parents=True, exist_ok=True)
        golden.write_text(text, encoding="utf-8")
    assert text == golden.read_text(encoding="utf-8")
