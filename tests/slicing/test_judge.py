"""Large results are judged at sampled elements by the C text, at the others by the vectorised reference."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from mdh.diagnostics import Failed
from mdh.frontend.c.read import read_program
from mdh.ir.program import Program
from mdh.machine import load_machine
from mdh.reference import evaluate_bounded
from mdh.reference import judge as judges
from mdh.reference.error import Bounded
from mdh.reference.interpreter import Elements, interpret_bounded
from mdh.reference.sampling import DisagreementError, interpreted_sample, picked, replaced
from mdh.results.trial import Job
from mdh.source import Source
from mdh.tuner.measure.building import Builder
from mdh.verify.arguments import make_arrays
from tests.slicing.sliced import syntax_of

SUMS = """void sums(const float A[40][60], float y[40]) {
  for (int i = 0; i < 40; i++) {
    y[i] = 0.0f;
    for (int j = 0; j < 60; j++)
      y[i] += A[i][j] * 0.3f;
  }
}
"""


def _program(text: str = SUMS) -> Program:
    return read_program(Source("sums.c", text))


def test_sizes_that_are_too_large(monkeypatch: pytest.MonkeyPatch) -> None:
    program = _program()
    arrays = make_arrays(program, {}, 1, "random")
    whole = judges.expected(program, arrays, {})
    assert whole.judge == judges.INTERPRETER
    monkeypatch.setattr(judges, "STEPS", 1000)
    some = judges.expected(program, arrays, {})
    assert some.judge == "vectorised reference; C text interpreted at 40 sampled elements"
    assert (some.want["y"].value == whole.want["y"].value).all()


def test_a_part_of_the_elements() -> None:
    program = _program()
    arrays = make_arrays(program, {}, 1, "random")
    found = interpreted_sample(program, arrays, {}, executions=1000)
    assert found is not None
    sample, some = found
    assert sample.kept < sample.asked == 40
    (at,) = sample.elements["y"]
    assert {0, 39} <= set(at.tolist())
    whole = interpret_bounded(syntax_of(SUMS), arrays, {})["y"]
    assert (some["y"].value == whole.value[at]).all()
    want = replaced(evaluate_bounded(program, arrays), some, sample.elements)["y"]
    assert want.bound is not None and some["y"].bound is not None
    assert (want.bound[at] == some["y"].bound).all() and (want.value[at] == some["y"].value).all()


def test_references_that_disagree(monkeypatch: pytest.MonkeyPatch) -> None:
    """A front end that has misread the text is found."""
    program = replace(_program(), syntax=syntax_of(SUMS.replace("j = 0", "j = 1")))
    monkeypatch.setattr(judges, "STEPS", 1000)
    with pytest.raises(DisagreementError, match=r"y\[\d+\] is .* of 40 sampled elements differ"):
        judges.expected(program, make_arrays(program, {}, 1, "exact"), {}, exact=True)


def test_elements_that_a_slice_does_not_write() -> None:
    before = {"y": np.arange(12, dtype=np.float32).reshape(3, 4), "n": np.arange(3, dtype=np.int32)}
    written = {"y": Elements(np.array([1, 6]), np.array([0.5, 0.25]), np.array([0.0, 0.125]))}
    at = {"y": (np.array([0, 1, 2]), np.array([1, 2, 3])), "n": (np.array([2]),)}
    found = picked(written, before, at)
    assert found["y"].value.tolist() == [0.5, 0.25, 11.0]
    assert found["y"].slack.tolist() == [0.0, 0.125, 0.0]
    assert found["n"] == Bounded(np.array([2], np.int32))


@pytest.mark.parametrize(("mine", "theirs", "agree"), [
    (np.nan, np.nan, True), (np.inf, np.inf, True), (np.nan, 1.0, False), (1.0, 1.25, False),
    (1.0, 1.1, True),
])  # fmt: skip
def test_agreement(mine: float, theirs: float, agree: bool) -> None:
    every = {"y": Bounded(np.array([0.0, mine]), np.array([0.0, 0.0625]))}
    some = {"y": Bounded(np.array([theirs]), np.array([0.0625]))}
    at = {"y": (np.array([1]),)}
    if agree:
        replaced(every, some, at)
        return
    with pytest.raises(DisagreementError):
        replaced(every, some, at)


def test_a_builder_tells_of_references_that_disagree(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    program = replace(_program(), syntax=syntax_of(SUMS.replace("j = 0", "j = 1")))
    monkeypatch.setattr(judges, "STEPS", 1000)
    machine = load_machine("generic-cpu")
    builder = Builder(Job("sums.c", SUMS), program, machine, "c", None, None, tmp_path)
    (tmp_path / "expected").mkdir()
    with pytest.raises(Failed, match="B101"):
        builder.answer({"do": "expect", "set": 0, "numerics": [], "threads": 1})
