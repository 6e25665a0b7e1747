"""The queue of candidates: suggestions and known results first, then the points that the searcher asks for.

A point that is illegal, or that gives the same program as an earlier one, is not measured. The searcher is
told at once what is known of it.
"""

from collections import Counter, deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from random import Random
from typing import Final, Literal, Protocol

from mdh.cost.prediction import Prediction
from mdh.diagnostics import Failed
from mdh.ir.plan import Plan
from mdh.results.trial import Candidate
from mdh.results.variable import Point
from mdh.tuner.candidates.shortlist import BATCH, FIRST, Shortlist, drawn_first
from mdh.tuner.search.interfaces import Searcher
from mdh.tuner.space.identity import identity

STUCK = 5000
"""Consecutive steps without a new legal candidate after which the search ends."""
LOST = 20
"""Consecutive illegal points after which one legal point is drawn, so that a searcher learns where they are.
The limit halves each time."""
BLIND = frozenset({"random", "qmc"})
"""Samplers that do not learn from times. The model chooses among their proposals. Other samplers start from
the model's points; after that all their proposals are measured."""
TRIES = 150
"""The most draws until there is a legal point."""
AT_ONCE = 5
"""How many of them are made in one step. Signals, results and the end of the budget wait meanwhile, and the
checker may take seconds for a point."""
LATER: Final = "later"
"""The answer of a step that has not come to a result yet."""
TOLD = 20
"""The number of skipped points whose reasons are reported in full."""
IMPLAUSIBLE = "illegal by values alone"
SET_ASIDE = "set aside by the cost model"
ELSEWHERE = "measured by another tuner"
NOT_ADMITTED = "not in the record"
_COMPARED = ("default", "given")


class Planner(Protocol):
    """The part of a space that a search needs."""

    @property
    def count(self) -> int: ...

    def plausible(self, point: Point, /) -> bool:
        """False if the checker would certainly refuse the point; cheap."""

    def draw_legal(self, rng: Random, /, tries: int, after: int) -> tuple[Point, Plan] | None:
        """A legal point and its plan; None if none was found. after: the draws before these."""

    def plan(self, point: Point, /) -> Plan | Failed:
        """The checked plan of a point, or the reason why it is not legal."""


@dataclass(frozen=True, slots=True)
class Proposal:
    """A candidate to measure. point: its point in the space, if it has one. attempts: how often it was lost
    because of other candidates."""

    candidate: Candidate
    origin: str
    point: Point | None = None
    attempts: int = 0


Skipped = str
"""Why a point is not measured: a diagnostic code, `duplicate`, words, or LATER."""


class CandidateQueue:
    """candidate: how a plan becomes one. admits: whether a plan may be measured at all; in a simulation only
    what the record has. shortlist: the cost model's selection; None: every legal point is measured as it
    comes. known: seconds (None: failed) of candidates that earlier runs measured, by key. identity: equal for
    two spellings of one program."""

    def __init__(
        self,
        space: Planner,
        searcher: Searcher,
        candidate: Callable[[Plan, Point], Candidate],
        *,
        admits: Callable[[Plan], bool] = lambda _: True,
        shortlist: Shortlist | None = None,
        rng: Random | None = None,
        known: Mapping[str, float | None] = {},
        identity: Callable[[Plan], str] = identity,
    ) -> None:
        self._space, self._searcher, self._admits = space, searcher, admits
        self._candidate, self._identity = candidate, identity
        self._shortlist, self._rng = shortlist, rng or Random(0)
        self._known: dict[str, float | None] = dict(known)
        self._programs: dict[str, str] = {}
        self._twins: dict[str, list[Point]] = {}
        self._waiting: dict[str, Proposal] = {}
        self._queue: deque[Proposal] = deque()
        self._barren = self._illegal = self._in_vain = 0
        self._lost = LOST
        self._batch = BATCH if searcher.name in BLIND else 1
        self._to_draw = 0 if shortlist is None else drawn_first(space.count)
        self.skipped: Counter[str] = Counter()

    @property
    def stuck(self) -> bool:
        return self._barren >= STUCK

    @property
    def aside(self) -> int:
        """The number of legal candidates that the model has set aside."""
        return 0 if self._shortlist is None else self._shortlist.aside

    @property
    def reasons(self) -> tuple[tuple[str, int], ...]:
        """Reasons why points were not measured, each with its count."""
        aside = ((SET_ASIDE, self.aside),) if self.aside else ()
        return (*self.skipped.most_common(), *aside)

    @property
    def learned(self) -> Sequence[tuple[Prediction, float]]:
        """Pairs of the model's prediction and the measured seconds."""
        return () if self._shortlist is None else self._shortlist.seen

    def enqueue(self, proposal: Proposal, plan: Plan) -> None:
        """Adds a suggestion. It is measured before anything that the searcher asks for."""
        self._programs.setdefault(self._identity(plan), proposal.candidate.key)
        if proposal.candidate.key not in self._known and proposal.candidate.key not in self._twins:
            self._twins[proposal.candidate.key] = []
            self._queue.append(proposal)

    def again(self, proposal: Proposal) -> None:
        """Queues a candidate again that was lost through no fault of its own."""
        self._queue.appendleft(proposal)

    def next(self) -> Proposal | Skipped | None:
        """One step of the search; None when the space is used up."""
        if self._queue:
            return self._claimed(self._queue.popleft())
        if self._to_draw:
            return self._draw()
        if self._illegal >= self._lost:
            drawn = self._drawn()
            if drawn == LATER:
                return LATER
            self._illegal, self._lost = 0, max(1, self._lost // 2)
            if drawn is not None:
                made = self._legal(*drawn, "drawn", self._batch, 1 / self._batch, told=False)
                return self._claimed(made) if isinstance(made, Proposal) else made
        point = self._searcher.ask()
        if point is None:
            return self._leftover()
        return self._judge(point, self._searcher.name, self._batch, 1 / self._batch)

    def _claimed(self, proposal: Proposal) -> Proposal | Skipped:
        """The proposal, if this tuner gets to measure it. Tuners that share a study measure each drawn point
        once, in one of them. Each measures the baselines itself."""
        key = proposal.candidate.key
        own = proposal.point is None or proposal.origin in _COMPARED or proposal.attempts
        # one of several points with the same program is enough, and it may be one that the searcher asked for
        points = () if proposal.point is None else (proposal.point, *self._twins.get(key, ()))
        if own or any(self._searcher.claim(p) for p in points):
            return proposal
        self._twins.pop(key, None)
        self.skipped[ELSEWHERE] += 1
        return ELSEWHERE

    def _draw(self) -> Skipped:
        """Draws points at random. The search begins with those that the model ranks best."""
        drawn = self._drawn()
        if drawn == LATER:
            return LATER
        self._to_draw = 0 if drawn is None else self._to_draw - 1
        if drawn is not None:
            self._legal(*drawn, "model", FIRST, 1 / FIRST, told=False)
        if not self._to_draw:
            self._release(1 / FIRST)
        return LATER

    def _drawn(self) -> tuple[Point, Plan] | Literal["later"] | None:
        """A legal point and its plan; LATER if the next step goes on with drawing; None if TRIES draws found
        none."""
        found = self._space.draw_legal(self._rng, tries=AT_ONCE, after=self._in_vain)
        self._in_vain = 0 if found is not None else self._in_vain + AT_ONCE
        if self._in_vain >= TRIES:
            self._in_vain = 0
            return None
        return found or LATER

    def _leftover(self) -> Proposal | Skipped | None:
        """The best of what the model set aside, once nothing else is left."""
        if self._shortlist is not None:
            self._queue.extend(self._waiting.pop(key) for key in self._shortlist.rest())
        return self._claimed(self._queue.popleft()) if self._queue else None

    def _judge(self, point: Point, origin: str, batch: int, share: float) -> Proposal | Skipped:
        self._illegal += 1
        # the checker's reasons for the first ones are kept: if nothing is legal the user must know the rule
        looked = sum(self.skipped.values()) < TOLD
        if not looked and not self._space.plausible(point):
            return self._skip(point, IMPLAUSIBLE, None, True)
        plan = self._space.plan(point)
        if isinstance(plan, Failed):
            return self._skip(point, plan.diagnostics[0].code, None, True)
        self._illegal, self._lost = 0, LOST
        return self._legal(point, plan, origin, batch, share, told=True)

    def _legal(
        self, point: Point, plan: Plan, origin: str, batch: int, share: float, *, told: bool
    ) -> Proposal | Skipped:
        """told: the searcher asked for the point, and is told its result in any case."""
        candidate = self._candidate(plan, point)
        key = self._programs.setdefault(self._identity(plan), candidate.key)
        for one in (key, candidate.key):
            if one in self._known:
                return self._skip(point, "duplicate", self._known[one], told)
            if one in self._waiting and told:
                # the model set it aside, but the search asks for it
                return self._take(one, point)
            if one in self._twins:
                # the same program is being measured: both points get its time
                self._twins[one].append(point)
                self._barren += 1
                self.skipped["duplicate"] += 1
                return "duplicate"
        if not self._admits(plan):
            return self._skip(point, NOT_ADMITTED, None, told)
        self._barren = 0
        self._twins[candidate.key] = []
        proposal = Proposal(candidate, origin, point)
        if self._shortlist is None:
            return proposal
        self._waiting[candidate.key] = proposal
        if self._shortlist.add(candidate.key, plan) >= batch:
            self._release(share)
        return LATER

    def _take(self, key: str, point: Point) -> Proposal:
        assert self._shortlist is not None
        self._shortlist.take(key)
        self._twins[key].append(point)
        self._barren = 0
        return self._waiting.pop(key)

    def _release(self, share: float) -> None:
        assert self._shortlist is not None
        self._queue.extend(self._waiting.pop(key) for key in self._shortlist.choose(share))

    def _skip(self, point: Point, reason: str, seconds: float | None, told: bool) -> Skipped:
        self._barren += 1
        self.skipped[reason] += 1
        if told:
            self._searcher.tell(point, seconds)
        return reason

    def told(self, proposal: Proposal, seconds: float | None) -> None:
        """Records a result, for the proposal and for the points with the same program."""
        key = proposal.candidate.key
        self._known[key] = seconds
        if self._shortlist is not None:
            self._shortlist.saw(key, seconds)
        points = ([] if proposal.point is None else [proposal.point]) + self._twins.pop(key, [])
        for point in dict.fromkeys(points):
            self._searcher.tell(point, seconds)
