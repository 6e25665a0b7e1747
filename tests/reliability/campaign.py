"""R14, R15 and R16: one long search in a space that is wide open, and what it cost.

The three rows look at one campaign: were the proposed points legal and could they be launched; how long did
the bench wait for the search; did memory or open files grow.
"""

import asyncio
import os
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from contextlib import closing
from dataclasses import asdict, dataclass, field
from pathlib import Path
from statistics import median
from typing import Any

from mdh.device.api import open_device
from mdh.diagnostics import Failed
from mdh.pipeline import Pipeline
from mdh.results.goal import Goal
from mdh.results.trial import Candidate, Effort, Failure, Job, Limits, Outcome, Trial
from mdh.results.tuning import RunProgress, Tuned
from mdh.source import Source
from mdh.tuner.conduct import run_session
from mdh.tuner.measure.local import LocalBench
from mdh.tuner.order import Order
from mdh.tuner.runtime.interrupt import Interrupt
from mdh.tuner.session import make_session
from tests.reliability.row import Found, Parts, Setting
from tests.support.source_tree import ROOT

FULL = 5000
SIZES = (("M", 48), ("N", 48), ("K", 48))
OPEN = """1: (de-)comp( ?,?,? ) ( ^,^ ; ^ ) ( ?,?,? )
2: (de-)comp( ?,?,? ) ( A:?[?], B:?[?] ; ^ ) ( ^,^,? )
3: (de-)comp( ?,?,? ) ( ^,^ ; C:?[1,2] ) ( ?,?,? )
4: (de-)comp( ?,?,? ) ( ^,^ ; ^ ) ( ?,?,? )
"""
"""Whose first point is waited for: everything is open."""
SEARCHED = """1: (de-)comp( ?,?,^ ) ( ^,^ ; ^ ) ( ?{BLK.y,BLK.x}, ?{BLK.y,BLK.x}, ^ )
2: (de-)comp( ?,?,? ) ( ^,?{^,B:SM[1,2],B:SM[2,1]} ; ^ ) ( ?{FOR.1,FOR.2,FOR.3}, ?{FOR.1,FOR.2,FOR.3}, ?{FOR.1,FOR.2,FOR.3} )
3: (de-)comp( ?,?,? ) ( ^,^ ; ^ ) ( ?{FOR.1,FOR.2,FOR.3}, ?{FOR.1,FOR.2,FOR.3}, ?{FOR.1,FOR.2,FOR.3} )
4: (de-)comp( ?,?,? ) ( ^,^ ; ^ ) ( ?{FOR.1,FOR.2,FOR.3}, ?{FOR.1,FOR.2,FOR.3}, ?{FOR.1,FOR.2,FOR.3} )
"""  # noqa: E501
"""Searched in 5,000 trials: as large, of kernels that are quick to compile."""
LARGE = 10**12
LOOKS = 50
"""Trials between two looks at the processes."""
MIB = 1 << 20
FIRST = f"""
import time, random
from mdh.machine import load_machine
from mdh.pipeline import Pipeline
from mdh.schedule.default import default_schedule
from mdh.source import Source
from mdh.tuner.space.make import make_space
run = Pipeline()
program = run.read(Source("matmul.c", open("inputs_c/matmul.c").read()), defines=dict({SIZES!r}))
schedule = run.schedule(Source("open.mdh", {OPEN!r}))
for name, target in (("generic-cpu", "opencl"), ("generic-cpu", "c"), ("h200", "cuda")):
    machine = load_machine(name)
    default = default_schedule(program, machine, target)
    begun = time.perf_counter()
    space = make_space(program, schedule, machine, target, deterministic=False, default=default)
    drawn = space.draw_legal(random.Random(1))
    print(time.perf_counter() - begun, space.raw, drawn is not None)
"""
"""A fresh process: its first space, and the first legal point of it. Prints seconds, points and success."""


@dataclass
class Waiting:
    """How much of the bench's room stood empty while the search went on. empty: slot-seconds."""

    slots: int = 1
    flying: int = 0
    begun: float = 0.0
    since: float = 0.0
    ended: float = 0.0
    empty: float = 0.0
    over: bool = False

    def change(self, by: int) -> None:
        now = time.perf_counter()
        if not self.begun:
            self.begun = self.since = now
        if not self.over:
            self.empty += (self.slots - self.flying) * (now - self.since)
            self.ended = now
        self.since = now
        self.flying += by

    @property
    def share(self) -> float:
        return self.empty / max(1e-9, self.slots * (self.ended - self.begun))


class WatchedBench(LocalBench):
    """The bench of the tuner, and how full it was."""

    def __init__(self, job: Job, jobs: int | None) -> None:
        super().__init__(job, jobs=jobs)
        self.waiting = Waiting(self.slots)

    async def trial(self, candidate: Candidate, effort: Effort, limits: Limits) -> Outcome:
        self.waiting.change(1)
        try:
            return await super().trial(candidate, effort, limits)
        finally:
            self.waiting.change(-1)


@dataclass(frozen=True)
class Look:
    """The tuner and all processes below it at one moment. own, below: bytes in memory; files: open ones."""

    trials: int
    own: int
    below: int
    own_files: int
    below_files: int
    gpu: int


@dataclass
class Looks:
    """looks: in the order of the trials."""

    gpu: bool
    goal: int
    waiting: Callable[[], Waiting | None]
    looks: list[Look] = field(default_factory=list)

    def __call__(self, progress: RunProgress, trial: Trial | None) -> None:
        waiting = self.waiting()
        # near its end the search starts nothing more; what runs in finals is not the search's
        if waiting is not None and (progress.phase != "search" or progress.measured + 8 >= self.goal):
            waiting.over = True
        if trial is not None and trial.phase == "quick" and progress.measured % LOOKS == 0:
            self.looks.append(look(progress.measured, self.gpu))


def look(trials: int, gpu: bool) -> Look:
    own = os.getpid()
    children: dict[int, list[int]] = {}
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            parent = int(path.read_text().rpartition(")")[2].split()[1])
        except OSError:
            continue
        children.setdefault(parent, []).append(int(path.parent.name))
    below, todo = [], list(children.get(own, []))
    while todo:
        below.append(todo.pop())
        todo += children.get(below[-1], [])
    return Look(
        trials, _memory(own), sum(map(_memory, below)), _files(own), sum(map(_files, below)),
        gpu_memory() if gpu else 0,
    )  # fmt: skip


def _memory(pid: int) -> int:
    try:
        return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except OSError:
        return 0


def _files(pid: int) -> int:
    try:
        return len(os.listdir(f"/proc/{pid}/fd"))
    except OSError:
        return 0


def gpu_memory() -> int:
    """Bytes in use on the GPU that this process may see, whoever uses it; the most of several."""
    words = ["nvidia-smi", "--query-gpu=memory.used", "--format=csv,noheader,nounits"]
    if shown := os.environ.get("CUDA_VISIBLE_DEVICES"):
        words.append(f"--id={shown}")
    said = subprocess.run(words, capture_output=True, text=True, check=True).stdout
    return max(int(line) for line in said.split()) * MIB


def campaign(setting: Setting) -> dict[str, Any]:
    """The search, run once for all three rows."""
    trials = setting.number(FULL, 20)
    parts = Parts.of(setting, f"campaign.{setting.device.replace(':', '')}")
    found: dict[str, Any] = parts.get(f"{trials} {setting.seed}", lambda: _run(setting, trials))
    return found


def _run(setting: Setting, trials: int) -> dict[str, Any]:
    source = (ROOT / "inputs_c" / "matmul.c").read_text(encoding="utf-8")
    job = Job("matmul.c", source, SIZES, device=setting.device, seed=setting.seed)
    pipeline = Pipeline()
    program = pipeline.read(Source(job.path, source), defines=dict(SIZES))
    goal = Goal(trials, None if setting.minutes is None else 60 * setting.minutes)
    with tempfile.TemporaryDirectory(prefix="mdh-campaign-") as folder:
        order = Order(
            job, program, pipeline.schedule(Source("open.mdh", SEARCHED)), (setting.device,), goal,
            Path(folder), seed=setting.seed,
        )  # fmt: skip
        tuned, waiting, looks, wall, own = asyncio.run(_search(order, setting.gpu, trials))
    quick = [t for t in tuned.trials if t.phase == "quick"]
    return {
        "trials": len(quick),
        "raw": tuned.sizes.raw if tuned.sizes else 0,
        "failures": dict(Counter(str(t.outcome.failure) for t in quick if t.outcome.failure is not None)),
        "messages": sorted(
            {f"{t.outcome.code}: {t.outcome.message[:200]}" for t in quick if t.outcome.failure is not None}
        )[:10],
        "refused": _refused_again(quick, setting.device, dict(SIZES)),
        "skipped": dict(tuned.skipped),
        "waiting": waiting.share,
        "wall": wall,
        "own": own,
        "looks": [asdict(one) for one in looks],
    }


async def _search(order: Order, gpu: bool, trials: int) -> tuple[Tuned, Waiting, list[Look], float, float]:
    begun, own = time.perf_counter(), time.process_time()
    async with WatchedBench(order.job, None) as bench:
        watch = Looks(gpu, trials, lambda: bench.waiting)
        with closing(make_session(order, bench)) as session:
            tuned = await run_session(session, bench, watch, Interrupt())
        waiting = bench.waiting
    return tuned, waiting, watch.looks, time.perf_counter() - begun, time.process_time() - own


def _refused_again(trials: list[Trial], device: str, sizes: dict[str, int]) -> list[str]:
    """Proposals that the checker refuses when it is asked anew, from the text alone."""
    opened = open_device(device)
    pipeline = Pipeline()
    source = (ROOT / "inputs_c" / "matmul.c").read_text(encoding="utf-8")
    program = pipeline.read(Source("matmul.c", source), defines=sizes)
    out = []
    for trial in trials:
        try:
            schedule = pipeline.schedule(Source("<proposed>", trial.candidate.schedule))
            pipeline.check(program, schedule, opened.machine, opened.target)
        except Failed as failed:
            out.append(f"{failed.diagnostics[0].code}: {failed.diagnostics[0].headline}")
    return out


def feasible(setting: Setting) -> Found:
    """R14."""
    found = campaign(setting)
    trials, failures = found["trials"], found["failures"]
    unable = sum(failures.get(str(f), 0) for f in (Failure.LAUNCH, Failure.COMPILE))
    told = ", ".join(f"{n:,} {name}" for name, n in failures.items()) or "none"
    skipped = ", ".join(f"{n:,} {name}" for name, n in list(found["skipped"].items())[:6]) or "none"
    return Found(
        f"{trials - len(found['refused']):,} of {trials:,} proposals legal; {unable} could not be built or"
        f" launched ({100 * unable / max(1, trials):.2f} %)",
        not found["refused"] and unable <= 0.005 * trials, trials, FULL,
        (f"failures of all kinds: {told}; points that were never proposed: {skipped}", *found["messages"]),
    )  # fmt: skip


def large_space(setting: Setting) -> Found:
    """R15."""
    worst, least = 0.0, 0
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    for _ in range(5):
        said = subprocess.run(
            [sys.executable, "-c", FIRST],
            capture_output=True,
            text=True,
            check=True,
            cwd=ROOT,
            env=environment,
        ).stdout
        for line in said.splitlines():
            seconds, raw, drawn = line.split()
            assert drawn == "True", said
            worst, least = max(worst, float(seconds)), min(least or int(raw), int(raw))
    assert least >= LARGE, least
    found = campaign(setting)
    share, own = found["waiting"], found["own"] / found["wall"]
    return Found(
        f"{found['raw']:.1e} raw points; first legal point after {worst:.2f} s at most; the bench waited for"
        f" the search {100 * share:.1f} % of the time",
        worst <= 1.0 and share <= 0.05, found["trials"], FULL,
        (
            f"processor time of the search, beside the workers: {100 * own:.1f} % of the wall time,"
            f" {1e3 * found['own'] / found['trials']:.1f} ms a trial",
        ),
    )  # fmt: skip


def leak(setting: Setting) -> Found:
    """R16."""
    found = campaign(setting)
    looks = [Look(**one) for one in found["looks"]]
    if not looks:
        return Found(f"fewer than {LOOKS} trials: nothing to compare", True, 0, FULL)
    first, last = _part(looks, 0), _part(looks, -1)
    grown = {name: last[name] - first[name] for name in first}
    memory = grown["own"] + grown["below"]
    gpu = f", GPU memory {grown['gpu'] / MIB:+.0f} MiB" if setting.gpu else ""
    return Found(
        f"memory {memory / MIB:+.0f} MiB (tuner {grown['own'] / MIB:+.0f}, workers"
        f" {grown['below'] / MIB:+.0f}); open files {grown['own_files']:+.0f} and"
        f" {grown['below_files']:+.0f}{gpu}",
        memory <= 100 * MIB and grown["own_files"] <= 0 and grown["below_files"] <= 0 and grown["gpu"] <= 0,
        found["trials"], FULL,
        ("medians over the last tenth of the trials, less those over the tenth after the first",),
    )  # fmt: skip


def _part(looks: list[Look], which: int) -> dict[str, float]:
    """Medians over the second tenth of the looks, or the last."""
    n = max(1, len(looks) // 10)
    chosen = looks[-n:] if which else looks[n : 2 * n] or looks[:1]
    names = ("own", "below", "own_files", "below_files", "gpu")
    return {name: median(getattr(one, name) for one in chosen) for name in names}
