"""What runs of the tuner have measured on a device, kept for the model of the next run.

One JSON file a device, beside the cache of machine code: of each program and its sizes some predictions, as
their terms, with the seconds that were measured. A file that is damaged, of another version of mdh or of
another model counts as missing; where it cannot be written nothing is kept.
"""

import json
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from math import isfinite
from pathlib import Path
from typing import Any, TypeVar

from mdh.cost.fit import Pairs, begin
from mdh.cost.predict import about_of, predict
from mdh.cost.prediction import EDITION, NOMINAL, Constants, Prediction, Signs
from mdh.device.cache import key_of, open_cache
from mdh.diagnostics import Failed
from mdh.folders import cache_home, read_own
from mdh.ir.plan import Plan
from mdh.results.trial import Candidate, Trial
from mdh.tuner.records.disk import replace_file
from mdh.tuner.records.key import Setting

SCHEMA = "mdh.model/1"
TIMES, PROGRAMS = 64, 16
"""Kept of a program; programs of which something is kept, those of the latest runs."""
_LARGEST = 1 << 23
"""Bytes of a file that is read."""
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Learned:
    """programs: (program and sizes, pairs), that of the latest run last."""

    kind: str
    programs: tuple[tuple[str, Pairs], ...] = ()

    def adding(self, about: str, pairs: Pairs) -> "Learned":
        """With further times of a program, which is the latest then; a prediction's latest time counts."""
        known = {p.features: (p, s) for name, one in self.programs if name == about for p, s in one}
        known |= {p.features: (p, s) for p, s in pairs}
        if not known:
            return self
        others = tuple((name, one) for name, one in self.programs if name != about)
        return Learned(self.kind, (*others, (about, some(list(known.values()))))[-PROGRAMS:])


def some(pairs: Sequence[tuple[T, float]]) -> Sequence[tuple[T, float]]:
    """TIMES of them, from the fastest to the slowest evenly."""
    if len(pairs) <= TIMES:
        return tuple(pairs)
    order = sorted(pairs, key=lambda pair: pair[1])
    return tuple(order[k * (len(order) - 1) // (TIMES - 1)] for k in range(TIMES))


def place_of(title: str, target: str, kind: str, version: str) -> Path:
    """The file of a device, as its title names it, and of the model of this version of mdh."""
    names = (SCHEMA, title, target, kind, version, str(EDITION), repr(NOMINAL[kind]))
    return cache_home() / "model" / f"{key_of(*names)}.json"


def load(path: Path, kind: str) -> Learned:
    """Nothing learned where the file is missing or damaged."""
    with suppress(OSError, ValueError, KeyError, TypeError, RecursionError):
        if path.lstat().st_size <= _LARGEST:
            # what others can write would decide what is measured first
            raw = read_own(path)
            return Learned(kind) if raw is None else _learned(json.loads(raw), kind)
    return Learned(kind)


def save(path: Path, learned: Learned) -> bool:
    """False where it could not be kept, which costs a later run its head start and nothing else."""
    programs = [
        {"about": name, "times": [{"terms": p.features, "seconds": s} for p, s in pairs]}
        for name, pairs in learned.programs
    ]
    data = {"schema": SCHEMA, "kind": learned.kind, "programs": programs}
    try:
        open_cache()
        folder = open_cache(path.parent).folder
        replace_file(folder / path.name, json.dumps(data).encode())
    except Failed:
        return False
    return True


def _learned(data: Any, kind: str) -> Learned:
    """Raises ValueError, KeyError or TypeError where the data is not what `save` writes."""
    if data["schema"] != SCHEMA or data["kind"] != kind:
        raise ValueError(data["schema"])
    programs = []
    for one in data["programs"][-PROGRAMS:]:
        about = str(one["about"])
        programs.append((about, tuple(_pair(row, kind, about) for row in one["times"][:TIMES])))
    return Learned(kind, tuple(programs))


def _pair(row: Any, kind: str, about: str) -> tuple[Prediction, float]:
    stages = tuple(tuple(_number(t) for t in terms) for terms in row["terms"])
    seconds = _number(row["seconds"])
    if not stages or seconds <= 0.0 or any(len(s) != len(NOMINAL[kind].weights) for s in stages):
        raise ValueError(about)
    return Prediction(0.0, (), stages, Signs(), kind, about), seconds


def _number(value: Any) -> float:
    number = float(value)
    if not isfinite(number) or number < 0.0:
        raise ValueError(value)
    return number


@dataclass(frozen=True, slots=True)
class Experience:
    """constants: those that the run begins with; times: how many earlier ones they are fitted to, 0: they are
    those that mdh comes with. about: program and sizes; path: where what is learned is kept."""

    path: Path
    learned: Learned
    about: str
    constants: Constants = field(init=False)
    times: int = field(init=False)

    def __post_init__(self) -> None:
        found = begin(NOMINAL[self.learned.kind], dict(self.learned.programs), self.about)
        object.__setattr__(self, "constants", found[0])
        object.__setattr__(self, "times", found[1])

    @property
    def remarks(self) -> tuple[str, ...]:
        """For the user: where the constants are not those that mdh comes with."""
        what = "the cost model's constants are fitted to"
        return (f"{what} {self.times} times that earlier runs measured on this device",) if self.times else ()

    def keep(self, pairs: Pairs) -> bool:
        """Further times of the program, for later runs. Another run may have kept its own meanwhile."""
        if not pairs:
            return False
        return save(self.path, load(self.path, self.learned.kind).adding(self.about, pairs))


def experience_of(
    planned: Callable[[Candidate], Plan | None],
    setting: Setting,
    baseline: Plan,
    trials: Sequence[Trial],
    *,
    resume: bool,
) -> Experience:
    """planned: the plan of a candidate, None: it is none of this tuning's. trials: of the record that the run
    goes on with. resume: False begins with what mdh comes with."""
    kind = setting.machine.kind
    path = place_of(setting.title, setting.target, kind, dict(setting.versions).get("mdh", ""))
    about = about_of(baseline)
    learned = load(path, kind) if resume else Learned(kind)
    return Experience(path, learned.adding(about, _recalled(planned, trials)), about)


def _recalled(planned: Callable[[Candidate], Plan | None], trials: Sequence[Trial]) -> Pairs:
    """Predictions about some trials with a time, from the fastest to the slowest evenly."""
    timed = [(t, s) for t in trials if t.phase == "quick" and (s := t.outcome.seconds)]
    out = []
    for trial, seconds in some(timed):
        plan = planned(trial.candidate)
        if plan is not None:
            out.append((predict(plan), seconds))
    return out
