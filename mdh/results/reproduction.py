"""What came out of an experiment on one device: plain values, which JSON keeps and pages are made of."""

from dataclasses import dataclass
from math import exp, log

from mdh.results.experiment import Experiment

LEAST = "least ratio"
HIGHEST = "highest ratio"
WINS = "at least as fast"
MEAN = "geometric mean"
BEST = "best peer"


@dataclass(frozen=True, slots=True)
class PeerTime:
    """seconds, ratio (the peer's time over ours): None where it did not take part, for the reason `why`.
    cold: the ratio of runs with evicted caches; None where there are none."""

    name: str
    seconds: float | None = None
    ratio: float | None = None
    cold: float | None = None
    why: str = ""


@dataclass(frozen=True, slots=True)
class PeerTotal:
    """What the ratios to a peer come to, warm and cold, where a page says it more exactly than its rows."""

    peer: str
    what: str
    warm: str
    cold: str = ""


@dataclass(frozen=True, slots=True)
class CaseTime:
    """One case. seconds: of the fastest schedule that was right, the one called `schedule`. default: of the
    schedule that mdh derives. cold: of runs with evicted caches. Each is None where there is none. why: the
    reason if nothing was measured. failed: schedules that do not fit or were wrong, with the reason."""

    name: str
    seconds: float | None = None
    schedule: str = ""
    default: float | None = None
    cold: float | None = None
    peers: tuple[PeerTime, ...] = ()
    why: str = ""
    failed: tuple[str, ...] = ()

    def peer(self, name: str) -> PeerTime | None:
        return next((p for p in self.peers if p.name == name), None)

    @property
    def best(self) -> PeerTime | None:
        """The peer that is fastest beside ours. Ratios are of turns one after another, and so tell more than
        times."""
        known = [p for p in self.peers if p.ratio is not None]
        return min(known, key=lambda p: p.ratio or 0.0, default=None)


@dataclass(frozen=True, slots=True)
class Reproduction:
    """An experiment on one device. title, kind: of the device. versions: of mdh and the libraries. command:
    how it was measured. date: ISO; empty for a result that was read from pages of measurements, whose paths
    `page` has. load: the machine's average load before, by processor; None: not known. clock: `device` or
    `wall`, ours. wrong: whether a result was wrong. totals: see there."""

    experiment: str
    device: str
    title: str
    kind: str
    command: str
    date: str
    cases: tuple[CaseTime, ...]
    versions: tuple[str, ...] = ()
    clock: str = ""
    seconds: float = 0.0
    load: float | None = None
    wrong: bool = False
    totals: tuple[PeerTotal, ...] = ()
    page: str = ""

    @property
    def measured(self) -> tuple[CaseTime, ...]:
        return tuple(c for c in self.cases if c.seconds is not None)


def totals(found: Reproduction, peer: str, *, cold: bool = False) -> dict[str, str]:
    """What the ratios to a peer come to, by the words of a paper's totals; empty if there are none. peer: its
    name, or BEST for the fastest of each case."""
    said = {t.what: t.cold if cold else t.warm for t in found.totals if t.peer == peer}
    if said:
        return said
    timed = [p for c in found.measured if (p := c.best if peer == BEST else c.peer(peer)) is not None]
    ratios = [r for p in timed if (r := p.cold if cold else p.ratio) is not None]
    if not ratios:
        return {}
    return {
        WINS: f"{sum(r >= 1 for r in ratios)} of {len(ratios)}",
        LEAST: f"{min(ratios):.2f}",
        HIGHEST: f"{max(ratios):.2f}",
        MEAN: f"{exp(sum(map(log, ratios)) / len(ratios)):.2f}",
    }


def other_kind(experiment: Experiment, kind: str) -> bool:
    """Whether the paper's machines are all of another kind than this device."""
    return bool(kind) and kind not in experiment.kinds
