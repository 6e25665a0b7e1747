"""Constants are found again from times that they made, and never get worse."""

from dataclasses import replace
from random import Random

import numpy as np
import pytest

from mdh.cost.fit import fit, spearman
from mdh.cost.prediction import NOMINAL, TERMS, Constants, Prediction, Signs, seconds_of


def predictions(kind: str, count: int, seed: int = 0) -> list[Prediction]:
    rng = Random(seed)
    out = []
    for i in range(count):
        stages = tuple(
            tuple(10 ** rng.uniform(-6, -3) for _ in TERMS[kind]) for _ in range(rng.choice((1, 1, 2)))
        )
        seconds = sum(seconds_of(NOMINAL[kind], f) for f in stages)
        out.append(Prediction(seconds, (), stages, Signs(), kind, f"program {i % 2}"))
    return out


def total(constants: Constants, p: Prediction) -> float:
    return float(sum(seconds_of(constants, f) for f in p.features))


@pytest.mark.parametrize("kind", ["cpu", "gpu"], ids=["weights_c", "weights_g"])
def test_weights_are_found_again(kind: str) -> None:
    nominal = NOMINAL[kind]
    true = replace(
        nominal, weights=tuple(w * (3.0 if n % 3 == 0 else 0.5) for n, w in enumerate(nominal.weights))
    )
    guesses = predictions(kind, 150)
    pairs = [(p, total(true, p)) for p in guesses]
    pairs[3] = (pairs[3][0], pairs[3][1] * 100)  # a disturbed measurement
    found = fit(nominal, pairs)
    errors = [abs(np.log(total(found, p) / total(true, p))) for p in predictions(kind, 60, seed=1)]
    before = [abs(np.log(total(nominal, p) / total(true, p))) for p in predictions(kind, 60, seed=1)]
    assert np.median(errors) < 0.25 * np.median(before)


def test_noise_never_ranks_worse() -> None:
    for seed in range(12):
        guesses = predictions("cpu", 20, seed)
        rng = Random(seed)
        pairs = [(p, 10 ** rng.uniform(-5, -2)) for p in guesses]
        found = fit(NOMINAL["cpu"], pairs)
        assert _agreement(found, pairs) >= _agreement(NOMINAL["cpu"], pairs) - 1e-12


def _agreement(constants: Constants, pairs: list[tuple[Prediction, float]]) -> float:
    out = []
    for about in {p.about for p, _ in pairs}:
        mine = [(total(constants, p), s) for p, s in pairs if p.about == about]
        out.append(spearman(np.array([m for m, _ in mine]), np.array([s for _, s in mine])))
    return float(np.mean(out))


def test_few_pairs_or_pairs_of_another_kind_change_nothing() -> None:
    guesses = predictions("cpu", 40)
    assert fit(NOMINAL["cpu"], [(p, 1.0) for p in guesses[:5]]) == NOMINAL["cpu"]
    assert fit(NOMINAL["gpu"], [(p, 1.0) for p in guesses]) == NOMINAL["gpu"]
    assert fit(NOMINAL["cpu"], [(p, 0.0) for p in guesses]) == NOMINAL["cpu"]


def test_one_factor_makes_seconds_right() -> None:
    guesses = predictions("cpu", 40)
    found = fit(NOMINAL["cpu"], [(p, 7.0 * p.seconds) for p in guesses])
    assert total(found, guesses[0]) == pytest.approx(7.0 * guesses[0].seconds, rel=0.05)


def test_rank_correlation() -> None:
    a = np.array([1.0, 2.0, 3.0, 4.0])
    assert spearman(a, a**3) == pytest.approx(1.0)
    assert spearman(a, -a) == pytest.approx(-1.0)
    assert spearman(a, np.ones(4)) == 0.0
    assert spearman(np.array([1.0, 1.0, 2.0]), np.array([1.0, 2.0, 3.0])) == pytest.approx(0.866, abs=1e-3)
