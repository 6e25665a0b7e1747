"""The result of a run of the tuner as one value: for the terminal, the page, JSON and Python."""

from collections.abc import Iterable
from dataclasses import dataclass
from statistics import quantiles

from mdh.diagnostics import Diagnostic
from mdh.ir.plan import Plan
from mdh.results.goal import Ended
from mdh.results.trial import Failure, Trial
from mdh.results.variable import Variable
from mdh.target.text import KernelText


@dataclass(frozen=True, slots=True)
class RunProgress:
    """The state of a run at one moment. best, baseline: seconds. total, trials: its limits; None: no such
    limit. improved: whether the trial just reported is the best so far. earlier: the quick trials of the
    record that it continues."""

    phase: str
    elapsed: float
    ok: int
    failures: tuple[tuple[Failure, int], ...]
    best: float | None
    baseline: float | None
    total: float | None
    trials: int | None
    improved: bool = False
    earlier: tuple[Trial, ...] = ()

    @property
    def measured(self) -> int:
        return self.ok + sum(n for _, n in self.failures)

    @property
    def speedup(self) -> float | None:
        """The factor by which the best beats the device's default schedule."""
        return self.baseline / self.best if self.best and self.baseline else None


def unconfirmed(best: Trial | None, trials: Iterable[Trial]) -> str:
    """Why finals that were held could not confirm the best, which therefore has only its quick time. Empty if
    they did, or if there were none."""
    if best is None or best.phase != "quick":
        return ""
    key = best.candidate.key
    failed = [
        t.outcome for t in trials if t.candidate.key == key and t.phase != "quick" and t.outcome.failure
    ]
    if not failed:
        return ""
    last = failed[-1]
    return f"{last.failure}, {last.code or 'no code'}: {(last.message.splitlines() or ['no message'])[0]}"


@dataclass(frozen=True, slots=True)
class Sizes:
    """The sizes of the space: the product of its domains, the number of structurally legal points, and a 95 %
    confidence interval of the number of legal points, by some draws; None if nobody asked."""

    raw: int
    structural: int
    legal: tuple[float, float] | None = None


@dataclass(frozen=True)
class Tuned:
    """The result of a tuning. trials: of this run, in the order in which they ended. earlier: of the record
    that it continued.

    best: the fastest that is right, in the phase that judged it best. baseline: the device's default
    schedule. given: the point that the schedule suggests, or the point of the space nearest to the default
    one. skipped: points that were not measured, by reason: a diagnostic code, `duplicate`, or words. files:
    what was written, by kind. trouble: what ended the run early. plan, text: of the best. learned: how many
    times of earlier runs on the device the model's first constants were fitted to. best_point: the best trial
    that is a point of the space; it is not `best` if the default schedule wins.
    """

    program: str
    defines: tuple[tuple[str, int | str], ...]
    devices: tuple[str, ...]
    title: str
    machine: str
    target: str
    sampler: str
    seed: int
    variables: tuple[Variable, ...]
    sizes: Sizes | None
    trials: tuple[Trial, ...]
    earlier: tuple[Trial, ...]
    best: Trial | None
    baseline: Trial | None
    given: Trial | None
    skipped: tuple[tuple[str, int], ...]
    elapsed: float
    ended: Ended
    files: tuple[tuple[str, str], ...] = ()
    trouble: tuple[Diagnostic, ...] = ()
    plan: Plan | None = None
    text: KernelText | None = None
    learned: int = 0
    best_point: Trial | None = None

    @property
    def measured(self) -> tuple[Trial, ...]:
        """The quick trials of this run and of the record, one for each candidate."""
        return tuple(t for t in (*self.earlier, *self.trials) if t.phase == "quick")

    @property
    def best_is_default(self) -> bool:
        keys = {None if t is None else t.candidate.key for t in (self.best, self.baseline)}
        return len(keys) == 1 and None not in keys

    @property
    def unconfirmed(self) -> str:
        """Why the finals could not confirm the best; empty if they did, or if there were none."""
        return unconfirmed(self.best, (*self.earlier, *self.trials))

    @property
    def noise(self) -> float | None:
        """The interquartile range of the best's runs, over their median; None for too few runs."""
        warm = () if self.best is None else self.best.outcome.warm
        if len(warm) < 4:
            return None
        low, middle, high = quantiles(warm, n=4)
        return (high - low) / middle

    def quick_seconds(self, trial: Trial | None) -> float | None:
        """The seconds of the candidate's quick trial, which compare with those of other quick trials."""
        return None if trial is None else self._seconds(trial.candidate.key, "quick")

    @property
    def schedule(self) -> str | None:
        """The best schedule, without holes."""
        return None if self.best is None else self.best.candidate.schedule

    @property
    def speedup(self) -> float | None:
        """The factor by which the best beats the device's default schedule."""
        return self._over(self.baseline)

    @property
    def speedup_over_given(self) -> float | None:
        return self._over(self.given)

    def in_finals(self, other: Trial) -> bool:
        """Whether it was timed in turns with the best."""
        return self._seconds(other.candidate.key, "final") is not None

    def pair(self, other: Trial | None) -> tuple[float, float] | None:
        """The seconds of `other` and of the best, taken in the same way: paired times if the finals have
        both, else quick ones."""
        if other is None or self.best is None:
            return None
        for phase in ("final", "quick"):
            slow, fast = (self._seconds(t.candidate.key, phase) for t in (other, self.best))
            if slow is not None and fast:
                return slow, fast
        return None

    def _over(self, other: Trial | None) -> float | None:
        """The time of `other` divided by the best's."""
        pair = self.pair(other)
        return None if pair is None else pair[0] / pair[1]

    def _seconds(self, key: str, phase: str) -> float | None:
        """The latest time of a candidate in a phase."""
        times = [t.outcome.seconds for t in (*self.earlier, *self.trials)
                 if t.phase == phase and t.candidate.key == key]  # fmt: skip
        return next((s for s in reversed(times) if s is not None), None)
