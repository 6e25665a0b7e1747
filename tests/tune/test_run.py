"""The loop with doubles: order, goals, failures, interrupts. No device, no waiting."""

import asyncio
import signal
import threading
import time
from dataclasses import replace
from typing import Any

import pytest

from mdh.diagnostics import fail
from mdh.results.goal import Ended, Goal
from mdh.results.trial import Candidate, Effort, Failure, Limits, Outcome, Trial
from mdh.results.tuning import RunProgress
from mdh.results.variable import Point
from mdh.tuner.candidates.proposals import ELSEWHERE, Proposal
from mdh.tuner.loop import run as runs
from tests.tune.doubles import VARIABLES, Clock, Drawing, SmallSpace, TableBench, bowl, failing
from tests.tune.run_case import Case


def test_trials_end_the_search_and_the_best_wins() -> None:
    case = Case(Goal(trials=12))
    assert case.run() is Ended.TRIALS
    quick = [t for t in case.log.trials if t.phase == "quick"]
    assert len(quick) == 12
    assert case.state.best is not None
    fastest = min(t.outcome.seconds for t in quick if t.outcome.seconds)
    assert case.state.best.outcome.seconds == fastest
    assert case.state.best.phase == "winner"
    assert [t.number for t in case.log.trials] == list(range(len(case.log.trials)))


def test_the_same_seed_gives_the_same_trials() -> None:
    orders = []
    for _ in range(2):
        case = Case(seed=3)
        case.run()
        orders.append([c.key for c in case.bench.seen])
    other = Case(seed=4)
    other.run()
    assert orders[0] == orders[1] != [c.key for c in other.bench.seen]


def test_the_space_is_used_up_and_illegal_points_cost_nothing() -> None:
    case = Case(Goal())
    assert case.run() is Ended.EXHAUSTED
    legal = [p for p in case.space.points if not isinstance(case.space.plan(p), Exception)]
    assert len([t for t in case.log.trials if t.phase == "quick"]) == len(legal) < case.space.count
    assert case.state.proposals.skipped["K150"] == case.space.count - len(legal)
    assert len(case.searcher.heard) == case.space.count
    assert case.state.best is not None
    assert dict(case.state.best.candidate.values) == {"?bm": 8, "?bn": 4, "2.core.i": "BLK.x"}


def test_the_budget_ends_the_search_with_time_for_finals() -> None:
    case = Case(Goal(seconds=20.0))
    assert case.run() is Ended.BUDGET
    assert len([t for t in case.log.trials if t.phase == "quick"]) == 16
    assert case.log.trials[-1].phase == "winner"
    assert case.bench.clock.now <= 20.0


class LongFinals(TableBench):
    """Finals wait for results that take `longer` seconds, and judge for two seconds each."""

    def __init__(self, longer: float) -> None:
        super().__init__(lambda candidate: replace(bowl(candidate), check_seconds=1.0))
        self.longer = longer

    def ahead(self, finalists: tuple[Candidate, ...]) -> float:
        return self.longer

    async def trial(self, candidate: Candidate, effort: Effort, limits: Limits) -> Outcome:
        if effort.inputs > 2:
            self.clock.now += self.longer + 1.0
            self.longer = 0.0
        return await super().trial(candidate, effort, limits)

    async def duel(
        self, finalists: tuple[Candidate, ...], effort: Effort, limits: Limits
    ) -> tuple[Outcome, ...]:
        self.clock.now += self.longer + 2.0 * len(finalists)
        self.longer = 0.0
        return await super().duel(finalists, effort, limits)


def test_the_search_leaves_long_finals_their_time() -> None:
    case = Case(Goal(seconds=60.0), bench=LongFinals(18.0), seed=3)
    assert case.run() is Ended.BUDGET
    # results 18, judging 2, timing 2, trials in flight 3
    assert len([t for t in case.log.trials if t.phase == "quick"]) == 60 - 25
    assert [t.phase for t in case.log.trials][-1] == "winner"
    assert case.bench.clock.now <= 60.0


def test_a_short_budget_has_a_search_and_its_winner_is_judged_late() -> None:
    case = Case(Goal(seconds=20.0), bench=LongFinals(100.0))
    assert case.run() is Ended.BUDGET
    # half of what is left when the first one ends
    assert [t.phase for t in case.log.trials] == ["quick"] * 11 + ["winner"]
    assert not case.bench.duels


def test_a_budget_that_processes_took_to_start_has_a_search() -> None:
    bench = LongFinals(100.0)
    case = Case(Goal(seconds=20.0), bench=bench, started=-12.0)
    assert case.run() is Ended.BUDGET
    # 13 seconds are gone when the first ends: half of the other 7 is for trials, whatever finals take
    assert [t.phase for t in case.log.trials].count("quick") == 5
    assert case.log.trials[-1].phase == "winner"


def test_as_many_are_finalists_as_there_is_time_for() -> None:
    def flat(candidate: Candidate) -> Outcome:
        return Outcome(None, warm=(1e-3,) * 5, check_seconds=2.0)

    def contestants(seconds: float, baseline: str = "") -> tuple[str, ...]:
        case = Case(Goal(seconds=seconds, trials=7), bench=TableBench(flat), baseline_key=baseline)
        case.run()
        assert case.log.trials[-1].phase == "winner"
        return tuple(c.key for duel in case.bench.duels for c in duel)

    fastest = contestants(1000.0)
    assert len(fastest) == 5
    # each is judged for four seconds, the winner twice, and two are for timing
    assert contestants(27.0) == fastest[:3]
    last = fastest[-1]
    assert contestants(23.0, last) == (fastest[0], last)


class SlowBench(TableBench):
    """Trials that take longer than the budget; real time passes on the clock."""

    async def trial(self, candidate: Candidate, effort: Effort, limits: Limits) -> Outcome:
        await asyncio.sleep(0.3)
        self.clock.now += 0.3
        return self.answer(candidate)


def test_a_budget_that_is_too_short_waits_for_a_first_result() -> None:
    case = Case(Goal(seconds=0.2), bench=SlowBench())
    assert case.run() is Ended.BUDGET
    assert [t.phase for t in case.log.trials] == ["quick", "winner"]
    assert case.state.best is not None


def test_a_speedup_ends_the_search() -> None:
    case = Case(Goal(speedup=2.0), baseline_key="slow")
    slow = Candidate("slow", "", (("?bm", 16), ("?bn", 16), ("2.core.i", "FOR.1")))
    case.suggested = [Proposal(slow, "default")]
    assert case.run() is Ended.SPEEDUP
    assert case.bench.seen[0] == slow
    assert case.state.baseline is not None
    assert case.told[-1].speedup is not None
    assert case.told[-1].speedup >= 2.0


def test_known_candidates_are_not_measured_again() -> None:
    first = Case(Goal(trials=5))
    first.run()
    again = Case(Goal())
    again.known = {t.candidate.key: t.outcome.seconds for t in first.log.trials}
    again.run()
    seen = {t.candidate.key for t in again.log.trials if t.phase == "quick"}
    assert not seen & set(again.known)
    assert again.state.proposals.skipped["duplicate"] == len(again.known)


def test_what_another_tuner_measures_is_left_to_it() -> None:
    case = Case(Goal(trials=3))
    points = case.space.points
    case.searcher.elsewhere = {points[0]}
    names = tuple(v.name for v in VARIABLES)
    given, record = (
        Proposal(Candidate(f"schedule {p}\n", "", tuple(zip(names, p, strict=True))), origin, p)
        for p, origin in ((points[0], "given"), (points[0], "record"))
    )
    mine = replace(record, candidate=replace(record.candidate, key="other"))
    case.suggested = [given, mine]
    case.run()
    assert case.bench.seen[0] == given.candidate
    assert mine.candidate not in case.bench.seen
    assert case.state.proposals.skipped[ELSEWHERE] == 1


def test_failures_are_counted_and_never_win() -> None:
    def answer(candidate: Candidate) -> Outcome:
        values = dict(candidate.values)
        return failing(Failure.WRONG) if values["?bm"] == 8 else bowl(candidate)

    case = Case(Goal(), bench=TableBench(answer))
    case.run()
    assert case.state.best is not None
    assert dict(case.state.best.candidate.values)["?bm"] != 8
    assert dict(case.told[-1].failures) == {Failure.WRONG: 8}


def test_the_innocent_are_tried_again() -> None:
    lost: set[str] = set()

    def answer(candidate: Candidate) -> Outcome:
        if candidate.key not in lost and dict(candidate.values)["?bm"] == 2:
            lost.add(candidate.key)
            return Outcome(Failure.CRASH, innocent=True)
        return bowl(candidate)

    case = Case(Goal(), bench=TableBench(answer))
    case.run()
    assert lost
    assert not case.told[-1].failures


def test_a_candidate_that_always_loses_its_worker_is_given_up() -> None:
    case = Case(Goal(trials=1), bench=TableBench(lambda _: Outcome(Failure.CRASH, innocent=True)))
    assert case.run() is Ended.TRIALS
    assert len(case.bench.seen) == 4
    assert case.state.best is None


def _seconds(case: Case) -> list[float]:
    return [t.outcome.seconds for t in case.log.trials if t.outcome.seconds is not None]


def test_clear_losers_are_stopped_by_the_best_so_far() -> None:
    case = Case(Goal(trials=12))
    case.run()
    assert case.bench.efforts[0].give_up is None
    assert case.bench.efforts[11].give_up == pytest.approx(3 * min(s for s in _seconds(case)[:11]))


def test_an_interrupt_ends_it_without_finals() -> None:
    case = Case(Goal())

    def watch(progress: RunProgress, trial: Trial | None) -> None:
        if progress.measured == 3:
            assert case.interrupt is not None
            case.interrupt.ask(signal.SIGINT)

    case.watch = watch
    assert case.run() is Ended.INTERRUPTED
    assert [t.phase for t in case.log.trials] == ["quick"] * 3
    assert case.found


def test_an_interrupt_does_not_wait_for_what_is_in_flight() -> None:
    class Hanging(TableBench):
        async def trial(self, candidate: Any, effort: Any, limits: Any) -> Outcome:
            if len(self.seen) == 3:
                asyncio.get_running_loop().call_soon(case.interrupt.ask, signal.SIGTERM)  # type: ignore[union-attr]
                await asyncio.sleep(3600)
            return await super().trial(candidate, effort, limits)

    case = Case(Goal(), bench=Hanging(slots=2))
    assert case.run() is Ended.INTERRUPTED
    assert len(case.log.trials) == 3


class RealClock(Clock):
    def __call__(self) -> float:
        return time.monotonic()


class Stuck(Drawing):
    """A searcher whose storage hangs from some answer on."""

    def __init__(self, space: SmallSpace, hangs: str) -> None:
        super().__init__(space)
        self.hangs, self.hanging, self.free = hangs, threading.Event(), threading.Event()

    def _hang(self, call: str) -> None:
        if call == self.hangs and len(self.heard) >= 3:
            self.hanging.set()
            self.free.wait(30)

    def ask(self) -> Point | None:
        self._hang("ask")
        return super().ask()

    def tell(self, point: Point, seconds: float | None) -> None:
        self._hang("tell")
        super().tell(point, seconds)


@pytest.mark.parametrize("hangs", ["ask", "tell"])
def test_a_search_that_hangs_is_interrupted(hangs: str) -> None:
    case = Case(Goal())
    stuck = case.searcher = Stuck(case.space, hangs)

    def ask() -> None:
        stuck.hanging.wait(30)
        assert case.interrupt is not None
        case.loop.call_soon_threadsafe(case.interrupt.ask, signal.SIGTERM)

    threading.Thread(target=ask, daemon=True).start()
    begun = time.monotonic()
    assert case.run() is Ended.INTERRUPTED
    stuck.free.set()
    assert time.monotonic() - begun < 10
    assert case.state.silent
    # what was measured is on record, and the best was written before the search heard of it
    assert [t.outcome.seconds for t in case.log.trials] and case.found[-1] is case.state.best


def test_a_search_that_hangs_ends_with_the_budget(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runs, "GRACE", 0.5)
    case = Case(Goal(seconds=2.0), bench=TableBench(clock=RealClock()))
    stuck = case.searcher = Stuck(case.space, "ask")
    begun = time.monotonic()
    assert case.run() is Ended.BUDGET
    stuck.free.set()
    assert time.monotonic() - begun < 10
    assert case.state.best is not None


def test_a_lost_device_keeps_what_was_found() -> None:
    class Lost(TableBench):
        async def trial(self, candidate: Any, effort: Any, limits: Any) -> Outcome:
            if len(self.seen) == 4:
                raise fail("D105", "the device is gone")
            return await super().trial(candidate, effort, limits)

    case = Case(Goal(), bench=Lost())
    assert case.run() is Ended.LOST
    assert case.state.trouble[0].code == "D105"
    assert case.state.best is not None


def test_what_ends_together_with_a_lost_device_is_kept() -> None:
    class Lost(TableBench):
        async def trial(self, candidate: Any, effort: Any, limits: Any) -> Outcome:
            first = not self.seen
            self.seen.append(candidate)
            await together.wait()
            if first:
                raise fail("D133", "no worker starts")
            return self.answer(candidate)

    together = asyncio.Barrier(2)
    case = Case(Goal(), bench=Lost(slots=2))
    assert case.run() is Ended.LOST
    assert len(case.log.trials) == 1
    assert case.state.best is not None


def test_several_are_in_flight() -> None:
    most = 0

    class Wide(TableBench):
        flying = 0

        async def trial(self, candidate: Any, effort: Any, limits: Any) -> Outcome:
            nonlocal most
            self.flying += 1
            most = max(most, self.flying)
            await asyncio.sleep(0.05)
            self.flying -= 1
            return await super().trial(candidate, effort, limits)

    case = Case(Goal(trials=10), bench=Wide(clock=Clock(), slots=3))
    case.run()
    assert most == 3
    assert len([t for t in case.log.trials if t.phase == "quick"]) == 10


def test_the_next_proposal_is_found_while_the_bench_works() -> None:
    class Waiting(TableBench):
        async def trial(self, candidate: Any, effort: Any, limits: Any) -> Outcome:
            for _ in range(1000):
                if len(case.searcher._rest) < left - self.slots:
                    break
                await asyncio.sleep(0.01)
            else:
                raise AssertionError("nobody thought ahead")
            return await super().trial(candidate, effort, limits)

    case = Case(Goal(trials=5), bench=Waiting(clock=Clock(), slots=2))
    left = len(case.searcher._rest)
    case.run()
    assert len([t for t in case.log.trials if t.phase == "quick"]) == 5
