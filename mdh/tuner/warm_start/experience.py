"""What the model of a run begins with: the record that it goes on with, and earlier runs on the device."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from mdh.cost.fit import Pairs, begin
from mdh.cost.predict import about_of, predict
from mdh.cost.prediction import NOMINAL, Constants
from mdh.ir.plan import Plan
from mdh.results.trial import Candidate, Trial
from mdh.tuner.records.key import Setting
from mdh.tuner.warm_start.learned import Learned, load, place_of, save, some


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


PlanOf = Callable[[Candidate], Plan | None]


def experience_of(
    planned: PlanOf, setting: Setting, baseline: Plan, trials: Sequence[Trial], *, resume: bool
) -> Experience:
    """planned: the plan of a candidate, None: it is none of this tuning's. trials: of the record that the run
    goes on with. resume: False begins with what mdh comes with."""
    kind = setting.machine.kind
    path = place_of(setting.title, setting.target, kind, dict(setting.versions).get("mdh", ""))
    about = about_of(baseline)
    learned = load(path, kind) if resume else Learned(kind)
    return Experience(path, learned.adding(about, _recalled(planned, trials)), about)


def _recalled(planned: PlanOf, trials: Sequence[Trial]) -> Pairs:
    """Predictions about some trials with a time, from the fastest to the slowest evenly."""
    timed = [(t, s) for t in trials if t.phase == "quick" and (s := t.outcome.seconds)]
    out = []
    for trial, seconds in some(timed):
        plan = planned(trial.candidate)
        if plan is not None:
            out.append((predict(plan), seconds))
    return out
