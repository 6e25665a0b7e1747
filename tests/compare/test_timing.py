"""Rounds on a bench that answers as it is told: what fails is kept as a reason, and the others go on."""

import asyncio
from collections.abc import Sequence
from pathlib import Path
from threading import Thread
from time import perf_counter
from typing import Any, cast

import pytest

from mdh.compare.calm import calm
from mdh.compare.closing import Closed, candidate_of, checked
from mdh.compare.rows import measured, planned
from mdh.compare.timing import ROUNDS, Contest, Runs, timed
from mdh.diagnostics import Failed, fail
from mdh.frontend.c.read import read_program
from mdh.machine import load_machine
from mdh.results.comparison import Peer, RowKind
from mdh.results.trial import Candidate, Effort, Failure, Limits, Outcome
from mdh.source import Source
from mdh.tuner.measure.bench import Ground
from mdh.tuner.measure.inputs import write_expected
from mdh.tuner.measure.local import LocalBench
from mdh.tuner.measure.outage import silent
from mdh.tuner.records.key import Setting
from mdh.tuner.runtime.interrupt import Interrupt

PROGRAM = read_program(
    Source(
        "f.c",
        "void f(const float A[5][6], const float B[6], float C[5]) {"
        " for (int i = 0; i < 5; i++) for (int k = 0; k < 6; k++) C[i] += A[i][k] * B[k]; }",
    )
)
SETTING = Setting(load_machine("generic-cpu"), "c", "a CPU")


class ToldBench:
    """Each candidate's outcomes, round by round; the last one again after that."""

    ground = Ground(SETTING.machine, SETTING.target, SETTING.title, SETTING.versions)

    def __init__(
        self, folder: Path, told: dict[str, list[Outcome]], interrupt: Interrupt | None = None
    ) -> None:
        self.folder, self.told, self.interrupt = folder, told, interrupt
        self.duels: list[tuple[str, ...]] = []
        self.doing = silent

    async def duel(
        self, finalists: Sequence[Candidate], effort: Effort, limits: Limits
    ) -> tuple[Outcome, ...]:
        self.duels.append(tuple(c.key for c in finalists))
        if self.interrupt is not None and len(self.duels) == 2:
            self.interrupt.event.set()
            await asyncio.sleep(30)
        rows = (self.told[c.key] for c in finalists)
        return tuple(row.pop(0) if len(row) > 1 else row[0] for row in rows)

    async def expected(self, sets: int) -> Path:
        for number in range(sets):
            write_expected(PROGRAM, 0, number, self.folder)
        return self.folder


def _right(seconds: float) -> Outcome:
    return Outcome(None, warm=(seconds,) * 3, cold=(2 * seconds,) * 3, clock="device")


def _timed(bench: ToldBench, libraries: tuple[str, ...] = ()) -> dict[str, Runs]:
    candidates = {name: Candidate(name, "") for name in bench.told}
    peers = tuple(map(Peer.product, libraries))
    contest = Contest(PROGRAM, cast("LocalBench", bench), "c", 0, candidates, peers, 9, 0.1)
    return asyncio.run(timed(contest, bench.interrupt or Interrupt(), lambda _: None))


def test_a_candidate_that_fails_later_keeps_its_reason_and_loses_its_times(tmp_path: Path) -> None:
    wrong = Outcome(Failure.WRONG, "N101", "C[0] is 1, not 2")
    bench = ToldBench(tmp_path, {"a": [_right(1.0)], "b": [_right(2.0), wrong], "c": [wrong]})
    runs = _timed(bench)
    assert bench.duels == [("a", "b", "c"), ("a", "b"), ("a",)]
    assert (runs["a"].seconds, runs["a"].cold) == ([1.0] * 3 * ROUNDS, [2.0] * 3 * ROUNDS)
    for name in "bc":
        why = runs[name].why
        assert why is not None and (why.code, why.headline) == ("N101", "C[0] is 1, not 2")
        assert runs[name].seconds == runs[name].cold == []


def test_libraries_take_their_turns_and_say_why_they_do_not(tmp_path: Path) -> None:
    runs = _timed(ToldBench(tmp_path, {"a": [_right(1.0)]}), ("numpy", "cublas"))
    assert len(runs["numpy"].seconds) == 9 and runs["numpy"].clock == "wall"
    assert runs["numpy"].note.startswith("numpy ")
    assert runs["cublas"].absent.startswith("cublas computes on an NVIDIA GPU")


def test_nobody_is_timed_while_threads_look_for_work() -> None:
    """As libraries' do for a while after a call."""
    begin = perf_counter()
    busy = Thread(target=lambda: [None for _ in iter(lambda: perf_counter() < begin + 0.3, False)])
    busy.start()
    calm()
    assert perf_counter() - begin > 0.3
    busy.join()
    start = perf_counter()
    calm()
    assert perf_counter() - start < 0.3, "there is nothing to wait for"


def test_libraries_alone_are_judged_too(tmp_path: Path) -> None:
    assert len(_timed(ToldBench(tmp_path, {}), ("numpy",))["numpy"].seconds) == 9


def test_what_was_complete_before_the_interrupt_stays(tmp_path: Path) -> None:
    runs = _timed(ToldBench(tmp_path, {"a": [_right(1.0)]}, Interrupt()))
    assert runs["a"].seconds == [1.0] * 3


def test_a_lost_device_ends_the_contest(tmp_path: Path) -> None:
    class Lost(ToldBench):
        async def duel(self, *_: Any) -> tuple[Outcome, ...]:
            raise fail("D120", "the device is gone")

    with pytest.raises(Failed, match="D120"):
        _timed(Lost(tmp_path, {"a": []}))


def test_rows_of_runs() -> None:
    plan = checked(PROGRAM, None, SETTING)
    row = planned("c", "default", Closed(plan), None)
    assert (row.kind, row.time, bool(row.source), bool(row.limit)) == (RowKind.ABSENT, None, True, True)
    right = measured(row, Runs([2.0, 1.0, 3.0], "device"))
    assert right.kind is RowKind.MEASURED and right.time is not None and right.time.seconds == 2.0
    refused = measured(row, Runs(why=fail("D103", "the compiler refuses it").diagnostics[0]))
    assert (refused.kind, refused.time) == (RowKind.FAILED, None)
    away = measured(row, Runs(absent="not here"))
    assert (away.kind, away.note) == (RowKind.ABSENT, "not here")
    assert measured(row, None).kind is RowKind.ABSENT
    assert "(de-)comp" in candidate_of(plan, SETTING, ()).schedule
