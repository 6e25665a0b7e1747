"""The queue of candidates: how much one step of the search does."""

from random import Random

from mdh.diagnostics import Failed, fail
from mdh.ir.plan import Plan
from mdh.results.variable import Point
from mdh.tuner.candidates.proposals import AT_ONCE, LATER, LOST, TRIES, CandidateQueue
from mdh.tuner.candidates.shortlist import Shortlist
from tests.tune.doubles import Drawing, SmallSpace
from tests.tune.run_case import candidate_of


class Barren(SmallSpace):
    """No point is legal. asked: of how many the checker was asked. count: so many that points are drawn
    first."""

    def __init__(self) -> None:
        super().__init__()
        self.asked, self.count = 0, 1000

    def plan(self, point: Point) -> Plan | Failed:
        self.asked += 1
        return fail("K150", "too many threads")


def test_a_step_makes_few_draws_though_nothing_is_legal() -> None:
    space = Barren()
    searcher = Drawing(space)
    queue = CandidateQueue(
        space, searcher, candidate_of, shortlist=Shortlist("gpu", Random(0)), rng=Random(0)
    )
    for _ in range(TRIES // AT_ONCE):
        before = space.asked
        assert queue.next() == LATER
        assert space.asked - before == AT_ONCE
    # the draws have ended, and the searcher is asked, until it is lost; then the draws begin again
    for _ in range(LOST):
        assert queue.next() == "K150"
    before = space.asked
    assert queue.next() == LATER
    assert space.asked - before == AT_ONCE
