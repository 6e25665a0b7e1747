"""The Gaussian process: exact where it was measured, unsure elsewhere, blind to what has no effect."""

import numpy as np

from mdh.results.variable import Kind, Variable
from mdh.tuner.search.features import Features
from mdh.tuner.search.gauss import Posterior, Widths, correlation, differences, fitted, start
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
    k = correlation(rows, rows, 1, np.zeros(2))
    assert k[0, 1] == k[0, 2] == k[1, 2] < k[0, 0] == 1


def test_the_two_ways_to_measure_how_far_points_are_apart_agree() -> None:
    a, b = np.round(_rows(30, 4), 1), np.round(_rows(20, 4), 1)
    weights = np.array([0.3, -1.0, 0.7, 0.1])
    square = np.tensordot(np.exp(weights), differences(a, b, 2), axes=1)
    r = (5 * square) ** 0.5
    assert np.allclose(correlation(a, b, 2, weights), (1 + r + r * r / 3) * np.exp(-r), atol=1e-7)


def test_features_are_between_0_and_1() -> None:
    space = small_space()
    features = Features(space.variables)
    rows = np.array([features.row(p) for p in space.points[::97]])
    assert rows.shape[1] == features.numbers + features.words == 4 + 1 + 2 + 3 + 1
    assert rows[:, : features.numbers].min() >= 0 and rows[:, : features.numbers].max() <= 1
    assert Features((Variable("v", Kind.NUMBER, (4,)),)).row((4,)).size == 0
