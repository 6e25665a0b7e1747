"""A whole session on a real space and real files; only the device is a function of the candidate."""

import asyncio
import signal
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from mdh.cost.predict import predict
from mdh.diagnostics import Failed
from mdh.frontend.c.read import read_program
from mdh.machine import Machine, load_machine
from mdh.report.tune_text import tuned_text
from mdh.results.goal import Ended, Goal
from mdh.results.trial import QUICK, Candidate, Effort, Failure, Job, Limits, Outcome, Trial
from mdh.results.tuning import RunProgress, Tuned
from mdh.schedule.holes import holes
from mdh.schedule.parser import parse_schedule
from mdh.source import Source
from mdh.tuner.conduct import run_session
from mdh.tuner.measure import bench as benches
from mdh.tuner.order import Order
from mdh.tuner.records.best import best
from mdh.tuner.records.read import read_record
from mdh.tuner.records.replay import ReplayBench
from mdh.tuner.runtime.interrupt import Interrupt
from mdh.tuner.search import DEFAULT
from mdh.tuner.session import TuningSession, make_session, prepared
from mdh.tuner.start import unfound
from tests.tune.doubles import TableBench, failing

TEXT = """void add(const float A[256], float C[256]) {
  for (int i = 0; i < 256; i++)
    C[i] = A[i] + 1;
}
"""
SCHEDULE = """1: (de-)comp( ?a ) ( ^ ; ^ ) ( BLK.x )
2: (de-)comp( ?b ) ( ^ ; ^ ) ( FOR.1 )
3: (de-)comp( ?c ) ( ^ ; ^ ) ( FOR.1 )
"""


CPU = load_machine("generic-cpu")


@dataclass(frozen=True)
class Ground(benches.Ground):
    machine: Machine = CPU
    target: str = "opencl"
    title: str = "a made-up CPU"
    versions: tuple[tuple[str, str], ...] = (("mdh", "test"),)


def order(place: Path, schedule: str = SCHEDULE, **options: object) -> Order:
    source = Source("add.c", TEXT)
    parsed = parse_schedule(Source("s.mdh", schedule)) if schedule else None
    settings = {"goal": Goal(trials=20), "sampler": "random", **options}
    return Order(Job("add.c", TEXT), read_program(source), parsed, ("cpu",), place=place, **settings)  # type: ignore[arg-type]


def modelled(session: TuningSession) -> TableBench:
    """A device that the model is right about."""

    def answer(candidate: Candidate) -> Outcome:
        schedule = parse_schedule(Source("c.mdh", candidate.schedule))
        plan = session.plan(schedule)
        return Outcome(None, warm=(predict(plan).seconds,) * 5, clock="device")

    return TableBench(answer)


def quiet(now: RunProgress, trial: Trial | None, /) -> None:
    """Nobody watches."""


def go(session: TuningSession, bench: TableBench | None = None, interrupt_after: int | None = None) -> Tuned:
    async def body() -> Tuned:
        interrupt = Interrupt()

        def watch(now: RunProgress, trial: Trial | None, /) -> None:
            if interrupt_after is not None and now.measured >= interrupt_after:
                interrupt.ask(signal.SIGINT)

        used = bench or modelled(session)
        return await run_session(session, used, watch, interrupt, clock=used.clock)

    try:
        return asyncio.run(body())
    finally:
        session.close()


def test_the_defaults_come_first_and_the_files_are_there(tmp_path: Path) -> None:
    tuned = go(make_session(order(tmp_path), Ground()))
    quick = [t for t in tuned.trials if t.phase == "quick"]
    assert [t.origin for t in quick[:2]] == ["default", "given"]
    assert {t.origin for t in quick[2:]} == {"model", "random"}
    assert len(quick) == 20
    assert tuned.baseline is not None
    assert tuned.given is not None
    files = dict(tuned.files)
    written = parse_schedule(Source("best", Path(files["schedule"]).read_text()))
    assert not holes(written)
    assert written.target == "generic-cpu"
    header, trials, _ = read_record(files["record"])
    assert trials == tuned.trials
    assert header.program == "add"
    assert (Path(files["kernel"]) / "add.cl").exists()


def test_a_repeated_run_goes_on(tmp_path: Path) -> None:
    first = go(make_session(order(tmp_path), Ground()))
    again = go(make_session(order(tmp_path), Ground()))
    assert again.earlier == first.trials
    assert again.trials[0].number == first.trials[-1].number + 1
    both = [t.candidate.key for t in (*first.trials, *again.trials) if t.phase == "quick"]
    assert len(set(both)) == len(both) == 40
    assert again.trials[-1].elapsed > first.trials[-1].elapsed
    assert again.baseline is not None
    assert again.speedup is not None
    assert first.speedup is not None
    assert again.speedup >= first.speedup


def test_a_record_of_a_sampler_that_is_gone_is_gone_on_with(tmp_path: Path) -> None:
    session = make_session(order(tmp_path, sampler=DEFAULT, command="mdh tune --sampler bayes"), Ground())
    session.searcher.name = "bayes"
    first = go(session)
    assert "bayes" in {t.origin for t in first.trials}
    again = go(make_session(order(tmp_path, sampler=DEFAULT), Ground()))
    assert again.earlier == first.trials
    assert again.sampler == DEFAULT in {t.origin for t in again.trials}
    both = [t.candidate.key for t in (*first.trials, *again.trials) if t.phase == "quick"]
    assert len(set(both)) == len(both) == 40


def test_the_same_seed_gives_the_same_trials(tmp_path: Path) -> None:
    keys = []
    for place, seed in (("a", 3), ("b", 3), ("c", 4)):
        tuned = go(make_session(order(tmp_path / place, seed=seed, sampler="tpe"), Ground()))
        keys.append([t.candidate.key for t in tuned.trials])
    assert keys[0] == keys[1] != keys[2]


def test_every_program_is_measured_once_in_the_end(tmp_path: Path) -> None:
    """The model sets candidates aside; none is lost."""
    tuned = go(make_session(order(tmp_path, goal=Goal()), Ground()))
    assert tuned.ended is Ended.EXHAUSTED
    plain = go(make_session(order(tmp_path / "plain", goal=Goal(), model=False), Ground()))
    assert _programs(tuned) == _programs(plain) > 50


def _programs(tuned: Tuned) -> int:
    return len([t for t in tuned.trials if t.phase == "quick"])


def test_a_right_model_finds_the_best_early(tmp_path: Path) -> None:
    whole = go(make_session(order(tmp_path / "whole", goal=Goal()), Ground()))
    assert whole.best is not None
    fastest = whole.best.outcome.seconds
    few = go(make_session(order(tmp_path / "few", goal=Goal(trials=10)), Ground()))
    assert few.best is not None
    assert few.best.outcome.seconds == pytest.approx(fastest, rel=0.02)


def test_a_wrong_model_is_found_out(tmp_path: Path) -> None:
    """What it ranks last is the best."""
    session = make_session(order(tmp_path, goal=Goal(trials=150)), Ground())
    right = modelled(session)

    def upside_down(candidate: Candidate) -> Outcome:
        seconds = right.answer(candidate).seconds or 1.0
        return Outcome(None, warm=(1e-10 / seconds,) * 5)

    tuned = go(session, TableBench(upside_down))
    whole = go(make_session(order(tmp_path / "whole", goal=Goal()), Ground()), TableBench(upside_down))
    assert tuned.best is not None
    assert whole.best is not None
    assert (tuned.best.outcome.seconds or 1.0) <= 1.5 * (whole.best.outcome.seconds or 0.0)


def test_an_interrupt_leaves_a_valid_best(tmp_path: Path) -> None:
    tuned = go(make_session(order(tmp_path), Ground()), interrupt_after=3)
    assert tuned.ended is Ended.INTERRUPTED
    assert len(tuned.trials) == 3
    parse_schedule(Source("best", Path(dict(tuned.files)["schedule"]).read_text()))
    again = go(make_session(order(tmp_path), Ground()))
    assert len(again.earlier) == 3


def test_nothing_right_leaves_no_schedule(tmp_path: Path) -> None:
    tuned = go(make_session(order(tmp_path), Ground()), TableBench(lambda _: failing(Failure.COMPILE)))
    assert tuned.best is None
    assert set(dict(tuned.files)) == {"record"}


class Crashing(TableBench):
    """Its finals end in failures of a class."""

    def __init__(self, session: TuningSession, failure: Failure) -> None:
        super().__init__(modelled(session).answer)
        self.failure = failure

    async def trial(self, candidate: Candidate, effort: Effort, limits: Limits) -> Outcome:
        found = await super().trial(candidate, effort, limits)
        return failing(self.failure, "no memory") if effort.inputs > QUICK.inputs else found

    async def duel(self, finalists: Any, effort: Effort, limits: Limits) -> tuple[Outcome, ...]:
        return tuple(failing(self.failure, "no memory") for _ in finalists)


def test_finals_that_crash_leave_the_quick_result_and_say_so(tmp_path: Path) -> None:
    session = make_session(order(tmp_path), Ground())
    tuned = go(session, Crashing(session, Failure.CRASH))
    assert tuned.best is not None
    assert tuned.best.phase == "quick"
    assert not tuned.trouble
    why = "the finals could not confirm it: crash, D103: no memory"
    assert why in tuned_text(tuned)
    text = Path(dict(tuned.files)["schedule"]).read_text()
    assert "finals could not confirm it (crash, D103: no memory)\n" in text
    # the record says the same to all who read it, and a later run confirms it
    assert best(tuned.trials) == tuned.best
    again = go(make_session(order(tmp_path, goal=Goal(trials=1)), Ground()))
    assert again.best is not None
    assert (again.best.phase, again.best.candidate) == ("winner", tuned.best.candidate)
    assert not again.unconfirmed


def test_an_earlier_tuning_s_schedule_is_never_lost(tmp_path: Path) -> None:
    first = dict(go(make_session(order(tmp_path), Ground())).files)
    kept = Path(first["schedule"]).read_text()
    session = make_session(order(tmp_path, resume=False), Ground())
    wrong = go(session, Crashing(session, Failure.WRONG))
    assert wrong.best is None
    assert "wrong, D103: no memory" in unfound(wrong).notes[0]
    assert not Path(first["schedule"]).exists()
    assert Path(dict(wrong.files)["earlier"]).read_text() == kept
    # nothing is written where nothing is right, and what is gone on with is no earlier tuning's
    other = order(tmp_path / "other")
    go(make_session(other, Ground()))
    assert "earlier" not in dict(go(make_session(other, Ground())).files)


def test_the_best_of_another_record_is_tried(tmp_path: Path) -> None:
    """A schedule with other sets, the same holes: what won there is measured here if it is a point."""
    first = go(make_session(order(tmp_path), Ground()))
    assert first.best is not None
    narrower = SCHEDULE.replace("?c ", "?c{1,2,4,8,16,32} ")
    second = go(make_session(order(tmp_path, narrower, goal=Goal(trials=3)), Ground()))
    assert [t.origin for t in second.trials if t.phase == "quick"][2] == "record"


def test_without_a_schedule_the_default_is_opened(tmp_path: Path) -> None:
    tuned = go(make_session(order(tmp_path, ""), Ground()))
    assert tuned.variables
    assert all(v.name.split(".")[1] == "tile" for v in tuned.variables)
    assert tuned.given is None
    assert tuned.baseline is not None
    assert len(tuned.baseline.candidate.values) == len(tuned.variables)


def test_an_empty_space_says_why(tmp_path: Path) -> None:
    with pytest.raises(Failed) as refused:
        make_session(order(tmp_path, SCHEDULE.replace("?a ", "?a{1} ").replace("?b ", "?b{2} ")), Ground())
    assert refused.value.diagnostics[0].code in ("S160", "S161")
    assert not list(tmp_path.iterdir())


def test_an_illegal_schedule_without_holes_is_refused(tmp_path: Path) -> None:
    source = SCHEDULE.replace("?a ", "300000000 ").replace("?b ", "1 ").replace("?c ", "1 ")
    with pytest.raises(Failed) as caught:
        make_session(order(tmp_path, source), Ground())
    assert caught.value.diagnostics[0].code == "K104"


def test_a_replay_gives_the_record_s_times_and_touches_nothing(tmp_path: Path) -> None:
    first = go(make_session(order(tmp_path, goal=Goal()), Ground()))
    before = sorted((p, p.stat().st_mtime_ns) for p in tmp_path.rglob("*"))
    bench = ReplayBench(first.trials)
    session = prepared(order(tmp_path, goal=Goal()), Ground())
    session.admits = bench.admits

    async def body() -> Tuned:
        return await run_session(session, bench, quiet, Interrupt(), clock=bench.clock)

    replayed = asyncio.run(body())
    assert replayed.ended is Ended.EXHAUSTED
    assert {t.candidate.key for t in replayed.measured} == {t.candidate.key for t in first.measured}
    assert first.best is not None
    assert replayed.best is not None
    assert replayed.best.outcome.seconds == first.best.outcome.seconds
    assert sorted((p, p.stat().st_mtime_ns) for p in tmp_path.rglob("*")) == before


def test_a_run_begins_with_what_earlier_ones_learned(tmp_path: Path, own_cache: Path) -> None:
    first = make_session(order(tmp_path / "a"), Ground())
    assert go(first).learned == 0
    assert not first.remarks
    kept = list((own_cache / "mdh" / "model").iterdir())
    assert len(kept) == 1
    again = make_session(order(tmp_path / "b"), Ground())
    assert again.experience is not None
    assert 0 < again.experience.times <= 22
    assert "earlier runs measured on this device" in again.remarks[0]
    assert go(again).learned == again.experience.times
    for options in ({"resume": False}, {"model": False}):
        other = make_session(order(tmp_path / "c", **options), Ground())
        assert other.experience is None or not other.experience.times
        other.close()


def test_a_record_alone_teaches_the_model(tmp_path: Path, own_cache: Path) -> None:
    go(make_session(order(tmp_path), Ground()))
    for path in (own_cache / "mdh" / "model").iterdir():
        path.write_bytes(b"{")
    session = make_session(order(tmp_path), Ground())
    assert session.experience is not None
    assert session.experience.times > 0
    session.close()


def test_a_simulation_neither_reads_nor_keeps_what_was_learned(tmp_path: Path, own_cache: Path) -> None:
    session = prepared(order(tmp_path), Ground())
    assert go(session).learned == 0
    assert session.experience is None
    assert not (own_cache / "mdh" / "model").exists()


def test_what_earlier_versions_booked_for_the_machine_is_measured_again(tmp_path: Path) -> None:
    """The default's baseline is among it."""

    def broken(candidate: Candidate) -> Outcome:
        return Outcome(Failure.LAUNCH, "D113", "the C compiler `cc` fails: it says nothing")

    first = go(make_session(order(tmp_path, goal=Goal(trials=3)), Ground()), TableBench(broken))
    assert first.best is None
    again = go(make_session(order(tmp_path, goal=Goal(trials=10)), Ground()))
    assert {t.candidate.key for t in first.trials} <= {t.candidate.key for t in again.trials}
    assert again.baseline is not None and again.baseline.outcome.seconds
    assert again.given is not None and again.given.outcome.seconds
