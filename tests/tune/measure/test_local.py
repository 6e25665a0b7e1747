"""The bench on opencl:0: it measures what is good, names what is bad, and outlives all of it."""

import asyncio
import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest

from mdh.diagnostics import Failed
from mdh.ir.numerics import Numerics
from mdh.results.trial import Effort, Failure, Job, Limits, Outcome
from mdh.tuner.measure import outage, posts
from mdh.tuner.measure.local import LocalBench
from tests.support.faulty_worker import KINDS, planting
from tests.tune.measure.bench import CLASSES, EFFORT, GOOD, JOB, LIMITS, candidate, gone, keyed, plan


def pids(bench: LocalBench) -> list[int]:
    found = (p._worker for group in (bench._measurers, bench._builders) for p in group.all)
    return [w.pid for w in found if w is not None]


def test_good_candidates_are_measured_and_bad_schedules_refused() -> None:
    async def run() -> tuple[list[Outcome], tuple[Outcome, ...], list[int], Path]:
        async with LocalBench(JOB, jobs=2) as bench:
            bad = keyed("1: nonsense"), candidate(25, 2)
            trials = await asyncio.gather(*(bench.trial(c, EFFORT, LIMITS) for c in (*GOOD[:3], *bad)))
            thorough = Effort(samples=4, seconds=30.0, cold=True, inputs=3)
            before = bench._measurers.all[0]._worker
            duel = await bench.duel((GOOD[0], bad[0], GOOD[0]), thorough, LIMITS)
            assert bench._measurers.all[0]._worker is not before
            assert bench.ground.machine.kind == "cpu"
            assert bench.ground.target == "opencl"
            return trials, duel, pids(bench), bench._folder

    trials, duel, workers, folder = asyncio.run(run())
    for outcome in trials[:3]:
        assert outcome.failure is None, outcome
        assert 1 <= len(outcome.warm) <= 3
        assert outcome.seconds
        assert outcome.device == "opencl:0"
        assert outcome.clock == "device"
        assert min(outcome.build_seconds, outcome.check_seconds, outcome.measure_seconds) > 0
        assert dict(outcome.versions).keys() >= {"mdh", "driver", "numpy"}
    assert [(o.failure, o.code) for o in trials[3:]] == [
        (Failure.CONSTRAINTS, "S101"),
        (Failure.CONSTRAINTS, "K104"),
    ]
    assert [o.failure for o in duel] == [None, Failure.CONSTRAINTS, None]
    assert len(duel[0].cold) == len(duel[0].warm) == len(duel[2].warm)
    assert all(gone(pid) for pid in workers)
    assert not folder.exists()


def test_results_are_expected_anew_for_other_numerics() -> None:
    rounded = (("C", Numerics(factor_bits=11)),)

    async def run() -> list[str]:
        async with LocalBench(JOB, jobs=2) as bench:
            folder = await bench.expected(2)
            await bench._expect(2, {rounded, ()})
            return sorted(p.name for p in folder.glob("*.json"))

    names = asyncio.run(run())
    assert names[::2] != names and len(names) == 4
    assert {"0.json", "1.json"} < set(names)


def test_what_finals_would_wait_for_is_foreseen() -> None:
    async def run() -> tuple[float, float]:
        def starts_and_builds() -> float:
            return bench._measurers.all[0].seconds + bench._built[GOOD[0].key][1]

        async with LocalBench(JOB, jobs=2) as bench:
            assert bench.ahead(GOOD[:1]) == (start := bench._measurers.all[0].seconds) > 0
            assert bench.ahead(GOOD[:2]) == 2 * start
            await bench.trial(GOOD[0], EFFORT, LIMITS)
            before = bench.ahead(GOOD[:1]) - starts_and_builds()
            await bench.duel(GOOD[:2], replace(EFFORT, inputs=4), LIMITS)
            return before, bench.ahead(GOOD[:1]) - starts_and_builds()

    before, after = asyncio.run(run())
    # two sets were computed for the trial, and two builders compute the other two at once
    assert 0 < before < 60
    assert abs(after) < 1e-6


WRONG = GOOD[len(KINDS)]
WELL = GOOD[len(KINDS) + 1 : len(KINDS) + 4]


def test_planted_faults_are_named_and_good_ones_survive(tmp_path: Path) -> None:
    """Every kind of fault, a wrong kernel and good candidates at once, in one bench."""
    kinds = {c.key: kind for c, kind in zip(GOOD, KINDS, strict=False)}
    faults = plan(tmp_path / "faults.json", {**kinds, WRONG.key: [["= {0}", "= {1}"]]})
    # what never ends is waited for no longer than it takes to be sure of it
    short = {"endless compile": replace(LIMITS, build=1.0), "endless loop": replace(LIMITS, launch=1.0)}
    given = (*GOOD[: len(KINDS)], WRONG, *WELL)

    async def run() -> list[Outcome]:
        async with LocalBench(JOB, jobs=2) as bench:
            trials = (bench.trial(c, EFFORT, short.get(kinds.get(c.key, ""), LIMITS)) for c in given)
            return await asyncio.gather(*trials)

    with planting(faults):
        found = asyncio.run(run())
    outcomes = dict(zip((c.key for c in given), found, strict=True))
    for key, kind in kinds.items():
        outcome = outcomes[key]
        assert outcome.failure == CLASSES[kind], (kind, outcome)
        assert outcome.code and outcome.message, kind
    wrong = outcomes[WRONG.key]
    assert (wrong.failure, wrong.code, wrong.seconds) == (Failure.WRONG, "N101", None)
    assert [outcomes[c.key].failure for c in WELL] == [None] * 3


def test_a_worker_that_is_killed_costs_no_result() -> None:
    async def run() -> tuple[list[Outcome], Outcome]:
        async with LocalBench(JOB, jobs=1) as bench:
            tasks = [asyncio.create_task(bench.trial(c, EFFORT, LIMITS)) for c in GOOD[:4]]
            await tasks[0]
            for pid in pids(bench):
                os.kill(pid, signal.SIGKILL)
            rest = await asyncio.gather(*tasks)
            stuck = asyncio.create_task(bench.trial(GOOD[4], EFFORT, LIMITS))
            await asyncio.sleep(0.2)
            stuck.cancel()
            with pytest.raises(asyncio.CancelledError):
                await stuck
            return rest, await bench.trial(GOOD[5], EFFORT, LIMITS)

    rest, last = asyncio.run(run())
    assert [o.failure for o in (*rest, last)] == [None] * 5


def test_a_lost_device_ends_the_bench(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(posts, "_BACK_OFF", 0.01)
    monkeypatch.setattr(outage, "LASTS", 0.5)

    async def run() -> list[Outcome | BaseException]:
        async with LocalBench(JOB, jobs=1) as bench:
            post = bench._measurers.all[0]
            environment = {**post.command.environment, "MDH_OPENCL_PLATFORM": "no such platform"}
            post.command = replace(post.command, environment=environment)
            assert post._worker is not None
            os.kill(post._worker.pid, signal.SIGKILL)
            trials = (bench.trial(c, EFFORT, LIMITS) for c in GOOD[:3])
            return await asyncio.gather(*trials, return_exceptions=True)

    for found in asyncio.run(run()):
        assert isinstance(found, Failed)
        assert found.diagnostics[0].code == "D102"


@pytest.mark.parametrize(
    ("job", "code"),
    [(replace(JOB, device="opencl:99"), "D101"), (Job("broken.c", "void f( {"), "C101")],
    ids=["device", "program"],
)
def test_what_cannot_work_is_said_at_once(job: Job, code: str) -> None:
    async def run() -> None:
        async with LocalBench(job, jobs=1):
            pytest.fail("it opened")

    with pytest.raises(Failed, match=code):
        asyncio.run(run())


PARENT = """
import asyncio, sys
from tests.tune.measure.bench import GOOD, JOB, EFFORT, LIMITS
from tests.tune.measure.test_local import pids
from mdh.tuner.measure.local import LocalBench

async def run():
    async with LocalBench(JOB, jobs=1) as bench:
        await bench.trial(GOOD[0], EFFORT, LIMITS)
        print(*pids(bench), flush=True)
        await asyncio.sleep(600)

asyncio.run(run())
"""


def test_nothing_outlives_a_killed_parent() -> None:
    with subprocess.Popen([sys.executable, "-c", PARENT], stdout=subprocess.PIPE, text=True) as parent:
        assert parent.stdout is not None
        workers = [int(word) for word in parent.stdout.readline().split()]
        parent.kill()
    assert workers
    for _ in range(200):
        if all(gone(pid) for pid in workers):
            break
        time.sleep(0.05)
    assert all(gone(pid) for pid in workers)


def test_closing_ends_what_is_under_way() -> None:
    async def run() -> tuple[list[int], list[Outcome | BaseException]]:
        bench = LocalBench(JOB, jobs=1)
        async with bench:
            trials = [asyncio.create_task(bench.trial(c, EFFORT, LIMITS)) for c in GOOD[:3]]
            await asyncio.sleep(0.3)
            workers = pids(bench)
        return [*workers, *pids(bench)], await asyncio.gather(*trials, return_exceptions=True)

    workers, found = asyncio.run(run())
    assert all(gone(pid) for pid in workers)
    assert all(isinstance(one, Failed) or one.failure is not None for one in found)  # type: ignore[union-attr]


def test_two_posts_of_one_device_share_the_work() -> None:
    async def run() -> list[Outcome]:
        async with LocalBench(JOB, ("opencl:0", "opencl:0"), jobs=1) as bench:
            return await asyncio.gather(*(bench.trial(c, EFFORT, Limits()) for c in GOOD[:4]))

    assert all(o.failure is None for o in asyncio.run(run()))
