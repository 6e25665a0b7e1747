"""A bench with bad candidates planted among good ones; the table goes to artifacts/tuner_faults.md."""

import argparse
import asyncio
import json
import os
import random
import statistics
import sys
import tempfile
import time
from collections import Counter
from hashlib import sha256
from pathlib import Path
from typing import Any

from mdh.results.trial import Candidate, Effort, Failure, Job, Limits, Outcome
from mdh.tuner.measure import local
from mdh.tuner.measure.local import LocalBench
from mdh.tuner.measure.posts import Post
from mdh.tuner.measure.process import Worker
from tests.support.faulty_worker import KINDS, planting
from tests.tune.measure.bench import CLASSES

ROOT = Path(__file__).resolve().parents[2]
SIZE = 48
PROGRAM = f"""
void matmul(const float A[{SIZE}][{SIZE}], const float B[{SIZE}][{SIZE}], float C[{SIZE}][{SIZE}]) {{
  for (int i = 0; i < {SIZE}; i++)
    for (int j = 0; j < {SIZE}; j++)
      for (int k = 0; k < {SIZE}; k++)
        C[i][j] += A[i][k] * B[k][j];
}}
"""
CPU = """\
1: (de-)comp( {rows}, ^, ^ )    ( ^, ^ ; ^ )         ( BLK.x, ^, ^ )
2: (de-)comp( ^, {columns}, ^ ) ( ^, B:SM[1,2] ; ^ ) ( ^, FOR.1, ^ )
3: (de-)comp( ^, ^, {depth} )   ( ^, ^ ; C:RM[1,2] ) ( ^, ^, FOR.1 )
4: (de-)comp( 1, 1, 1 )         ( ^, ^ ; ^ )         ( FOR.1, FOR.2, FOR.3 )
"""
GPU = """\
1: (de-)comp( {rows}, {columns}, ^ ) ( ^, ^ ; ^ )             ( BLK.y, BLK.x, ^ )
2: (de-)comp( ^, ^, {depth} )        ( A:SM[1,2], B:SM[1,2] ; C:RM[1,2] ) ( ^, ^, FOR.1 )
3: (de-)comp( 1, 1, ^ )              ( ^, ^ ; ^ )             ( THR.y, THR.x, ^ )
4: (de-)comp( ^, ^, 1 )              ( ^, ^ ; ^ )             ( ^, ^, FOR.1 )
"""
GONE = 10.0
"""Seconds in which the system takes down a process that was killed inside a GPU's driver."""
LIMITS = Limits(build=20.0, launch=20.0, measure=20.0, trial=60.0)
EFFORT = Effort(samples=5, seconds=0.05, give_up=0.1)
INSIDE = {
    "illegal store": Failure.RUNTIME,
    "misaligned": Failure.RUNTIME,
    "trap": Failure.RUNTIME,
    "shared memory": Failure.LAUNCH,
}
"""Classes on a GPU; on a CPU the kernel runs inside the measuring process and takes it along."""


def candidates(count: int, gpu: bool, rng: random.Random) -> list[Candidate]:
    tiles = [(r, c, k) for r in range(1, 33) for c in range(1, 9) for k in (1, 2, 3, 4, 6, 8)]
    out = []
    for rows, columns, depth in rng.sample(tiles, count):
        text = (GPU if gpu else CPU).format(rows=rows, columns=columns, depth=depth)
        out.append(Candidate(sha256(text.encode()).hexdigest(), text))
    return out


class TimedPost(Post):
    """recoveries: seconds from the loss of each worker to the first word of its replacement."""

    def __init__(self, *words: Any, **more: Any) -> None:
        super().__init__(*words, **more)
        self.recoveries: list[float] = []
        self._lost_at: float | None = None

    async def renew(self) -> None:
        if self._worker is not None and not self._worker.running and self._lost_at is None:
            self._lost_at = time.monotonic()
        await super().renew()

    async def _greeted(self, worker: Worker) -> None:
        await super()._greeted(worker)
        if self._lost_at is not None:
            self.recoveries.append(time.monotonic() - self._lost_at)
            self._lost_at = None


async def tune(job: Job, trials: list[Candidate], jobs: int | None) -> tuple[list[Outcome], list[float]]:
    """Every candidate's outcome, and the seconds that each replacement took."""
    local.Post = TimedPost  # type: ignore[misc]
    async with LocalBench(job, jobs=jobs) as bench:
        free = asyncio.Semaphore(bench.slots)

        async def one(candidate: Candidate) -> Outcome:
            async with free:
                return await bench.trial(candidate, EFFORT, LIMITS)

        outcomes = await asyncio.gather(*(one(c) for c in trials))
        workers = children()
    end = time.monotonic() + GONE
    while left := [pid for pid in workers if alive(pid)]:
        assert time.monotonic() < end, f"processes are left: {left}"
        await asyncio.sleep(0.05)
    posts = (*bench._measurers.all, *bench._builders.all)
    return outcomes, [s for p in posts if isinstance(p, TimedPost) for s in p.recoveries]


def children() -> list[int]:
    """Processes that this one has started."""
    own = str(os.getpid())
    found = []
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            if path.read_text().rpartition(")")[2].split()[1] == own:
                found.append(int(path.parent.name))
        except OSError:
            continue
    return found


def alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def report(
    device: str, planted: dict[str, str], trials: list[Candidate], outcomes: list[Outcome],
    recoveries: list[float], seconds: float,
) -> str:  # fmt: skip
    gpu = device.startswith("cuda")
    good = [o for c, o in zip(trials, outcomes, strict=True) if c.key not in planted]
    measured = sum(o.failure is None for o in good)
    rows, right = [], 0
    for kind in KINDS:
        wanted = (INSIDE if gpu else {}).get(kind, CLASSES[kind])
        classes = Counter(
            str(o.failure) for c, o in zip(trials, outcomes, strict=True) if planted.get(c.key) == kind
        )
        right += classes[str(wanted)]
        told = ", ".join(f"{n} {name}" for name, n in classes.most_common())
        rows.append(f"| {kind} | {sum(classes.values())} | {wanted} | {told} |")
    ordered = sorted(recoveries)
    late = ordered[min(len(ordered) - 1, int(0.99 * len(ordered)))] if ordered else 0.0
    middle = statistics.median(recoveries or [0.0])
    lines = [
        "# Bad candidates planted among good ones",
        "",
        f"`./scripts/fault-run --device {device}` prints this table again ({outcomes[0].title}, "
        f"limits {LIMITS.build:.0f} s of build and {LIMITS.launch:.0f} s of launch).",
        "",
        f"- good candidates measured: {measured} of {len(good)}",
        f"- bad ones classed right: {right} of {len(planted)}",
        "- the parent lives, and no process is left behind",
        f"- recovery (from a worker's loss until its replacement is ready): median {middle:.2f} s,"
        f" 99th percentile {late:.2f} s, {len(recoveries)} of them",
        f"- {len(trials)} trials in {seconds:.0f} s",
        "",
        "| planted | how many | class | told |",
        "|---|---:|---|---|",
        *rows,
    ]
    failed = Counter((str(o.failure), o.code, o.message[:80]) for o in good if o.failure is not None)
    lines += [f"\n- {n} good candidates failed: {what}" for what, n in failed.items()]
    return "\n".join(lines) + "\n"


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--device", default="opencl:0")
    parser.add_argument("--trials", type=int, default=1000)
    parser.add_argument("--planted", type=int, default=100)
    parser.add_argument("--jobs", type=int)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path, help="the page; absent: the one in artifacts")
    given = parser.parse_args()
    rng = random.Random(given.seed)
    trials = candidates(given.trials, given.device.startswith("cuda"), rng)
    bad = rng.sample(range(given.trials), given.planted)
    planted = {trials[at].key: KINDS[i % len(KINDS)] for i, at in enumerate(bad)}
    with tempfile.TemporaryDirectory(prefix="mdh-faults-") as name:
        plan = Path(name) / "plan.json"
        plan.write_text(json.dumps(planted), encoding="utf-8")
        start = time.perf_counter()
        job = Job("matmul.c", PROGRAM, device=given.device)
        with planting(plan):
            outcomes, recoveries = asyncio.run(tune(job, trials, given.jobs))
        seconds = time.perf_counter() - start
    text = report(given.device, planted, trials, outcomes, recoveries, seconds)
    sys.stdout.write(text)
    family = "" if given.device == "opencl:0" else "_" + given.device.partition(":")[0]
    page = given.out or ROOT / "artifacts" / f"tuner_faults{family}.md"
    page.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
