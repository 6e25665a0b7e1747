"""What a process found out about a case, and what both together say."""

from dataclasses import dataclass, field
from statistics import median

from bench.gpu.cases import Case

RIGHT, ABSENT = "right", "absent"
OURS, DEFAULT, AGAIN, PLAIN = "ours", "default", "again", "plain"
"""The shipped schedule; the derived one; ours again, whose ratio is the noise; a plain copy or read."""
PEERS = ("torch", "other", "cupy", "cublaslt", "cub", "cutensor", "compiled", "hand")
Pairs = list[tuple[float, float]]
"""Seconds of a call of ours and of the peer's, turn by turn."""
Algorithms = tuple[tuple[int, bytes], ...]
"""Which of a library's ways to compute, and the algorithm as it writes it down."""


@dataclass(frozen=True, slots=True)
class Settings:
    """rounds: pairs of turns of ours and each peer, and the seconds after which three must do. turn: seconds
    that one takes at least. tuning: seconds for the algorithms of a library that has many."""

    rounds: int
    budget: float
    turn: float
    tuning: float


@dataclass(frozen=True, slots=True)
class Order:
    """swapped: the peer has the first turn of a pair. chosen: the schedule to use, None: the fastest.
    tuned: a library's algorithms, where another process has found them. patient: torch may compile products
    and convolutions."""

    peers: tuple[str, ...]
    settings: Settings
    swapped: bool
    chosen: str | None = None
    tuned: Algorithms = ()
    patient: bool = False


@dataclass
class Outcome:
    """verdicts: contestant to `right`, `absent` or what went wrong. missing: peers that are not installed.
    chosen: the shipped schedule that is ours, empty: the derived one. candidates: seconds of a warm and of a
    cold call of each schedule that could be ours, roughly. sets: of arrays that cold calls go round. clock:
    of the GPU while it ran. took: seconds of the arrays and of each contestant, all told. tuned: the fastest
    algorithms of a library that has many."""

    verdicts: dict[str, str] = field(default_factory=dict)
    notes: dict[str, str] = field(default_factory=dict)
    missing: frozenset[str] = frozenset()
    chosen: str = ""
    candidates: dict[str, tuple[float, float]] = field(default_factory=dict)
    warm: dict[str, Pairs] = field(default_factory=dict)
    cold: dict[str, Pairs] = field(default_factory=dict)
    sets: int = 0
    clock: str = ""
    took: dict[str, float] = field(default_factory=dict)
    tuned: Algorithms = ()


@dataclass
class Result:
    """A case in both processes. refused: schedules that do not fit. resources: of kernels by name."""

    case: Case
    refused: dict[str, str] = field(default_factory=dict)
    resources: dict[str, str] = field(default_factory=dict)
    outcomes: list[Outcome] = field(default_factory=list)

    @property
    def schedule(self) -> str:
        return next((o.chosen for o in self.outcomes if o.chosen), "")

    @property
    def candidates(self) -> dict[str, tuple[float, float]]:
        return next((o.candidates for o in self.outcomes if o.candidates), {})

    @property
    def once(self) -> bool:
        """One process alone has timed it."""
        return sum(bool(o.warm) for o in self.outcomes) == 1

    def pairs(self, peer: str, cold: bool) -> Pairs:
        return [p for o in self.outcomes for p in (o.cold if cold else o.warm).get(peer, [])]

    def ratio(self, peer: str, cold: bool) -> float | None:
        """Median of the peer's time over ours."""
        pairs = self.pairs(peer, cold)
        return median(p / o for o, p in pairs) if pairs else None

    def apart(self, peer: str, cold: bool) -> float:
        """How far the two processes' ratios are apart, in parts of the smaller one."""
        each = [
            median(p / o for o, p in found)
            for x in self.outcomes
            if (found := (x.cold if cold else x.warm).get(peer))
        ]
        return max(each) / min(each) - 1 if len(each) > 1 else 0.0

    def seconds(self, peer: str, cold: bool) -> float | None:
        """Median of the peer's turns."""
        pairs = self.pairs(peer, cold)
        return median(p for _, p in pairs) if pairs else None

    def ours(self, cold: bool) -> float | None:
        """Median of our turns, whoever the peer was."""
        found = [
            o for x in self.outcomes for pairs in (x.cold if cold else x.warm).values() for o, _ in pairs
        ]
        return median(found) if found else None

    def best(self, cold: bool) -> tuple[str, float] | None:
        """The peer that is hardest to beat, and its ratio."""
        found = {p: r for p in PEERS if (r := self.ratio(p, cold)) is not None}
        return min(found.items(), key=lambda f: f[1]) if found else None

    def failures(self) -> list[str]:
        """What went wrong, once each."""
        said = {
            f"{n}: {v}": None
            for o in self.outcomes
            for n, v in o.verdicts.items()
            if v not in (RIGHT, ABSENT)
        }
        return list(said)
