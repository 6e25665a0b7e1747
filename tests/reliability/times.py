"""R11 to R13: is a time the same twice, is what won as fast as was said, do tunings repeat.

Honest on a quiet machine only: whatever else runs there is in the figures.

As a program (`python -m tests.reliability.times RECORD SEED DEVICE`) it simulates a search from a record and
prints the order of its trials.
"""

import asyncio
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from functools import partial
from math import ceil, inf
from pathlib import Path
from typing import Any

import mdh
from mdh.pipeline import Pipeline
from mdh.results.goal import Goal
from mdh.results.trial import THOROUGH, Candidate, Effort, Job, Limits
from mdh.source import Source
from mdh.tuner.measure.local import LocalBench
from mdh.tuner.order import Order
from mdh.tuner.runtime.interrupt import Interrupt
from mdh.tuner.start import start
from tests.reliability.row import Found, Parts, Setting
from tests.support.source_tree import ROOT

PAIRS, RUNS, TUNES = 100, 200, 20


def cube(size: int) -> dict[str, int]:
    """The sizes of a product of square matrices."""
    return dict.fromkeys("MNK", size)


KERNELS: tuple[tuple[str, dict[str, int]], ...] = (
    ("matvec", {"M": 64, "K": 64}),
    *(("matmul", cube(size)) for size in (64, 160, 384, 1024)),
)
"""From some 5 µs to some 50 ms on two processors."""
GPU_KERNELS: tuple[tuple[str, dict[str, int]], ...] = (
    ("matvec", {"M": 64, "K": 64}),
    *(("matmul", cube(size)) for size in (384, 1024, 2048, 4096)),
)
"""From some 5 µs to some 3 ms on an H100: on 8192³ the bounds of the judge take longer than a call may."""
SHORT = 100e-6
SEARCHED, GPU_SEARCHED = 128, 2048
"""Sizes of the product that is tuned: a tuned kernel takes some 20 µs on two processors, 0.4 ms on a GPU."""
BUDGET = 20.0
"""Seconds of one of the tunings that should agree."""
FEW = 6
"""Trials of a tuning whose winner is measured again."""
FRESH = Effort(THOROUGH.samples, 1.5, inputs=THOROUGH.inputs)
LIMITS = Limits(build=120.0, launch=120.0, measure=120.0, trial=300.0)
SPACES = ROOT / "experiments" / "spaces"
MATMUL = ROOT / "inputs_c" / "matmul.c"


def searched(device: str) -> tuple[Path, dict[str, int]]:
    """The open schedule that is tuned on a device, and the sizes."""
    if device.startswith("cuda"):
        return SPACES / "h200_matmul_open.mdh", cube(GPU_SEARCHED)
    return SPACES / "cpu_matmul_open.mdh", cube(SEARCHED)


def job_of(name: str, sizes: dict[str, int], device: str) -> Job:
    path = ROOT / "inputs_c" / f"{name}.c"
    return Job(path.name, path.read_text(encoding="utf-8"), tuple(sizes.items()), device=device)


@asynccontextmanager
async def timer(job: Job, schedule: str | None) -> AsyncIterator[Callable[[], Awaitable[float]]]:
    """Gives a function that times a schedule in a fresh process each time it is called, in seconds. Without a
    schedule the default one is timed."""
    async with LocalBench(job) as bench:
        run = Pipeline()
        program = run.read(Source(job.path, job.source), defines=dict(job.defines))
        text = schedule
        if text is None:
            text = run.check(program, None, bench.ground.machine, bench.ground.target).plan.text

        async def once() -> float:
            outcome = await bench.trial(Candidate("a" * 64, text), FRESH, LIMITS)
            assert outcome.seconds is not None, outcome
            return outcome.seconds

        yield once


async def measured(job: Job, schedule: str) -> float:
    """Seconds of a schedule in a fresh process."""
    async with timer(job, schedule) as once:
        return await once()


def some(setting: Setting, parts: Parts, makers: Mapping[str, Callable[[], Any]]) -> list[Any]:
    """The values of these parts, in their order: of all, or of those done after `setting.minutes`."""
    end = inf if setting.minutes is None else time.monotonic() + 60 * setting.minutes
    out = []
    for key, make in makers.items():
        if key in parts.done or time.monotonic() < end:
            out.append(parts.get(key, make))
    return out


def late(values: list[float], share: float = 0.95) -> float:
    """The value that so large a share of `values` does not exceed."""
    return sorted(values)[ceil(share * len(values)) - 1]


def same_twice(setting: Setting) -> Found:
    """R11."""
    parts = Parts.of(setting, f"R11.{setting.device.replace(':', '')}")
    kernels = GPU_KERNELS if setting.device.startswith("cuda") else KERNELS
    each = ceil(setting.number(PAIRS, len(kernels)) / len(kernels))
    end = inf if setting.minutes is None else time.monotonic() + 60 * setting.minutes
    rows: list[list[float]] = []
    for name, sizes in kernels:
        keys = [f"{name} {sizes} {n}" for n in range(each)]
        asyncio.run(_pairs(job_of(name, sizes, setting.device), keys, parts, end))
        rows += [parts.done[key] for key in keys if key in parts.done]
    off = [(max(a, b), abs(a / b - 1)) for a, b in rows]
    short = [d for seconds, d in off if seconds < SHORT]
    long = [d for seconds, d in off if seconds >= SHORT]
    said = [f"{100 * late(group):.1f} % of {len(group)} pairs {name}" for group, name in (
        (long, "of 100 µs and more"), (short, "below"),
    ) if group]  # fmt: skip
    least, most = min(s for s, _ in off), max(s for s, _ in off)
    good = (not long or late(long) <= 0.01) and (not short or late(short) <= 0.03)
    return Found(
        f"95 of 100 differ by at most {', '.join(said)}", good, len(rows), PAIRS,
        (f"kernels of {1e6 * least:,.0f} µs to {1e6 * most:,.0f} µs on {setting.device}",),
    )  # fmt: skip


async def _pairs(job: Job, keys: list[str], parts: Parts, end: float) -> None:
    """Those that are not done; what a right result is, is found once for all."""
    missing = [key for key in keys if key not in parts.done]
    if missing and time.monotonic() < end:
        async with timer(job, None) as once:
            for key in missing:
                if time.monotonic() < end:
                    parts.put(key, [await once(), await once()])


def winners(setting: Setting) -> Found:
    """R12."""
    parts = Parts.of(setting, f"R12.{setting.device.replace(':', '')}")
    seeds = range(setting.seed, setting.seed + setting.number(RUNS))
    ratios = some(setting, parts, {str(seed): partial(_again, setting, seed) for seed in seeds})
    near = sum(abs(r - 1) <= 0.02 for r in ratios)
    return Found(
        f"{near} of {len(ratios)} within 2 % ({100 * near / len(ratios):.0f} %); 95 of 100 within"
        f" {100 * late([abs(r - 1) for r in ratios]):.1f} %",
        near >= 0.95 * len(ratios), len(ratios), RUNS,
        (f"tunings of {FEW} trials of a product of {_searched_size(setting)}",),
    )  # fmt: skip


def _searched_size(setting: Setting) -> str:
    return f"{searched(setting.device)[1]['M']}³ on {setting.device}"


def _again(setting: Setting, seed: int) -> float:
    """The winner's time in a fresh process over the time that its tuning told."""
    space, sizes = searched(setting.device)
    with tempfile.TemporaryDirectory(prefix="mdh-winner-") as folder:
        found = mdh.tune(MATMUL, space, setting.device, trials=FEW, defines=sizes, seed=seed, out=folder)
    return asyncio.run(measured(found.job, found.schedule)) / found.seconds


def repeats(setting: Setting) -> Found:
    """R13. The winners meet in one process, so that noise is not taken for regret."""
    parts = Parts.of(setting, f"R13.{setting.device.replace(':', '')}")
    tunes = [
        parts.get(str(seed), lambda: _tuned(setting, seed))  # noqa: B023
        for seed in range(setting.seed, setting.seed + setting.number(TUNES, 2))
    ]
    texts = list(dict.fromkeys(t["schedule"] for t in tunes))
    key = f"duel {len(tunes)}"
    times = dict(parts.get(key, lambda: asyncio.run(_duel(setting, texts))))
    best = min(times.values())
    regrets = [times[t["schedule"]] / best - 1 for t in tunes]
    orders = parts.get(f"replay {len(tunes)}", lambda: _replayed(tunes[0]["record"], setting))
    same = all(order == orders[0] for order in orders)
    return Found(
        f"95 of 100 within {100 * late(regrets):.1f} % of the best of all; replayed {len(orders)} times the"
        f" trials come in {'the same order' if same else 'DIFFERENT orders'}",
        late(regrets) <= 0.05 and same and len(orders[0]) > 5, len(tunes), TUNES,
        (f"tunings of {BUDGET:.0f} s of a product of {_searched_size(setting)}; {len(texts)} winners",),
    )  # fmt: skip


def _tuned(setting: Setting, seed: int) -> dict[str, Any]:
    space, sizes = searched(setting.device)
    with tempfile.TemporaryDirectory(prefix="mdh-repeat-") as folder:
        found = mdh.tune(MATMUL, space, setting.device, budget=BUDGET, defines=sizes, seed=seed, out=folder)
        record = Path(found.files["record"]).read_text(encoding="utf-8") if seed == setting.seed else ""
    return {"schedule": found.schedule, "seconds": found.seconds, "record": record}


async def _duel(setting: Setting, texts: list[str]) -> list[tuple[str, float]]:
    job = job_of("matmul", searched(setting.device)[1], setting.device)
    candidates = tuple(Candidate(f"{n:064x}", text) for n, text in enumerate(texts))
    async with LocalBench(job) as bench:
        found = await bench.duel(candidates, Effort(100, 2.0, inputs=4), LIMITS)
    seconds = [o.seconds for o in found]
    assert None not in seconds, found
    return [(text, s) for text, s in zip(texts, seconds, strict=True) if s is not None]


def _replayed(record: str, setting: Setting) -> list[list[str]]:
    """The orders of the trials, of processes with different hash seeds."""
    with tempfile.TemporaryDirectory(prefix="mdh-replay-") as folder:
        path = Path(folder) / "r.jsonl"
        path.write_text(record, encoding="utf-8")
        out = []
        for hashes in ("0", "1", "77"):
            words = [
                sys.executable, "-m", "tests.reliability.times", str(path), str(setting.seed), setting.device,
            ]  # fmt: skip
            environment = {**os.environ, "PYTHONHASHSEED": hashes, "PYTHONPATH": str(ROOT)}
            said = subprocess.run(
                words, capture_output=True, text=True, check=True, cwd=ROOT, env=environment
            )
            out.append(json.loads(said.stdout))
    return out


def replay(record: str, seed: int, device: str) -> list[str]:
    """The keys of the trials of a simulated search, in their order."""
    space, sizes = searched(device)
    job = job_of("matmul", sizes, device)
    run = Pipeline()
    program = run.read(Source(job.path, job.source), defines=dict(job.defines))
    order = Order(
        job, program, run.schedule(Source(space.name, space.read_text(encoding="utf-8"))), (job.device,),
        Goal(60), seed=seed, replay=record,
    )  # fmt: skip
    tuned = asyncio.run(start(order, lambda *_: None, Interrupt(), lambda _: None))
    assert tuned is not None
    return [t.candidate.key for t in tuned.trials]


if __name__ == "__main__":
    sys.stdout.write(json.dumps(replay(sys.argv[1], int(sys.argv[2]), sys.argv[3])) + "\n")
