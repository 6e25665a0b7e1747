"""A run goes on with a record in which somebody has written nonsense: it costs the lines that hold it."""

import asyncio
from dataclasses import replace
from pathlib import Path

import pytest

from mdh.diagnostics import Failed
from mdh.results.goal import Goal
from mdh.results.trial import Candidate, Outcome, Trial
from mdh.tuner.records.file import Record
from mdh.tuner.records.form import header_fields
from mdh.tuner.records.line import seal
from mdh.tuner.records.read import read_record
from mdh.tuner.runtime.interrupt import Interrupt
from mdh.tuner.search.make import AROUND
from mdh.tuner.session import make_session
from mdh.tuner.start import start
from tests.tune.test_session import Ground, go, order, quiet

FAST = Outcome(None, warm=(1e-9,) * 5, clock="device")
ILLEGAL = "1: (de-)comp( 512 ) ( ^ ; ^ ) ( BLK.x )\n2: (de-)comp( 999 ) ( ^ ; ^ ) ( FOR.1 )\n"
GARBAGE = ("1: (", "\0", "x" * 500, "1: (de-)comp( ?a ) ( ^ ; ^ ) ( BLK.x )\n", ILLEGAL)


def _forge(path: Path, *trials: Trial) -> None:
    header, *_ = read_record(str(path))
    with Record.open(str(path), header) as record:
        for trial in trials:
            record.append(trial)


def _nonsense(values: tuple[tuple[str, int | str], ...] = ()) -> list[Trial]:
    return [
        Trial(900 + n, Candidate(f"{n:064x}", text, values), "random", phase, FAST)
        for n, (text, phase) in enumerate(
            zip(GARBAGE, ("quick", "final", "winner", "quick", "winner"), strict=True)
        )
    ]


@pytest.mark.parametrize(("sampler", "schedule"), [("random", None), (AROUND, "")])
def test_garbage_is_left_out_and_the_rest_is_used(tmp_path: Path, sampler: str, schedule: str | None) -> None:
    options = {"sampler": sampler, "goal": Goal(trials=6)}
    given = order(tmp_path, **options) if schedule is None else order(tmp_path, schedule, **options)
    first = go(make_session(given, Ground()))
    path = Path(dict(first.files)["record"])
    _forge(path, *_nonsense())
    session = make_session(given, Ground())
    said = "\n".join(session.remarks)
    assert str(path) in said
    for number in range(900, 905):
        assert str(number) in said
    again = go(session)
    assert again.earlier == first.trials
    assert again.best is not None
    assert again.best.outcome.seconds != 1e-9
    assert again.trials[0].number == 905
    # nothing of the file is lost
    assert len(read_record(str(path))[1]) == len(first.trials) + 5 + len(again.trials)


def test_values_that_are_not_of_the_space_are_left_out(tmp_path: Path) -> None:
    first = go(make_session(order(tmp_path, goal=Goal(trials=6)), Ground()))
    path = Path(dict(first.files)["record"])
    one = next(t for t in first.trials if t.candidate.values)
    for n, values in enumerate(
        ((("?a", -1), ("?b", 10**30)), (("x", 1),), tuple((k, "y") for k, _ in one.candidate.values))
    ):
        _forge(path, replace(one, number=900 + n, candidate=replace(one.candidate, values=values)))
    session = make_session(order(tmp_path, goal=Goal(trials=3)), Ground())
    assert any("900, 901, 902: its values are no point" in r and str(path) in r for r in session.remarks)
    assert go(session).earlier == first.trials


def test_a_replay_leaves_garbage_out(tmp_path: Path) -> None:
    first = go(make_session(order(tmp_path, goal=Goal(trials=6)), Ground()))
    path = Path(dict(first.files)["record"])
    _forge(path, *_nonsense(first.trials[-1].candidate.values))
    said: list[str] = []
    replay = order(tmp_path, goal=Goal(trials=6), replay=str(path))
    replay = replace(replay, machine=Ground.machine, devices=())
    tuned = asyncio.run(start(replay, quiet, Interrupt(), said.append))
    assert tuned is not None
    assert tuned.best is not None
    assert any(str(path) in s and "900" in s for s in said)


def test_a_replay_for_a_target_that_is_none_is_refused(tmp_path: Path) -> None:
    first = go(make_session(order(tmp_path, goal=Goal(trials=2)), Ground()))
    header, *_ = read_record(dict(first.files)["record"])
    path = tmp_path / "forged.jsonl"
    path.write_bytes(seal(header_fields(replace(header, machine="nobody's", target="sml"))))
    with pytest.raises(Failed, match="F150"):
        asyncio.run(start(order(tmp_path, replay=str(path)), quiet, Interrupt(), lambda _: None))
