"""Copies at the end of turns that swap arrays instead: which do, how often kernels run, and what must not."""

from collections import Counter

import pytest

from mdh.cost.predict import predict
from mdh.frontend.c.read import read_program
from mdh.ir.plan import Plan
from mdh.ir.swaps import swaps_of
from mdh.lower.run import lower
from mdh.machine import load_machine
from mdh.source import Source
from mdh.target.emit import emit
from mdh.target.text import BufferArg, KernelText
from tests.support.pairs import planned

HEAT = """
void heat({params}) {{
  for (int t = 0; t < {turns}; t++) {{
    {before}
    for (int i = 1; i < 39; i++)
      U[i] = {value};
    {between}
    for (int i = {low}; i < {high}; i++)
      A[i] = {copied};
    {after}
  }}
}}
"""
PLAIN = {
    "params": "float A[40], float U[40], float S[40]", "turns": 9, "value": "A[i - 1] + A[i + 1]",
    "low": 1, "high": 39, "copied": "U[i]", "before": "", "between": "", "after": "",
}  # fmt: skip
SUM = "for (int i = 1; i < 39; i++) S[i] += {};"


def plan_of(target: str = "c", **said: object) -> Plan:
    program = read_program(Source("heat.c", HEAT.format(**PLAIN | said)))
    return planned(program, None, load_machine("h100" if target == "cuda" else "generic-cpu"), target)


def text_of(**said: object) -> KernelText:
    plan = plan_of(**said)  # type: ignore[arg-type]
    return emit(lower(plan), plan.program)


def test_one_turn_copies() -> None:
    (swap,) = swaps_of(plan_of())
    assert (swap.target, swap.source) == ("A", "U")


@pytest.mark.parametrize("turns", [4, 5, 8, 9])
def test_kernels_run_once_a_turn(turns: int) -> None:
    """Each array is written as often as it is its turn, and the last turn writes U and copies it."""
    text = text_of(turns=turns)
    runs = Counter(text.kernels[x.kernel].name for x in text.launches)
    assert runs == {"heat_U": turns, "heat_A": 1, "heat_A_other": 1}
    arrays = [text.kernels[x.kernel].args for x in text.launches]
    written = [[a.name for a in args if isinstance(a, BufferArg) and not a.readonly] for args in arrays]
    swapped = [["A_other"], ["A"]] * turns
    assert written == [["A_other"], *swapped[: turns - 1], ["U"], ["A"]]
    assert text.source.count("void heat_U(") == 1


@pytest.mark.parametrize(
    "params", ["float A[40], float U[41], float S[40]", "float *A, float *U, float S[40]"]
)
def test_arrays_may_have_other_lengths(params: str) -> None:
    assert swaps_of(plan_of(params=params))


def test_readers_may_stand_between() -> None:
    assert swaps_of(plan_of(between=SUM.format("U[i] - A[i - 1]"), before=SUM.format("A[i]")))


@pytest.mark.parametrize(
    "said",
    [
        {"turns": 3},
        {"low": 2}, {"high": 38}, {"low": 0}, {"copied": "2 * U[i]"}, {"copied": "U[39 - i]"},
        {"value": "U[i] + A[i]"}, {"value": "t + A[i]"},
        {"between": SUM.format("U[i - 1]")}, {"before": SUM.format("U[i]")}, {"after": SUM.format("A[i]")},
        {"after": "A[3] = 1;"}, {"between": "U[7] = 1;"},
        {"params": "float A[40], double U[40], float S[40]"},
    ],
)  # fmt: skip
def test_what_forbids_it(said: dict[str, object]) -> None:
    assert not swaps_of(plan_of(**said))  # type: ignore[arg-type]


POINTERS = """
void heat(float *A, float *U) {{
  for (int t = 0; t < 9; t++) {{
    for (int i = 1; i < 39; i++)
      for (int j = 1; j < 39; j++)
        U[i * 40 + j] = {value};
    for (int i = 1; i < 39; i++)
      for (int j = 1; j < 39; j++)
        A[i * 40 + j] = U[i * 40 + j];
  }}
}}
"""


@pytest.mark.parametrize(("value", "swapped"), [("A[i * 40 + j + 1]", True), ("A[i * 40 + j]", False)])
def test_all_of_a_plain_pointer_must_be_there(value: str, swapped: bool) -> None:
    """Elements behind the last one that the C touches need not be."""
    program = read_program(Source("heat.c", POINTERS.format(value=f"{value} + A[i * 40 + j - 1]")))
    assert bool(swaps_of(planned(program, None, load_machine("generic-cpu"), "c"))) is swapped


def test_the_estimate_counts_two_copies() -> None:
    assert predict(plan_of("cuda")).seconds < 0.7 * predict(plan_of("cuda", copied="2 * U[i]")).seconds
