"""The Gaussian process: exact where it was measured, unsure elsewhere, blind to what has no effect."""

import numpy as np

from mdh.tune.search.features import Features
from mdh.tune.search.gauss import Posterior, Widths, correlation, differences, fitted, start
from mdh.tune.space.model import Kind, Variable
from tests.tune.search.doubles import small_space


def _rows(n: int, columns: int) -> np.ndarray:
    return np.random.default_rng(1).random((n, columns))


def test_posterior_passes_through_measurements() -> None:
    rows = _rows(30, 2)
    y = np.sin(4 * rows[:, 0]) + rows[:, 1]
    widths = Widths(np.array([2.0, 2.0]), 0.0, -9.0)
    model = Posterior(rows, y, 2, widths)
    mean, deviation = model.at(rows)
    assert np.abs(mean - y).max() < 0.02
    assert deviation.max() < 0.05
    _, far = model.at(rows + 10)
    assert np.allclose(far, 1.0, atol=1e-3)


def test_fit_finds_what_matters() -> None:
    rows = _rows(60, 3)
    y = np.sin(6 * rows[:, 0])
    y = (y - y.mean()) / y.std()
    widths = fitted(differences(rows, rows, 3), y, start(3), 40)
    assert widths.weights[0] > max(widths.weights[1], widths.weights[2]) + 1


def test_words_are_alike_or_not() -> None:
    rows = np.array([[0.0, 0.0], [0.0, 1.0], [0.0, 5.0]])
    planes = differences(rows, rows, 1)
    k = correlation(planes, np.zeros(2))
    assert k[0, 1] == k[0, 2] == k[1, 2] < k[0, 0] == 1


def test_features_are_between_0_and_1() -> None:
    space = small_space()
    features = Features(space.variables)
    rows = features.rows(space.points[::97])
    assert rows.shape[1] == features.numbers + features.words == 4 + 1 + 2 + 3 + 1
    assert rows[:, : features.numbers].min() >= 0 and rows[:, : features.numbers].max() <= 1
    assert Features((Variable("v", Kind.NUMBER, (4,)),)).rows([(4,)]).shape == (1, 0)
