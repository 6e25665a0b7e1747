"""Runs Optuna's samplers by ask and tell, over the static encoding.

The study is in memory and belongs to the sampler alone. If a suggestion decodes to a legal point with another
encoding, it is told as failed, which samplers skip, and the legal point is added as a trial, so that models
learn what was really measured. Samplers that breed generations know only their own suggestions, so they are
told the time of the point that the suggestion became. The objective is the logarithm of seconds, because
ratios matter.
"""

import warnings
from collections.abc import Callable, Container, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from importlib import import_module
from math import log
from random import Random

import optuna
from optuna.samplers import BaseSampler, CmaEsSampler, GPSampler, NSGAIISampler, QMCSampler, TPESampler
from optuna.trial import Trial, TrialState

from mdh.results.variable import Point
from mdh.tuner.search.encoding import encoding_of
from mdh.tuner.search.interfaces import SearchSpace
from mdh.tuner.search.steps import free_neighbour

ATTEMPTS = 2
"""Suggestions that may be taken already before a free neighbour of the last one is used. A sampler that has
converged repeats its suggestions, and each takes milliseconds."""
BAD = log(4)
"""A failure counts as four times the slowest time, so that models learn where points fail."""
FEW = 20
"""Failures that a sampler is always told of. Beyond that it is told of as many as there are successes,
because otherwise the good part of its history would be failures."""
BEST_KEPT = 0.5
"""The share of the best trials in a history that is cut down; the rest are the latest."""


@dataclass(frozen=True, slots=True)
class Recipe:
    """make: the sampler for a seed. breeds: generations consist of its own suggestions only. kept: the number
    of trials above which its history is cut down to that many halves, because its cost grows with them.
    around: a context that holds while it suggests."""

    make: Callable[[int], BaseSampler]
    breeds: bool = False
    kept: int = 1_000_000
    around: Callable[[], AbstractContextManager[None]] = nullcontext


@contextmanager
def one_thread() -> Iterator[None]:
    """Inside, PyTorch uses one thread. Its matrices are small here, and a second thread makes a suggestion
    three times as slow on a machine whose cores also compile and measure."""
    torch = import_module("torch")
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)


RECIPES = {
    "tpe": Recipe(lambda seed: TPESampler(seed=seed, multivariate=True, constant_liar=True), kept=160),
    "gp": Recipe(lambda seed: GPSampler(seed=seed), kept=100, around=one_thread),
    "cmaes": Recipe(
        lambda seed: CmaEsSampler(seed=seed, with_margin=True, warn_independent_sampling=False), breeds=True
    ),
    "nsga2": Recipe(lambda seed: NSGAIISampler(seed=seed, population_size=20), breeds=True),
    "qmc": Recipe(
        lambda seed: QMCSampler(
            seed=seed, scramble=True, warn_independent_sampling=False, warn_asynchronous_seeding=False
        ),
        breeds=True,
    ),
}


class OptunaStrategy:
    """name: in RECIPES. The seed decides all suggestions."""

    def __init__(self, name: str, space: SearchSpace, seed: int) -> None:
        recipe = RECIPES[name]
        optuna.logging.set_verbosity(optuna.logging.ERROR)
        self._space = space
        self._recipe = recipe
        self._encoding = encoding_of(space.variables)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # some chosen options are experimental or deprecated
            self._sampler = recipe.make(seed)
        self._study = optuna.create_study(sampler=self._sampler)
        self._rng = Random(f"{seed} neighbours")
        self._trials = 0
        self._asked: dict[Point, Trial] = {}
        self._known: dict[Point, float | None] = {}
        self._good = self._bad = 0
        self._worst: float | None = None
        self._early: list[Point] = []

    def suggest(self, taken: Container[Point]) -> Point | None:
        if not self._encoding.parameters:
            return None
        self._shorten()
        near: Point | None = None
        for _ in range(ATTEMPTS):
            with self._recipe.around():
                trial = self._study.ask(self._encoding.parameters)
            self._trials += 1
            point = self._space.nearest(self._encoding.decode(trial.params))
            if point in taken:
                self._study.tell(trial, state=TrialState.FAIL)
                near = point
                continue
            if self._recipe.breeds or self._encoding.encode(point) == trial.params:
                self._asked[point] = trial
            else:
                self._study.tell(trial, state=TrialState.FAIL)
            return point
        return None if near is None else free_neighbour(self._space, near, self._rng, taken)

    def learn(self, point: Point, seconds: float | None) -> None:
        if seconds is not None:
            self._good += 1
            value = log(max(seconds, 1e-12))
            self._worst = value if self._worst is None else max(value, self._worst)
            self._known[point] = value
            self._enter(point, value)
            for early in self._early:
                self._enter(early, self._worst + BAD)
            self._early.clear()
        elif self._bad >= max(FEW, self._good):
            trial = self._asked.pop(point, None)
            if trial is not None:
                self._study.tell(trial, state=TrialState.FAIL)
        else:
            self._bad += 1
            self._known[point] = None
            if self._worst is None:
                self._early.append(point)  # there is no time yet that a failure can be related to
            else:
                self._enter(point, self._worst + BAD)

    def _enter(self, point: Point, value: float) -> None:
        trial = self._asked.pop(point, None)
        if trial is not None:
            self._study.tell(trial, value)
            return
        self._study.add_trial(self._encoding.trial(point, value=value))
        self._trials += 1

    def _shorten(self) -> None:
        """Beyond the recipe's limit, starts a new study with the best and the latest trials of this one."""
        kept = self._recipe.kept
        if self._trials <= kept or self._worst is None or len(self._known) <= kept // 2:
            return
        bad = self._worst + BAD
        values = {p: bad if v is None else v for p, v in self._known.items()}
        ranked = sorted(values, key=lambda p: values[p])[: int(kept // 2 * BEST_KEPT)]
        latest = list(values)[-(kept // 2 - len(ranked)) :]
        chosen = set(ranked) | set(latest)
        self._study = optuna.create_study(sampler=self._sampler)
        self._trials = 0
        self._asked.clear()
        for point, value in values.items():
            if point in chosen:
                self._enter(point, value)
