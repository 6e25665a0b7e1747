"""What becomes of schedules that are wrong, of time that ends, and of sizes that cannot be measured."""

import asyncio
import time
from types import SimpleNamespace
from typing import Any, Self

import pytest

from mdh.diagnostics import fail
from mdh.ir.open_size import OpenSize
from mdh.results.trial import Candidate, Failure, Outcome
from mdh.tuner.over import run
from mdh.tuner.over.cells import Cell
from mdh.tuner.runtime.interrupt import Interrupt

RIGHT = Outcome(None, warm=(1e-3,))
WRONG = Outcome(Failure.WRONG, code="N102", message="C[0] is 1, and 2 is right")


class FakeBench:
    """Candidate 1 is wrong at size 15, and size 20 cannot be measured."""

    def __init__(self, job: Any, *_: Any, **__: Any) -> None:
        self.size = dict(job.at)["M"]

    async def __aenter__(self) -> Self:
        if self.size == 20:
            raise fail("D104", "no memory for 1 GB")
        return self

    async def __aexit__(self, *error: object) -> None: ...

    async def duel(self, candidates: tuple[Candidate, ...], *_: Any) -> tuple[Outcome, ...]:
        return tuple(WRONG if c.key == "1" and self.size == 15 else RIGHT for c in candidates)


def _work(monkeypatch: pytest.MonkeyPatch, deadline: float | None, said: list[str]) -> run.TableWork:
    monkeypatch.setattr(run, "LocalBench", FakeBench)
    monkeypatch.setattr(run, "_add_default", lambda *_: None)
    monkeypatch.setattr(run, "cache_if_any", lambda: None)

    def at(ranges: object, point: dict[str, int]) -> Any:
        return SimpleNamespace(job=SimpleNamespace(at=tuple(point.items())), devices=("c",), jobs=1)

    over: Any = SimpleNamespace(at=at, ranges=())
    found = (Cell((OpenSize("M", 1, 1),)), Cell((OpenSize("M", 2, 20),)))
    work = run.TableWork(over, Interrupt(), said.append, found, deadline)
    tuned: Any = SimpleNamespace(best=SimpleNamespace(outcome=RIGHT, candidate=Candidate("", "b")))
    work.tunings, work.schedules, work.names = [tuned, tuned], ["a", "b"], ["M=1", "M=2..20"]
    ground: Any = SimpleNamespace()
    work.ground = ground
    return work


def test_a_schedule_that_is_wrong_once_is_in_no_case(monkeypatch: pytest.MonkeyPatch) -> None:
    said: list[str] = []
    work = _work(monkeypatch, None, said)
    measured = asyncio.run(run._measured(work))
    assert work.wrong == {1}
    assert [times for _, points in measured for _, times in points] == [{0: 1e-3}] * 5
    assert "the schedule made for M=2..20 is wrong here: C[0] is 1, and 2 is right" in said
    assert "no memory for 1 GB: this size is left out" in said


def test_when_time_is_over_cells_keep_their_own_schedules(monkeypatch: pytest.MonkeyPatch) -> None:
    work = _work(monkeypatch, time.monotonic() - 2 * run.GRACE, [])
    measured = asyncio.run(run._measured(work))
    assert [points for _, points in measured] == [[], []]
    filled = run._filled(work, measured)
    assert [points for _, points in filled] == [[({"M": 1}, {1: 1.0})], [({"M": 15}, {1: 1.0})]]
