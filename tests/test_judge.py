"""Who judges, and on which data: reference/judge.py and what `mdh run --check` says of it."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mdh.cli.main import run
from mdh.diagnostics import Failed
from mdh.frontend.c.read import read_program
from mdh.ir.program import Program
from mdh.reference import evaluate, evaluate_bounded
from mdh.reference.interpreter import Undecided
from mdh.reference.judge import INTERPRETER, STEPS, VECTORISED, draw_expected, expected
from mdh.source import Source
from mdh.tuner.measure.inputs import read_set, write_expected
from mdh.verify.verdict import fits
from tests.support.arrays import Arrays, random_arrays

SUM = """void f(const float x[N][9], float y[N]) {
  for (int i = 0; i < N; i++) {
    y[i] = 0;
    for (int j = 0; j < 9; j++) y[i] += x[i][j];
  }
}
"""
SAMPLED = f"{VECTORISED}; C text interpreted at 1,000 sampled elements"
CLOSE = """void f(const float x[50], float y[50]) {
  for (int i = 0; i < 50; i++)
    y[i] = x[i] * 3 > 0.30000001f ? 1 : 2;
}
"""


def program_of(text: str, **sizes: int) -> Program:
    return read_program(Source("f.c", text), defines=dict(sizes))


def arrays_of(program: Program, seed: int = 1) -> Arrays:
    return random_arrays(program, seed, "random", {})


def test_the_number_of_assignments_decides() -> None:
    few, many = program_of(SUM, N=STEPS // 10), program_of(SUM, N=STEPS // 10 + 1)
    assert expected(few, arrays_of(few), {}).judge == INTERPRETER
    assert expected(many, arrays_of(many), {}).judge == SAMPLED


def test_both_judges_say_the_same() -> None:
    program = program_of(SUM, N=100)
    arrays = arrays_of(program)
    mine, other = expected(program, arrays, {}).want["y"], evaluate_bounded(program, arrays, {})["y"]
    assert np.allclose(mine.value, other.value, rtol=1e-14, atol=0)


def test_each_turn_rounds_what_it_stores() -> None:
    """A sum of 16-bit floats over turns, each of which stores it: the interpreter counts one rounding."""
    text = """void f(const _Float16 a[12][4][10], _Float16 s[4], _Float16 z[4]) {
  for (int t = 0; t < 12; t++) {
    for (int i = 0; i < 4; i++) for (int j = 0; j < 10; j++) s[i] += a[t][i][j];
    for (int i = 0; i < 4; i++) z[i] = s[i] - z[i];
  }
}"""
    program = program_of(text)
    for seed in range(8):
        arrays = arrays_of(program, seed)
        right, got = expected(program, arrays, {}), evaluate(program, arrays, {})
        assert right.judge == INTERPRETER
        assert all(fits(got[n], right.want[n]).all() for n in ("s", "z"))


def close(seed: int) -> Arrays:
    """One element of seed 0 lies where rounding decides."""
    arrays = arrays_of(program_of(CLOSE), seed)
    if seed == 0:
        arrays["x"][7] = np.float32(0.1)
    return arrays


def test_what_depends_on_rounding_is_drawn_anew() -> None:
    program = program_of(CLOSE)
    with pytest.raises(Undecided, match="line 3"):
        expected(program, close(0), {})
    drawn = draw_expected(program, lambda attempt: (close(attempt), {}))
    assert (drawn.attempt, drawn.expected.judge) == (1, INTERPRETER)
    assert drawn.arrays["x"].tobytes() == close(1)["x"].tobytes()


def test_what_always_depends_on_rounding_is_left_to_the_other_judge() -> None:
    drawn = draw_expected(program_of(CLOSE), lambda _: (close(0), {}))
    assert (drawn.attempt, drawn.expected.judge) == (0, VECTORISED)


DIVIDE = (
    "void f(const int a[40], const int b[40], int c[40]) { for (int i = 0; i < 40; i++) c[i] = a[i] / b[i]; }"
)


def test_a_division_by_zero_is_refused_on_given_data_only() -> None:
    program = program_of(DIVIDE)

    def draw(attempt: int) -> tuple[Arrays, dict[str, Any]]:
        arrays = arrays_of(program)
        arrays["b"][:] = np.arange(40) + (attempt != 0)
        return arrays, {}

    drawn = draw_expected(program, draw)
    assert (drawn.attempt, drawn.expected.judge) == (1, INTERPRETER)
    with pytest.raises(Failed, match="A131"):
        draw_expected(program, draw, attempts=1)


def test_workers_judge_on_the_data_that_were_drawn(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = program_of(CLOSE)
    drawn: list[int] = []

    def given(_program: Program, seed: int, number: int, attempt: int) -> tuple[Arrays, dict[str, Any]]:
        drawn.append(attempt)
        return close(seed + number + attempt), {}

    monkeypatch.setattr("mdh.tuner.measure.inputs._given", given)
    write_expected(program, 0, 0, tmp_path)
    assert drawn == [0, 1]
    read = read_set(program, 0, 0, tmp_path)
    assert drawn == [0, 1, 1] and read.before["x"].tobytes() == close(1)["x"].tobytes()
    assert read.want["y"].value.tolist() == [1 if 3 * float(v) > 0.3 else 2 for v in read.before["x"]]


@pytest.mark.parametrize(("size", "judge"), [(100, INTERPRETER), (50_000, SAMPLED)])
def test_run_names_the_judge(
    size: int, judge: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("f.c").write_text(SUM, encoding="utf-8")
    words = ["run", "f.c", "-D", f"N={size}", "--device", "opencl:0", "--check", "--repeat", "0"]
    assert run(words) == 0
    assert f"random values, in bounds; judge: {judge}\n" in capsys.readouterr().out
    assert run([*words, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["judges"] == [judge, judge]
