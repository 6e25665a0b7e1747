"""A Gaussian process with numpy alone: Matérn 5/2, one length a column, fitted by its marginal likelihood."""

from dataclasses import dataclass

import numpy as np

from mdh.tuner.search.features import Matrix

ROOT5 = 5.0**0.5


@dataclass(frozen=True, slots=True)
class Widths:
    """Logarithms: weights of squared distances a column, variance of the function, variance of the noise."""

    weights: Matrix
    signal: float
    noise: float

    def vector(self) -> Matrix:
        return np.concatenate([self.weights, [self.signal, self.noise]])

    @staticmethod
    def of(vector: Matrix) -> "Widths":
        return Widths(vector[:-2], float(vector[-2]), float(vector[-1]))


PRIOR_WEIGHT, PRIOR_SIGNAL, PRIOR_NOISE = 1.0, 0.0, -4.5
"""Where the logarithms lie before any data; they differ from it by about 1.5 (weights) and 1."""
SPREAD_WEIGHT, SPREAD_SIGNAL, SPREAD_NOISE = 1.5, 1.0, 1.0


def start(columns: int) -> Widths:
    return Widths(np.full(columns, PRIOR_WEIGHT), PRIOR_SIGNAL, PRIOR_NOISE)


def differences(a: Matrix, b: Matrix, numbers: int) -> Matrix:
    """Squared differences, a plane a column: of words 1 where they are unlike."""
    gap = a[:, None, :] - b[None, :, :]
    gap = np.moveaxis(gap, 2, 0)
    gap[:numbers] **= 2
    gap[numbers:] = gap[numbers:] != 0
    return gap


def correlation(a: Matrix, b: Matrix, numbers: int, weights: Matrix) -> Matrix:
    """Matérn 5/2 of the weighted distance. Without the planes of `differences`, which take longer to write
    than all the rest."""
    weight = np.exp(weights)
    x, y = a[:, :numbers] * np.sqrt(weight[:numbers]), b[:, :numbers] * np.sqrt(weight[:numbers])
    square = (x * x).sum(axis=1)[:, None] + (y * y).sum(axis=1)[None, :] - 2 * (x @ y.T)
    for column in range(numbers, a.shape[1]):
        square += weight[column] * (a[:, column, None] != b[None, :, column])
    r = ROOT5 * np.sqrt(np.maximum(square, 0.0))
    return np.asarray((1 + r + r * r / 3) * np.exp(-r))


def fitted(planes: Matrix, y: Matrix, widths: Widths, steps: int) -> Widths:
    """Ascent of the posterior of the widths with a step a coordinate that grows while its sign stays."""
    theta = widths.vector()
    best, best_value = theta, -np.inf
    step = np.full(len(theta), 0.3)
    last = np.zeros(len(theta))
    for _ in range(steps):
        value, slope = _posterior(planes, y, Widths.of(theta))
        if value > best_value:
            best, best_value = theta, value
        step = np.clip(np.where(slope * last > 0, step * 1.3, step * 0.5), 0.01, 0.8)
        theta = np.clip(theta + np.sign(slope) * step, -7.0, 6.0)
        last = slope
    return Widths.of(best)


def _posterior(planes: Matrix, y: Matrix, widths: Widths) -> tuple[float, Matrix]:
    """The logarithm of the likelihood times the prior, and its slope."""
    n = len(y)
    square = np.tensordot(np.exp(widths.weights), planes, axes=1)
    r = ROOT5 * np.sqrt(square)
    decay = np.exp(-r)
    signal, noise = np.exp(widths.signal), np.exp(widths.noise)
    k = signal * (1 + r + r * r / 3) * decay
    full = k + (noise + 1e-8) * np.eye(n)
    try:
        lower = np.linalg.cholesky(full)
    except np.linalg.LinAlgError:
        return -np.inf, np.zeros(len(widths.weights) + 2)
    inverse = np.linalg.inv(lower)
    precision = inverse.T @ inverse
    alpha = precision @ y
    value = -0.5 * float(y @ alpha) - float(np.log(np.diag(lower)).sum())
    outer = np.outer(alpha, alpha) - precision
    by_square = outer * (-5 / 6 * signal * (1 + r) * decay)
    slopes = 0.5 * np.exp(widths.weights) * np.tensordot(planes, by_square, axes=([1, 2], [0, 1]))
    slope = np.concatenate([slopes, [0.5 * float((outer * k).sum()), 0.5 * noise * float(np.trace(outer))]])
    theta = widths.vector()
    centre = np.concatenate([np.full(len(slopes), PRIOR_WEIGHT), [PRIOR_SIGNAL, PRIOR_NOISE]])
    spread = np.concatenate([np.full(len(slopes), SPREAD_WEIGHT), [SPREAD_SIGNAL, SPREAD_NOISE]])
    away = (theta - centre) / spread
    return value - 0.5 * float(away @ away), slope - away / spread


class Posterior:
    """What is believed of the function after measurements y (standardised) at the rows."""

    def __init__(self, rows: Matrix, y: Matrix, numbers: int, widths: Widths) -> None:
        self._rows, self._numbers, self._widths = rows, numbers, widths
        self._signal, self._noise = np.exp(widths.signal), np.exp(widths.noise) + 1e-6
        k = self._signal * correlation(rows, rows, numbers, widths.weights)
        k += self._noise * np.eye(len(y))
        self._inverse = np.linalg.inv(np.linalg.cholesky(k))
        self._alpha = self._inverse.T @ (self._inverse @ y)

    def at(self, rows: Matrix) -> tuple[Matrix, Matrix]:
        """Mean and deviation, without noise."""
        k = self._signal * correlation(rows, self._rows, self._numbers, self._widths.weights)
        mean = k @ self._alpha
        spread = self._signal - ((k @ self._inverse.T) ** 2).sum(axis=1)
        return mean, np.sqrt(np.maximum(spread, 1e-10))

    def jointly(self, rows: Matrix) -> tuple[Matrix, Matrix]:
        """Mean and covariances, without noise."""
        k = self._signal * correlation(rows, self._rows, self._numbers, self._widths.weights)
        own = self._signal * correlation(rows, rows, self._numbers, self._widths.weights)
        half = k @ self._inverse.T
        return k @ self._alpha, own - half @ half.T

    def believing(self, covariances: Matrix, row: int) -> Matrix:
        """What the covariances become once one of the rows has come out as expected."""
        column = covariances[:, row]
        return np.asarray(covariances - np.outer(column, column) / (column[row] + self._noise))
