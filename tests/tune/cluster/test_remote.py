"""What runs inside a worker, without Dask: one bench, for one tuning at a time, not for ever."""

import asyncio
import json
from dataclasses import asdict
from typing import Any

import pytest

from mdh.tuner.cluster import remote
from mdh.tuner.cluster.inventory import holder
from mdh.tuner.cluster.messages import candidate_json, read_outcome
from mdh.tuner.measure.wire import Json
from tests.tune.measure.bench import EFFORT, GOOD, JOB, LIMITS

HOLDER = holder()


async def ask(do: str, session: str = "one", **more: Any) -> Json:
    answer: Json = json.loads(await remote.serve(json.dumps({"do": do, "session": session, **more})))
    return answer


async def begin(session: str = "one", **more: Any) -> Json:
    words = {"holder": HOLDER, "job": asdict(JOB), "devices": ["opencl:0"], "jobs": 1, "force": ""}
    return await ask("begin", session, **{**words, **more})


async def measure(session: str = "one", trial: str = "1") -> Json:
    words = {"candidates": [candidate_json(GOOD[0])], "effort": asdict(EFFORT)}
    return await ask("measure", session, trial=trial, limits=asdict(LIMITS), **words)


def test_one_tuning_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    async def run() -> None:
        assert await measure() == {"lost": True}
        about = await begin()
        assert about["slots"] == 2
        assert about["target"] == "opencl"
        assert await begin() == about
        [told] = (await measure())["outcomes"]
        assert read_outcome(told).failure is None
        assert await begin("two") == {"busy": "one", "holder": HOLDER}
        stuck = asyncio.create_task(measure(trial="2"))
        await asyncio.sleep(0.05)
        await ask("stop", trial="2")
        assert await stuck == {"lost": True}
        assert await begin("two", force="one") == about
        assert await ask("beat") == {"lost": True}
        assert await ask("beat", "two") == {}
        monkeypatch.setattr(remote, "LEASE", 0.0)
        assert (await begin("three"))["title"] == about["title"]
        await ask("end", "three")
        assert remote._SEAT.held is None

    asyncio.run(run())


def test_a_tuning_that_ends_while_its_bench_opens_leaves_none() -> None:
    async def run() -> None:
        opening = asyncio.create_task(begin())
        async with asyncio.timeout(10):
            while remote._SEAT.opening is None:
                await asyncio.sleep(0.01)
        await ask("end", "two")
        await ask("end")
        assert await opening == {"lost": True}
        assert remote._SEAT.held is remote._SEAT.opening is None

    asyncio.run(run())


def test_what_a_machine_lacks_is_told() -> None:
    async def run() -> Json:
        return await begin(devices=["opencl:99"])

    assert asyncio.run(run())["failed"][0]["code"] == "D101"


def test_a_tuner_that_is_not_heard_of_loses_its_bench(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(remote, "LEASE", 0.5)

    async def run() -> None:
        await begin()
        async with asyncio.timeout(10):
            while remote._SEAT.held is not None:
                await asyncio.sleep(0.05)

    asyncio.run(run())
