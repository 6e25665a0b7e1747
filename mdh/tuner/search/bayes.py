"""`bayes`: a Gaussian process over the exact space proposes what is expected to improve most.

The model sees logarithms of times, of points as `Features`. A point that failed enters as a slow one, so that
the model turns away from where points fail, and lowers the odds of its neighbours besides. What is
compared by expected improvement are legal points only: steps from the best points known, uniform draws, and
steps from the best of those. To find a legal point near a wished one takes longer than to score it, so the
most promising ones are kept from suggestion to suggestion. The more times are known the less a further one
changes: then a thought chooses several points, each as if those before it had come out as expected (a
"kriging believer": Ginsbourger, Le Riche, Carraro, 2010), and serves until they are used up or a better time
than all others is heard of. Every other point is a small step from one of the best: near an optimum the
model smooths over what decides (of equal tiles one has bank conflicts), and a step tells.
"""

from collections.abc import Container, Iterable
from functools import lru_cache
from heapq import nsmallest
from itertools import islice
from math import inf, log
from random import Random

import numpy as np

from mdh.results.variable import Point
from mdh.tuner.search.features import Features, Matrix
from mdh.tuner.search.gauss import Posterior, correlation, differences, fitted, start
from mdh.tuner.search.space import Space
from mdh.tuner.search.steps import free_neighbour, mutate
from mdh.tuner.search.uniform import free_draw

START = 16
"""Times before there is a model; until then points are drawn."""
PARENTS, CHILDREN, DRAWS = 6, 10, 64
"""Candidates: so many steps from so many of the best points, and draws."""
MORE_CHILDREN, MORE_DRAWS = 1, 4
"""What a suggestion adds to candidates that are there already: steps from each point that had its children,
and draws."""
POOL = 192
"""Candidates that are kept."""
CLIMBS, STEPS = 2, 4
"""Rounds of steps from the best candidate so far, and steps of each."""
AHEAD, MOST_AHEAD = 64, 16
"""Times a point that one thought chooses, beyond the first; no more than so many."""
EVERY, ELITE = 2, 4
"""Of so many points one is a step from one of so many best ones."""
KEPT = 160
"""Times that the model has: the best and the latest; inverting matrices costs the cube of it."""
FAILURES = 200
"""Failed points that are remembered, the latest: they lower the odds of their neighbours."""
ROWS = 1024
"""Rows of features that are kept: more than one suggestion looks at."""
SLOW = 0.9
"""The quantile of the times that stands for a failure."""
FITTING_STEPS = 25
GROWTH = 1.08
"""The widths are fitted anew when there are so many times more times than at the last fit."""


class Bayes:
    def __init__(self, space: Space, rng: Random) -> None:
        self._space, self._rng = space, rng
        self._features = Features(space.variables)
        self._columns = self._features.numbers + self._features.words
        self._times: dict[Point, float] = {}
        self._fastest: list[Point] = []
        self._failed: dict[Point, None] = {}
        self._flying: dict[Point, None] = {}
        self._pool: dict[Point, Matrix] = {}
        self._bred: set[Point] = set()
        self._chosen: list[Point] = []
        self._best = inf
        self._asked = 0
        self._row = lru_cache(maxsize=ROWS)(self._features.row)
        self._widths = start(self._columns)
        self._fitted_at = 0

    def suggest(self, taken: Container[Point]) -> Point | None:
        if len(self._times) < START or not self._columns:
            point = free_draw(self._space, self._rng, taken)
        else:
            self._asked += 1
            point = self._step(taken) if self._asked % EVERY == 0 else None
            if point is None:
                point = self._most_promising(taken)
        if point is not None:
            self._flying[point] = None
        return point

    def learn(self, point: Point, seconds: float | None) -> None:
        self._flying.pop(point, None)
        if seconds is None:
            self._failed[point] = None
            if len(self._failed) > FAILURES:
                del self._failed[next(iter(self._failed))]
            return
        time = log(max(seconds, 1e-12))
        if time < self._best:
            self._best, self._chosen = time, []
        self._times[point] = time
        self._fastest = nsmallest(
            KEPT // 2, dict.fromkeys((*self._fastest, point)), key=self._times.__getitem__
        )

    def _step(self, taken: Container[Point]) -> Point | None:
        best = self._fastest[:ELITE]
        place = min(self._rng.randrange(len(best)) for _ in range(2))
        return free_neighbour(self._space, best[place], self._rng, taken)

    def _most_promising(self, taken: Container[Point]) -> Point | None:
        point = next((p for p in self._chosen if p not in taken), None)
        if point is None:
            self._chosen = self._think(taken)
            point = self._chosen[0] if self._chosen else None
        if point is not None:
            del self._chosen[: self._chosen.index(point) + 1]
        return point

    def _think(self, taken: Container[Point]) -> list[Point]:
        """The points to ask for next, in their order."""
        model, best = self._model()
        odds = self._odds_rows()
        self._add(self._candidates(self._fastest[:PARENTS]), taken)
        if not self._pool:
            return []
        points = list(self._pool)
        scores = self._scores(self._rows(points), model, best, odds)
        for _ in range(CLIMBS):
            top = points[int(scores.argmax())]
            more = self._add((mutate(self._space, top, self._rng) for _ in range(STEPS)), taken)
            if more:
                points += more
                scores = np.concatenate([scores, self._scores(self._rows(more), model, best, odds)])
        order = [points[i] for i in np.argsort(-scores, kind="stable")][:POOL]
        chosen = self._first_of(order, taken, model, best, odds)
        self._pool = {p: self._pool[p] for p in order if p not in set(chosen)}
        return chosen

    def _first_of(
        self, order: list[Point], taken: Container[Point], model: Posterior, best: float,
        odds: tuple[Matrix, int] | None,
    ) -> list[Point]:  # fmt: skip
        """Of points, the best first: those to ask for, each looking elsewhere than the ones before it."""
        # what was free when it came into the pool may have been taken since
        first = next((i for i, p in enumerate(order) if p not in taken), None)
        wanted = min(1 + len(self._times) // AHEAD, MOST_AHEAD)
        if first is None or wanted < 2:
            return [] if first is None else [order[first]]
        rows = self._rows(order)
        mean, together = model.jointly(rows)
        penalty, out = self._odds(rows, odds), [first]
        closed = list(range(first + 1))
        together = model.believing(together, first)
        while len(out) < wanted and len(closed) < len(order):
            scores = _promise(best, mean, np.sqrt(np.maximum(together.diagonal(), 1e-10))) + penalty
            scores[closed] = -inf
            top = int(scores.argmax())
            closed.append(top)
            if order[top] not in taken:
                out.append(top)
                together = model.believing(together, top)
        return [order[i] for i in out]

    def _candidates(self, parents: list[Point]) -> Iterable[Point]:
        draws = MORE_DRAWS if self._pool else DRAWS
        for parent in parents:
            for child in range(MORE_CHILDREN if parent in self._bred else CHILDREN):
                yield mutate(self._space, parent, self._rng, 2 if child % 3 == 2 else 1)
        self._bred = set(parents)
        for _ in range(draws):
            point = self._space.draw(self._rng)
            # of a space that is wide open hardly a draw is plausible
            yield point if self._space.plausible(point) else self._space.amended(point)

    def _add(self, points: Iterable[Point], taken: Container[Point]) -> list[Point]:
        """Into the pool; those that are new there."""
        new = []
        for point in points:
            if point not in self._pool and point not in taken:
                self._pool[point] = self._features.row(point)
                new.append(point)
        return new

    def _seen(self, points: Iterable[Point]) -> Matrix:
        """Rows of points that were proposed or told of: the same ones in every suggestion."""
        return np.array([self._row(point) for point in points])

    def _rows(self, points: list[Point]) -> Matrix:
        return np.array([self._pool[p] for p in points])

    def _model(self) -> tuple[Posterior, float]:
        """What is believed now, and the best (standardised) time."""
        points = list(self._times)
        if len(points) > KEPT:
            points = list(dict.fromkeys((*self._fastest, *points[-KEPT // 2 :])))
        times = np.array([self._times[p] for p in points])
        failed = list(islice(reversed(self._failed), len(points)))
        y = np.concatenate([times, np.full(len(failed), np.quantile(times, SLOW))])
        y = (y - np.median(y)) / (y.std() or 1.0)
        rows = self._seen(points + failed)
        if len(self._times) >= self._fitted_at * GROWTH + 1:
            planes = differences(rows, rows, self._features.numbers)
            self._widths = fitted(planes, y, self._widths, FITTING_STEPS)
            self._fitted_at = len(self._times)
        model = Posterior(rows, y, self._features.numbers, self._widths)
        if self._flying:
            # what is in flight is believed to come out as expected: the next suggestion looks elsewhere
            flying = self._seen(self._flying)
            believed, _ = model.at(flying)
            rows, y = np.vstack([rows, flying]), np.concatenate([y, believed])
            model = Posterior(rows, y, self._features.numbers, self._widths)
        return model, float(y[: len(points)].min())

    def _scores(self, rows: Matrix, model: Posterior, best: float, odds: tuple[Matrix, int] | None) -> Matrix:
        """Logarithms of expected improvement times the odds of running at all."""
        return _promise(best, *model.at(rows)) + self._odds(rows, odds)

    def _odds(self, rows: Matrix, odds: tuple[Matrix, int] | None) -> Matrix:
        """Logarithms of the odds of running at all, by what ran and what failed near by."""
        if odds is None:
            return np.zeros(len(rows))
        known, right = odds
        near = correlation(rows, known, self._features.numbers, self._widths.weights) ** 2
        return np.asarray(np.log((near[:, :right].sum(axis=1) + 0.3) / (near.sum(axis=1) + 0.4)))

    def _odds_rows(self) -> tuple[Matrix, int] | None:
        """The latest points that ran, how many they are, and after them those that failed."""
        if not self._failed:
            return None
        ran = list(islice(reversed(self._times), FAILURES))
        failed = list(islice(reversed(self._failed), FAILURES))
        return self._seen(ran + failed), len(ran)


def _promise(best: float, mean: Matrix, deviation: Matrix) -> Matrix:
    """The logarithm of the expected improvement on the best."""
    z = (best - mean) / deviation
    density = np.exp(-z * z / 2) / (2 * np.pi) ** 0.5
    return np.asarray(np.log(np.maximum(deviation * (z * _normal(z) + density), 1e-30)))


def _normal(x: Matrix) -> Matrix:
    """The normal distribution function by Abramowitz and Stegun 7.1.26, to 1.5e-7."""
    x = x / 2**0.5
    t = 1 / (1 + 0.3275911 * np.abs(x))
    series = t * (0.254829592 + t * (-0.284496736 + t * (1.421413741 + t * (-1.453152027 + t * 1.061405429))))
    return np.asarray(0.5 * (1 + np.sign(x) * (1 - series * np.exp(-x * x))))
