"""One search on a space whose times are all known, by each of the searches that are compared."""

import random
import time
from bisect import bisect
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from inspect import Parameter, Signature
from math import inf

import numpy as np
import optuna
from optuna.trial import TrialState

from mdh.results.trial import Value
from mdh.results.variable import Point
from mdh.tuner.search import SAMPLERS, make_searcher
from tests.tune.search.tables import USUAL, Table

PATIENCE = 40
"""A search that repeats points may evaluate as many times the trials before it ends."""


@dataclass(frozen=True, slots=True)
class Run:
    """curve: best found / true best after each trial, points that were tried before not counted, failed ones
    counted (infinite before the first that runs). seconds: after each trial, what it and those before took
    with the search's own time. cpu: seconds of the search itself."""

    entrant: str
    table: str
    seed: int
    curve: tuple[float, ...]
    seconds: tuple[float, ...]
    cpu: float


class Over(Exception):  # noqa: N818 - the end of a search, not an error
    """All trials are used."""


class Judge:
    """Times of distinct points, so many of them."""

    def __init__(self, table: Table, trials: int) -> None:
        self._table, self._trials, self._calls = table, trials, 0
        self._known: set[Point] = set()
        self._best = inf
        self.curve: list[float] = []
        self.seconds: list[float] = []
        self._spent, self._begun = 0.0, time.process_time()

    def __call__(self, point: Point) -> float | None:
        """Raises Over past the last trial. None: the point fails, or is none of the space."""
        self._calls += 1
        if self._calls > PATIENCE * self._trials:
            raise Over
        seconds = self._table.seconds.get(point)
        if point in self._known:
            return seconds
        if len(self.curve) == self._trials:
            raise Over
        self._known.add(point)
        if seconds is not None:
            self._best = min(self._best, seconds)
        self.curve.append(self._best / self._table.best)
        self._spent += self._table.costs.get(point, USUAL)
        self.seconds.append(self._spent + time.process_time() - self._begun)
        return seconds


def _ours(name: str) -> Callable[[Table, Judge, int], None]:
    def run(table: Table, judge: Judge, seed: int) -> None:
        searcher = make_searcher(name, table.space, seed=seed)
        while (point := searcher.ask()) is not None:
            searcher.tell(point, judge(point))

    return run


def _naive(table: Table, judge: Judge, seed: int) -> None:
    """Optuna as its users write it: a categorical of all values a variable, what is illegal fails."""
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    study = optuna.create_study(sampler=optuna.samplers.TPESampler(seed=seed))
    variables = table.space.variables
    while True:
        trial = study.ask()
        point = tuple(trial.suggest_categorical(v.name, v.values) for v in variables)
        seconds = judge(point)
        if seconds is None:
            study.tell(trial, state=TrialState.FAIL)
        else:
            study.tell(trial, seconds)


def _pyatf(technique: str) -> Callable[[Table, Judge, int], None]:
    def run(table: Table, judge: Judge, seed: int) -> None:
        from pyatf import Tuner  # noqa: PLC0415 - only where it is compared
        from pyatf.search_techniques import AUCBandit, DifferentialEvolution  # noqa: PLC0415
        from pyatf.tuning_data import CostFunctionError  # noqa: PLC0415

        random.seed(seed)
        chosen = AUCBandit() if technique == "bandit" else DifferentialEvolution()
        names = [f"p{i}" for i in range(len(table.space.variables))]

        def cost(configuration: Mapping[str, Value]) -> float:
            seconds = judge(tuple(configuration[n] for n in names))
            if seconds is None:
                raise CostFunctionError("fails")
            return seconds

        tuner = Tuner().verbosity(0).search_technique(chosen)
        tuner.search_space(atf_space(table)).tune(cost)

    return run


_ATF_SPACES: dict[str, object] = {}


def atf_space(table: Table) -> object:
    """Its tree of points; built once, all searches on the table share it."""
    from pyatf import TP, Set  # noqa: PLC0415
    from pyatf.search_space import SearchSpace  # noqa: PLC0415

    name, space = table.name, table.space
    if name not in _ATF_SPACES:
        count = len(space.variables)
        prefixes = [{p[: i + 1] for p in space.points} for i in range(count)]
        parameters = []
        for i, variable in enumerate(space.variables):

            def legal(i: int = i, **values: Value) -> bool:
                return tuple(values[f"p{k}"] for k in range(i + 1)) in prefixes[i]

            named = [Parameter(f"p{k}", Parameter.POSITIONAL_OR_KEYWORD) for k in range(i + 1)]
            legal.__signature__ = Signature(named)  # type: ignore[attr-defined]
            parameters.append(TP(f"p{i}", Set(*variable.values), legal if i else None))
        _ATF_SPACES[name] = SearchSpace(*parameters, enable_1d_access=False, verbosity=0)
    return _ATF_SPACES[name]


ENTRANTS: dict[str, Callable[[Table, Judge, int], None]] = {
    **{s.name: _ours(s.name) for s in SAMPLERS if s.name != "exhaustive"},
    "optuna, naive": _naive,
    "pyATF bandit": _pyatf("bandit"),
    "pyATF DE": _pyatf("de"),
}


def contest(entrant: str, table: Table, seed: int, trials: int) -> Run:
    """One search; its curve ends early where the search finds no more points."""
    judge = Judge(table, trials)
    begin = time.process_time()
    with suppress(Over):
        ENTRANTS[entrant](table, judge, seed)
    missing = trials - len(judge.curve)
    curve = judge.curve + [judge.curve[-1]] * missing
    seconds = judge.seconds + [judge.seconds[-1]] * missing
    return Run(entrant, table.name, seed, tuple(curve), tuple(seconds), time.process_time() - begin)


def medians(runs: list[Run], at: int) -> float:
    """Of best / true best after so many trials."""
    return float(np.median([r.curve[at - 1] for r in runs]))


def medians_after(runs: list[Run], seconds: float) -> float:
    """Of best / true best after so many seconds; infinite before the first trial ends."""
    return float(np.median([r.curve[n - 1] if (n := bisect(r.seconds, seconds)) else inf for r in runs]))
