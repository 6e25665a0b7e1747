"""What a run of the tuner found and did, as one value: for the terminal, the page, JSON and Python."""

from collections.abc import Iterable
from dataclasses import dataclass

from mdh.diagnostics import Diagnostic
from mdh.ir.plan import Plan
from mdh.results.goal import Ended
from mdh.results.trial import Failure, Trial
from mdh.results.variable import Variable
from mdh.target.text import KernelText


@dataclass(frozen=True, slots=True)
class RunProgress:
    """A run at one moment. best, baseline: seconds; total, trials: the limits it has, None: no such limit;
    improved: the trial just told is the best so far."""

    phase: str
    elapsed: float
    ok: int
    failures: tuple[tuple[Failure, int], ...]
    rejected: int
    best: float | None
    baseline: float | None
    in_flight: int
    total: float | None
    trials: int | None
    improved: bool = False

    @property
    def measured(self) -> int:
        return self.ok + sum(n for _, n in self.failures)

    @property
    def speedup(self) -> float | None:
        """Of the best over the device's untuned default."""
        return self.baseline / self.best if self.best and self.baseline else None


def unconfirmed(best: Trial | None, trials: Iterable[Trial]) -> str:
    """Why finals that were held could not confirm the best, which therefore has its quick time alone; empty
    where they did, or where there were none."""
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
    """The space in numbers: the product of its domains, the structurally legal points of them, and between
    which numbers the legal points lie (95 %, of some draws; None: nobody asked)."""

    raw: int
    structural: int
    legal: tuple[float, float] | None = None


@dataclass(frozen=True)
class Tuned:
    """trials: of this run, in the order they ended; earlier: of the record that it went on with.

    best: the fastest that is right, in the phase that judged it best; baseline: the device's untuned default;
    given: the point of the space that the schedule (or the default, as near as the space comes to it)
    suggests. skipped: points that were not measured, by reason: a diagnostic code, `duplicate`, or words.
    files: what was written, by kind. trouble: what ended the run before its time. plan, text: of the best.
    learned: times of earlier runs on the device that the model's constants were fitted to at the start.
    best_point: the best that is a point of the space: not `best` where the default schedule wins.
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
        """The quick trials of this run and of the record, each candidate's."""
        return tuple(t for t in (*self.earlier, *self.trials) if t.phase == "quick")

    @property
    def best_is_default(self) -> bool:
        keys = {None if t is None else t.candidate.key for t in (self.best, self.baseline)}
        return len(keys) == 1 and None not in keys

    @property
    def unconfirmed(self) -> str:
        """Why the finals could not confirm the best; empty where they did, or where there were none."""
        return unconfirmed(self.best, (*self.earlier, *self.trials))

    def quick_seconds(self, trial: Trial | None) -> float | None:
        """Of the candidate's quick trial, which is what the others' quick ones compare with."""
        return None if trial is None else self._seconds(trial.candidate.key, "quick")

    @property
    def schedule(self) -> str | None:
        """The best schedule, without holes."""
        return None if self.best is None else self.best.candidate.schedule

    @property
    def speedup(self) -> float | None:
        """Over the device's untuned default."""
        return self._over(self.baseline)

    @property
    def speedup_over_given(self) -> float | None:
        return self._over(self.given)

    def in_finals(self, other: Trial) -> bool:
        """Whether it was timed in turns with the best, as the best's time was."""
        return self._seconds(other.candidate.key, "final") is not None

    def _over(self, other: Trial | None) -> float | None:
        """How many times as long `other` takes: by paired times where the finals have both, else by quick
        ones."""
        if other is None or self.best is None:
            return None
        for phase in ("final", "quick"):
            slow, fast = (self._seconds(t.candidate.key, phase) for t in (other, self.best))
            if slow is not None and fast:
                return slow / fast
        return None

    def _seconds(self, key: str, phase: str) -> float | None:
        """The latest time of a candidate in a phase."""
        times = [t.outcome.seconds for t in (*self.earlier, *self.trials)
                 if t.phase == phase and t.candidate.key == key]  # fmt: skip
        return next((s for s in reversed(times) if s is not None), None)
