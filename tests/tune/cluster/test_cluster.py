"""A cluster of processes on loopback: workers stand by, die, are replaced; the scheduler dies."""

import asyncio
import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from mdh.diagnostics import Failed
from mdh.results.trial import Outcome
from mdh.tuner.cluster.bench import ClusterBench
from tests.support.source_tree import ROOT
from tests.tune.cluster.dask import Cluster, cluster
from tests.tune.measure.bench import EFFORT, GOOD, JOB, LIMITS, MATMUL, keyed

ADDRESS = r"Start worker at:\s+(tcp://\S+)"
CORES = sorted(os.sched_getaffinity(0))


@pytest.fixture(scope="module")
def three() -> Iterator[Cluster]:
    """Workers on two cores, and one that shares the first core with another."""
    with cluster() as made:
        for core in (CORES[0], CORES[-1], CORES[0]):
            made.add(core=core)
        for worker in made.workers:
            worker.said(r"Registered to:\s+(\S+)")
        yield made


async def until(true: Callable[[], bool], seconds: float = 40.0) -> None:
    async with asyncio.timeout(seconds):
        while not true():
            await asyncio.sleep(0.1)


def test_the_command_line_tunes_on_a_cluster(three: Cluster, tmp_path: Path) -> None:
    (tmp_path / "matmul.c").write_text(MATMUL)
    words = ("tune", "matmul.c", "--cluster", three.address, "--trials", "4", "--json")
    done = subprocess.run(
        [sys.executable, "-m", "mdh", *words], cwd=tmp_path, capture_output=True, text=True, timeout=120,
        env={**os.environ, "PYTHONPATH": str(ROOT)}, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "takes part" in done.stderr
    assert "Traceback" not in done.stderr
    told = json.loads(done.stdout)
    assert told["ok"]
    assert list(tmp_path.glob("matmul.*.mdh"))
    assert len(list(tmp_path.glob("*.jsonl"))) == 1


def test_workers_die_and_no_trial_is_lost(three: Cluster) -> None:
    said: list[str] = []

    async def run() -> tuple[list[Outcome], tuple[Outcome, ...], Failed]:
        async with ClusterBench(JOB, three.address, jobs=1, say=said.append) as bench:
            both = 2 if len(CORES) > 1 else 1
            assert sum("takes part" in s for s in said) == both
            assert sum("stands by" in s for s in said) == 3 - both
            assert bench.slots == 2 * both
            refused = asyncio.create_task(bench.trial(keyed("1: nonsense"), EFFORT, LIMITS))
            tasks = [asyncio.create_task(bench.trial(c, EFFORT, LIMITS)) for c in GOOD]
            await until(lambda: any(t.done() for t in tasks))
            first = three.workers[0].said(ADDRESS)
            member = any(s.startswith(f"worker {first} ") and "takes part" in s for s in said)
            three.workers[0 if member else 2].kill()
            outcomes = await asyncio.gather(*tasks)
            await until(lambda: sum("takes part" in s for s in said) == both + 1 or both == 1)
            duel = await bench.duel((GOOD[0], GOOD[1]), EFFORT, LIMITS)
            stuck = asyncio.create_task(bench.trial(GOOD[2], EFFORT, LIMITS))
            await asyncio.sleep(0.2)
            stuck.cancel()
            last = [asyncio.create_task(bench.trial(c, EFFORT, LIMITS)) for c in GOOD[:4]]
            await asyncio.sleep(0.1)
            three.scheduler.kill()
            found = await asyncio.gather(*last, return_exceptions=True)
            lost = next(f for f in found if isinstance(f, Failed))
            return [*outcomes, await refused], duel, lost

    outcomes, duel, lost = asyncio.run(run())
    assert [o.failure for o in outcomes[:-1]] == [None] * len(GOOD)
    assert outcomes[-1].code == "S101"
    assert all(o.seconds and o.device.startswith("opencl:0 on ") for o in (*outcomes[:-1], *duel))
    assert sum("is lost" in s for s in said) <= 2
    assert lost.diagnostics[0].code == "F203"
