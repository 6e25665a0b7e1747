"""The best trial: later phases are trusted more, wrong candidates never win, ties are broken the same way."""

from dataclasses import replace
from itertools import permutations

from mdh.results.trial import Failure, Outcome, Trial
from mdh.tuner.records.best import best, ranked
from tests.tune.records.samples import trial


def _quick(number: int, seconds: float, key: str) -> Trial:
    return trial(number, seconds, key=key)


def _failed(number: int, key: str, failure: Failure, phase: str = "quick") -> Trial:
    return replace(trial(number, 1.0, key=key, phase=phase), outcome=Outcome(failure))


def test_the_fastest_wins_and_ties_go_to_the_first() -> None:
    trials = (_quick(3, 1.0, "c"), _quick(1, 1.0, "a"), _quick(2, 2.0, "b"), trial(4))
    assert {best(order) for order in permutations(trials)} == {trials[1]}
    assert [row[-1].number for row in ranked(trials)] == [1, 3, 2]


def test_nothing_timed_is_nothing() -> None:
    assert best(()) is None
    assert best((trial(0), trial(1))) is None


def test_a_finalist_is_known_better_than_a_lucky_short_time() -> None:
    lucky, good = _quick(1, 0.9, "a"), _quick(2, 0.8, "b")
    final = trial(3, 1.0, key="b", phase="final")
    assert best((lucky, good, final)) == final
    newer = _quick(4, 0.7, "c")
    assert best((lucky, good, final, newer)) == newer


def test_a_winner_is_trusted_most() -> None:
    trials = (
        _quick(1, 1.0, "a"), trial(2, 1.1, key="a", phase="final"), trial(3, 1.3, key="a", phase="winner"),
        _quick(4, 1.0, "b"), trial(5, 1.2, key="b", phase="final"),
    )  # fmt: skip
    assert best(trials) == trials[4]
    assert [row[-1].number for row in ranked(trials)] == [5, 3]


def test_wrong_once_is_out() -> None:
    trials = (_quick(1, 1.0, "a"), _failed(2, "a", Failure.WRONG, "winner"), _quick(3, 2.0, "b"))
    assert best(trials) == trials[2]
    assert best((_failed(1, "a", Failure.WRONG), _quick(2, 1.0, "a"))) is None


def test_failing_at_last_is_out_and_recovering_is_in() -> None:
    assert best((_quick(1, 1.0, "a"), _failed(2, "a", Failure.CRASH))) is None
    again = _quick(2, 1.0, "a")
    assert best((_failed(1, "a", Failure.TIMEOUT), again)) == again


def test_finals_that_nobody_came_through_take_nothing_back() -> None:
    quick = _quick(1, 1.0, "a")
    crashed = (_failed(3, "a", Failure.CRASH, "final"), _failed(4, "a", Failure.LAUNCH, "winner"))
    slower = _quick(2, 2.0, "b")
    assert best((quick, slower, *crashed)) == quick
    winner = trial(5, 2.0, key="b", phase="winner")
    assert best((quick, slower, *crashed, winner)) == winner
    before = trial(2, 2.0, key="b", phase="winner")
    assert best((quick, before, *crashed)) == quick


def test_the_death_of_a_worker_is_not_held_against_an_innocent_candidate() -> None:
    good = _quick(1, 1.0, "a")
    crash = replace(_failed(2, "a", Failure.CRASH), outcome=Outcome(Failure.CRASH, innocent=True))
    assert best((good, crash)) == good
