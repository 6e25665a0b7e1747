"""What is measured next: suggestions and known results first, then what the searcher asks for.

A point that is illegal, or says the same program as an earlier one, costs no measurement: the searcher is
told at once what is known of it.
"""

from collections import Counter, deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Protocol

from mdh.diagnostics import Failed
from mdh.ir.plan import Plan
from mdh.tune.api import Searcher
from mdh.tune.space.model import Point
from mdh.tune.values import Candidate

STUCK = 5000
"""Draws in a row without a new legal candidate after which a search has nothing left to find."""


class Planner(Protocol):
    """The part of a space that a search needs."""

    def plan(self, point: Point) -> Plan | Failed:
        """The checked plan of a point, or why it is not legal."""


class Gate(Protocol):
    """The policy before measuring: whether a plan is worth it. reason: why the others are not, in words."""

    @property
    def reason(self) -> str: ...

    def admits(self, plan: Plan) -> bool: ...


@dataclass(frozen=True, slots=True)
class Proposal:
    """A candidate to measure; point: where it lies in the space, if it does; attempts: lost to others."""

    candidate: Candidate
    origin: str
    point: Point | None = None
    attempts: int = 0


@dataclass(frozen=True, slots=True)
class Skipped:
    """A point that is not measured. reason: a diagnostic code, `duplicate`, or the gate's words."""

    reason: str


class Proposals:
    """known: seconds (None: failed) of candidates that earlier runs measured, by key."""

    def __init__(
        self,
        space: Planner,
        searcher: Searcher,
        candidate_of: Callable[[Plan, Point], Candidate],
        *,
        gate: Gate | None = None,
        known: Mapping[str, float | None] = {},
    ) -> None:
        self._space, self._searcher, self._candidate_of, self._gate = space, searcher, candidate_of, gate
        self._known: dict[str, float | None] = dict(known)
        self._twins: dict[str, list[Point]] = {}
        self._queue: deque[Proposal] = deque()
        self._barren = 0
        self.skipped: Counter[str] = Counter()
        self.asked = 0
        self.reasons: dict[str, Failed] = {}

    @property
    def stuck(self) -> bool:
        return self._barren >= STUCK

    def enqueue(self, proposal: Proposal) -> None:
        """Suggested from outside; measured before anything that the searcher asks for."""
        if proposal.candidate.key not in self._known and proposal.candidate.key not in self._twins:
            self._twins[proposal.candidate.key] = []
            self._queue.append(proposal)

    def again(self, proposal: Proposal) -> None:
        """To be measured once more: it was lost through no fault of its own."""
        self._queue.appendleft(proposal)

    def next(self) -> Proposal | Skipped | None:
        """One step of the search; None: the space is used up."""
        if self._queue:
            return self._queue.popleft()
        point = self._searcher.ask()
        if point is None:
            return None
        self.asked += 1
        return self._judge(point)

    def _judge(self, point: Point) -> Proposal | Skipped:
        plan = self._space.plan(point)
        if isinstance(plan, Failed):
            code = plan.diagnostics[0].code
            self.reasons.setdefault(code, plan)
            return self._skip(point, code, None)
        candidate = self._candidate_of(plan, point)
        key = candidate.key
        if key in self._known:
            return self._skip(point, "duplicate", self._known[key])
        if key in self._twins:
            # the same program is being measured: both points get its time
            self._twins[key].append(point)
            self._barren += 1
            self.skipped["duplicate"] += 1
            return Skipped("duplicate")
        if self._gate is not None and not self._gate.admits(plan):
            return self._skip(point, self._gate.reason, None)
        self._barren = 0
        self._twins[key] = []
        return Proposal(candidate, self._searcher.name, point)

    def _skip(self, point: Point, reason: str, seconds: float | None) -> Skipped:
        self._barren += 1
        self.skipped[reason] += 1
        self._searcher.tell(point, seconds)
        return Skipped(reason)

    def told(self, proposal: Proposal, seconds: float | None) -> None:
        """What came of a proposal: for it and for the points that say the same program."""
        key = proposal.candidate.key
        self._known[key] = seconds
        points = ([] if proposal.point is None else [proposal.point]) + self._twins.pop(key, [])
        for point in points:
            self._searcher.tell(point, seconds)
