"""The constants that a run begins with."""

from dataclasses import replace
from random import Random

from mdh.cost.fit import OWN, begin, concordance
from mdh.cost.prediction import NOMINAL, Constants, Prediction, Signs, seconds_of

CPU = NOMINAL["cpu"]
OTHER = replace(CPU, weights=tuple(w * (6.0 if n % 2 else 0.2) for n, w in enumerate(CPU.weights)))
"""A machine with other ratios than those that mdh comes with."""


def measured(
    about: str, seed: int, count: int = 60, truth: Constants = OTHER
) -> list[tuple[Prediction, float]]:
    rng = Random(seed)
    rows = [tuple(10 ** rng.uniform(-6, -3) for _ in CPU.weights) for _ in range(count)]
    return [(Prediction(0.0, (), (f,), Signs(), "cpu", about), float(seconds_of(truth, f))) for f in rows]


def test_without_earlier_times_they_are_those_that_mdh_comes_with() -> None:
    assert begin(CPU, {}, "p") == (CPU, 0)
    assert begin(CPU, {"p": measured("p", 0, OWN - 1), "q": measured("q", 1)}, "p") == (CPU, 0)


def test_times_of_the_same_program_rank_it_better() -> None:
    found, used = begin(CPU, {"p": measured("p", 0)}, "p")
    fresh = measured("p", 1)
    assert used == 60
    assert concordance(found, fresh) > concordance(CPU, fresh) + 0.02


def test_other_programs_count_where_they_agree() -> None:
    known = {name: measured(name, n) for n, name in enumerate("abcd")}
    found, used = begin(CPU, known, "p")
    fresh = measured("p", 9)
    assert used == 240
    assert concordance(found, fresh) > concordance(CPU, fresh) + 0.02


def test_other_programs_that_do_not_agree_change_nothing() -> None:
    known = {name: measured(name, n, truth=CPU) for n, name in enumerate("abcd")}
    assert begin(CPU, known, "p") == (CPU, 0)
