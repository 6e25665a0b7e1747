"""The finals with doubles: who wins, and what happens where finalists fail."""

from collections.abc import Callable
from typing import Any

import pytest

from mdh.diagnostics import fail
from mdh.results.goal import Ended, Goal
from mdh.results.trial import Candidate, Effort, Failure, Limits, Outcome
from mdh.results.tuning import unconfirmed
from tests.tune.doubles import TableBench, bowl, failing
from tests.tune.run_case import Case


def test_finals_reject_a_winner_that_more_inputs_show_to_be_wrong() -> None:
    quick = TableBench()

    class Second(TableBench):
        async def duel(self, finalists: Any, effort: Any, limits: Any) -> tuple[Outcome, ...]:
            assert effort.inputs > 2
            self.duels.append(finalists)
            return tuple(failing(Failure.WRONG) if dict(c.values)["?bm"] == 8 else bowl(c) for c in finalists)

    def flat(candidate: Candidate) -> Outcome:
        near = dict(candidate.values)["?bm"] == 8
        return Outcome(None, warm=(0.99e-3 if near else 1e-3,) * 5)

    quick = Second(flat)
    case = Case(Goal(), bench=quick)
    case.run()
    assert case.state.best is not None
    assert dict(case.state.best.candidate.values)["?bm"] != 8


class Finals(TableBench):
    """What is asked for in finals is answered by `judged`; `alone` for the winner by itself."""

    def __init__(
        self, judged: Callable[[Candidate], Outcome], alone: Callable[[Candidate], Outcome] | None = None
    ) -> None:
        super().__init__()
        self.judged, self.alone = judged, alone or judged

    async def trial(self, candidate: Candidate, effort: Effort, limits: Limits) -> Outcome:
        found = await super().trial(candidate, effort, limits)
        return self.alone(candidate) if effort.inputs > 2 else found

    async def duel(self, finalists: Any, effort: Any, limits: Any) -> tuple[Outcome, ...]:
        self.duels.append(finalists)
        return tuple(self.judged(c) for c in finalists)


def _block(candidate: Candidate | None) -> int:
    assert candidate is not None
    return int(dict(candidate.values)["?bm"])


@pytest.mark.parametrize("failure", [f for f in Failure if f is not Failure.WRONG])
def test_finals_that_fail_otherwise_take_nothing_back(failure: Failure) -> None:
    case = Case(Goal(), bench=Finals(lambda _: failing(failure, "out of memory")))
    assert case.run() is Ended.EXHAUSTED
    assert case.state.best is not None
    assert (case.state.best.phase, _block(case.state.best.candidate)) == ("quick", 8)
    assert None not in case.found
    assert unconfirmed(case.state.best, case.log.trials) == f"{failure}, D103: out of memory"


def test_when_all_are_wrong_nothing_is_left() -> None:
    case = Case(Goal(trials=3), bench=Finals(lambda _: failing(Failure.WRONG)))
    case.run()
    assert case.state.best is None
    assert case.found[-1] is None
    assert unconfirmed(None, case.log.trials) == ""


def test_a_wrong_one_makes_room_for_one_that_only_crashed() -> None:
    def judged(candidate: Candidate) -> Outcome:
        return failing(Failure.WRONG if _block(candidate) == 8 else Failure.CRASH)

    case = Case(Goal(), bench=Finals(judged))
    case.run()
    assert case.state.best is not None
    assert case.state.best.phase == "quick"
    assert _block(case.state.best.candidate) != 8
    assert None not in case.found


def test_one_that_fails_beside_others_is_tried_alone() -> None:
    case = Case(Goal(), bench=Finals(lambda _: failing(Failure.LAUNCH), bowl))
    case.run()
    assert case.state.best is not None
    assert (case.state.best.phase, _block(case.state.best.candidate)) == ("winner", 8)


def test_one_that_was_right_in_a_duel_stands_though_it_fails_alone() -> None:
    flat = Outcome(None, warm=(1e-3,) * 5)
    case = Case(Goal(), bench=Finals(lambda _: flat, lambda _: failing(Failure.TIMEOUT)))
    case.bench.answer = lambda _: flat
    case.run()
    assert case.state.best is not None
    assert case.state.best.phase == "final"


def test_what_an_earlier_run_showed_to_be_wrong_is_no_finalist_again() -> None:
    first = Case(Goal())
    first.run()
    wrong = {t.candidate.key for t in first.log.trials if _block(t.candidate) == 8}
    again = Case(Goal(trials=1), bench=Finals(lambda _: failing(Failure.CRASH)), refuted=wrong)
    again.options["earlier"] = tuple(t for t in first.log.trials if t.phase == "quick")
    again.run()
    finalists = {t.candidate.key for t in again.log.trials if t.phase != "quick"}
    assert finalists
    assert not finalists & wrong


def test_a_wrong_best_is_taken_back_before_the_next_is_timed() -> None:
    """Whatever ends the finals there, the file must not have it."""

    class Ending(Finals):
        async def trial(self, candidate: Candidate, effort: Effort, limits: Limits) -> Outcome:
            if effort.inputs > 2:
                raise fail("D120", "the device is gone")
            return await super().trial(candidate, effort, limits)

    def quick(candidate: Candidate) -> Outcome:
        return Outcome(None, warm=(0.99e-3 if _block(candidate) == 8 else 1e-3,) * 5)

    case = Case(Goal(), bench=Ending(lambda c: failing(Failure.WRONG) if _block(c) == 8 else quick(c)))
    case.bench.answer = quick
    assert case.run() is Ended.LOST
    assert _block(case.found[-1].candidate if case.found[-1] else None) != 8
