"""A study in a storage that several tuners share: who measures which point, and the results.

Each trial is one point. It is running while a tuner measures it, then complete with its seconds, or failed. A
pruned trial is a claim that was given up because another tuner's came first. Attributes `mdh.point`,
`mdh.owner` and `mdh.started` (seconds since the epoch) tell the point, its owner and the start; parameters
are those of the encoding, for viewers of studies. Samplers do not run on this study. Each tuner's sampler has
its own study in memory, which learns every result from here, so a slow storage does not slow down sampling.
"""

import time
from uuid import uuid4

import optuna
from optuna.trial import FrozenTrial, TrialState

from mdh.diagnostics import fail
from mdh.results.trial import LONGEST, SHORTEST
from mdh.results.variable import Point
from mdh.tuner.search.encoding import encoding_of
from mdh.tuner.search.interfaces import SearchSpace, fingerprint
from mdh.tuner.search.storage import guarded, open_storage, shown

SPACE = "mdh.space"
POINT = "mdh.point"
OWNER = "mdh.owner"
STARTED = "mdh.started"
STALE_SECONDS = 1800.0
"""Seconds after which a claim without a result is dropped: its tuner died."""


class SharedStudy:
    """A shared study. All methods raise Failed F183 if the storage is lost, and may then be called again."""

    def __init__(self, url: str, name: str, space: SearchSpace) -> None:
        """Raises Failed F182, and F184 if the study is of another space."""
        optuna.logging.set_verbosity(optuna.logging.ERROR)
        self._url = url
        self._encoding = encoding_of(space.variables)
        self._owner = uuid4().hex
        self._own: dict[Point, int] = {}
        self._read: set[int] = set()
        self._finished: set[Point] = set()
        self.claimed: set[Point] = set()
        """Points that other tuners are measuring now."""
        storage = open_storage(url)
        with guarded(url):
            self._study = optuna.create_study(
                storage=storage, study_name=name, load_if_exists=True, direction="minimize"
            )
            self._refuse_other_space(name, fingerprint(space))

    def _refuse_other_space(self, name: str, space: str) -> None:
        known = self._study.user_attrs.get(SPACE)
        if known is None and not self._study.get_trials(deepcopy=False):
            self._study.set_user_attr(SPACE, space)
            return
        if known != space:
            whose = f"is of space {known}" if known else "was not made by mdh"
            raise fail(
                "F184",
                f"the study `{name}` in `{shown(self._url)}` {whose}; this tuning searches space {space}",
                help="take another name for the study, or another storage",
            )

    def news(self) -> list[tuple[Point, float | None]]:
        """What other tuners have finished since the last call. Updates `claimed`."""
        with guarded(self._url):
            trials = self._study.get_trials(deepcopy=False)
        out: list[tuple[Point, float | None]] = []
        claimed: set[Point] = set()
        now = time.time()
        for trial in trials:
            if trial.number in self._read:
                continue
            point = _point(trial)
            if trial.state is TrialState.RUNNING:
                if point is not None and not self._mine(trial) and now - _started(trial) < STALE_SECONDS:
                    claimed.add(point)
                continue
            self._read.add(trial.number)
            if point is None or trial.state not in (TrialState.COMPLETE, TrialState.FAIL):
                continue
            self._finished.add(point)
            if not self._mine(trial):
                out.append((point, _seconds(trial)))
        self.claimed = claimed
        return out

    def claim(self, point: Point) -> bool:
        """Claims the point for this tuner; False if another tuner's claim came first."""
        with guarded(self._url):
            self._study.add_trial(self._trial(point, TrialState.RUNNING))
            trials = [t for t in self._study.get_trials(deepcopy=False) if _point(t) == point]
            now = time.time()
            own = [t.number for t in trials if self._mine(t) and t.state is TrialState.RUNNING]
            first = [
                t.number
                for t in trials
                if not self._mine(t)
                and t.state is not TrialState.PRUNED
                and (t.state is not TrialState.RUNNING or now - _started(t) < STALE_SECONDS)
            ]
            if not first or min(own) < min(first):
                self._own[point] = min(own)
                return True
            for number in own:
                self._study.tell(number, state=TrialState.PRUNED)
        self.claimed.add(point)
        return False

    def tell(self, point: Point, seconds: float | None) -> None:
        """Stores the result of a claimed point, or of one measured earlier. Known points are left alone."""
        state = TrialState.FAIL if seconds is None else TrialState.COMPLETE
        number = self._own.get(point)
        with guarded(self._url):
            if number is not None:
                self._study.tell(number, seconds, state=state, skip_if_finished=True)
            elif point not in self._finished:
                self._study.add_trial(self._trial(point, state, seconds))
        self._own.pop(point, None)
        self._finished.add(point)

    def _mine(self, trial: FrozenTrial) -> bool:
        return bool(_attribute(trial, OWNER) == self._owner)

    def _trial(self, point: Point, state: TrialState, seconds: float | None = None) -> FrozenTrial:
        attributes = {POINT: list(point), OWNER: self._owner, STARTED: time.time()}
        return self._encoding.trial(point, state=state, value=seconds, user_attrs=attributes)


def _point(trial: FrozenTrial) -> Point | None:
    """The point of a trial; None if something else put the trial into the study."""
    value = _attribute(trial, POINT)
    if isinstance(value, list) and all(type(v) in (int, str) for v in value):
        return tuple(value)
    return None


def _seconds(trial: FrozenTrial) -> float | None:
    """The seconds of a trial; None if it failed or its time is impossible."""
    values = trial.values if trial.state is TrialState.COMPLETE else None
    if not values or not isinstance(values[0], int | float) or not SHORTEST <= values[0] <= LONGEST:
        return None
    return float(values[0])


def _attribute(trial: FrozenTrial, name: str) -> object:
    attributes: object = trial.user_attrs
    return attributes.get(name) if isinstance(attributes, dict) else None


def _started(trial: FrozenTrial) -> float:
    value = _attribute(trial, STARTED)
    return float(value) if isinstance(value, int | float) else 0.0
