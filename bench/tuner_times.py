"""The tuner's own costs, and the same kernel timed against itself; see scripts/tuner-times."""

import argparse
import asyncio
import os
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from statistics import median

import mdh
from mdh.pipeline import Pipeline
from mdh.results.trial import THOROUGH, Candidate, Job, Limits, Trial
from mdh.source import Source
from mdh.tuner.loop.state import effort_for
from mdh.tuner.measure.local import LocalBench

ROOT = Path(__file__).resolve().parent.parent
INPUTS = ROOT / "inputs_c"
SPACES = ROOT / "experiments" / "spaces"
LIMITS = Limits(build=120.0, launch=120.0, measure=120.0, trial=300.0)

Sizes = dict[str, int]


@dataclass(frozen=True, slots=True)
class Case:
    """A program with sizes, and the space that it is searched in (None: it is only timed)."""

    program: str
    sizes: tuple[tuple[str, int], ...]
    space: str | None = None

    @property
    def name(self) -> str:
        return f"{self.program} {'×'.join(str(n) for _, n in self.sizes)}"


ONE_ROW = (("M", 1), ("N", 1000), ("K", 2048))
SEARCHED = {
    "cuda": (
        Case("matmul", ONE_ROW, "listing1_open"),
        Case("matmul", (("M", 1024), ("N", 1024), ("K", 1024)), "h200_matmul_open"),
    ),
    "opencl": (Case("matmul", (("M", 256), ("N", 256), ("K", 256)), "cpu_matmul_open"),),
}
AGAINST_ITSELF = {
    "cuda": (
        Case("matmul", ONE_ROW),
        Case("matvec", (("M", 4096), ("K", 4096))),
        Case("jacobi3d", (("N", 258), ("M", 258), ("L", 258))),
        Case("matmul", (("M", 1024), ("N", 1024), ("K", 1024))),
        Case("matmul", (("M", 2048), ("N", 2048), ("K", 2048))),
    ),
    "opencl": (
        Case("matmul", ONE_ROW),
        Case("matmul", (("M", 256), ("N", 256), ("K", 256))),
        Case("matvec", (("M", 4096), ("K", 4096))),
        Case("row_max", (("M", 2048), ("N", 2048))),
        Case("jacobi3d", (("N", 130), ("M", 130), ("L", 130))),
        Case("matmul", (("M", 512), ("N", 512), ("K", 512))),
    ),
}


def searched(case: Case, device: str, trials: int) -> str:
    """A row: what a search of so many trials took, and what the bench takes for them without a search."""
    with tempfile.TemporaryDirectory(prefix="mdh-times-") as folder:
        # neither run finds what the other one, or an earlier day, has built
        os.environ["XDG_CACHE_HOME"] = folder
        own = time.process_time()
        found = mdh.tune(
            INPUTS / f"{case.program}.c", SPACES / f"{case.space}.mdh", device, trials=trials,
            budget="1h", defines=dict(case.sizes), out=folder,
        )  # fmt: skip
        own = time.process_time() - own
    quick = [t for t in found.trials if t.phase == "quick"]
    right = sum(t.outcome.failure is None for t in quick)
    ends = [t.elapsed for t in quick]
    search, alone = max(ends) - min(ends), asyncio.run(measured_alone(found.job, quick))
    return (
        f"| {case.name} | {len(quick):,} | {right:,} | {60 * len(quick) / search:,.0f} | {search:.1f} |"
        f" {alone:.1f} | {100 * (1 - alone / search):.1f} % | {1e3 * own / len(quick):.1f} |"
    )


async def measured_alone(job: Job, trials: list[Trial]) -> float:
    """Seconds from the first result to the last when the candidates are at hand from the start."""
    ends: list[float] = []
    best: float | None = None
    async with LocalBench(job) as bench:
        free = asyncio.Semaphore(bench.slots)

        async def one(trial: Trial) -> None:
            nonlocal best
            async with free:
                outcome = await bench.trial(trial.candidate, effort_for(best), Limits())
                ends.append(time.perf_counter())
                if outcome.seconds is not None:
                    best = outcome.seconds if best is None else min(best, outcome.seconds)

        await asyncio.gather(*(one(t) for t in trials))
    return max(ends) - min(ends)


def budgeted(case: Case, device: str, seconds: float) -> str:
    """A row: how long a search with a budget took."""
    with tempfile.TemporaryDirectory(prefix="mdh-times-") as folder:
        start = time.perf_counter()
        mdh.tune(
            INPUTS / f"{case.program}.c", SPACES / f"{case.space}.mdh", device, budget=seconds,
            defines=dict(case.sizes), out=folder,
        )  # fmt: skip
        took = time.perf_counter() - start
    return f"| {case.name} | {seconds:g} | {took:.1f} | {took - seconds:+.1f} |"


def against_itself(case: Case, device: str, repeat: int) -> str:
    """A row: one schedule as two finalists, `repeat` times; how far the median of paired ratios is from 1."""
    source = (INPUTS / f"{case.program}.c").read_text(encoding="utf-8")
    job = Job(f"{case.program}.c", source, case.sizes, device=device)

    async def duels() -> tuple[list[float], float, str]:
        async with LocalBench(job) as bench:
            arrows = Pipeline()
            program = arrows.read(Source(job.path, source), defines=dict(case.sizes))
            text = arrows.check(program, None, bench.ground.machine, bench.ground.target).plan.text
            twins = (Candidate("a" * 64, text), Candidate("b" * 64, text))
            off, seconds, clock = [], 0.0, ""
            for _ in range(repeat):
                one, other = await bench.duel(twins, THOROUGH, LIMITS)
                assert one.failure is None is other.failure, (one, other)
                ratio = median(a / b for a, b in zip(one.warm, other.warm, strict=False))
                off.append(abs(ratio - 1))
                seconds, clock = median(one.warm), one.clock
            return off, seconds, clock

    off, seconds, clock = asyncio.run(duels())
    return (
        f"| {case.name} | {seconds * 1e6:.1f} | {clock} | {100 * median(off):.2f} % |"
        f" {100 * sorted(off)[int(0.9 * (len(off) - 1) + 0.5)]:.2f} % | {100 * max(off):.2f} % |"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--device", default="opencl:0")
    parser.add_argument("--trials", type=int, default=1000)
    parser.add_argument("--repeat", type=int, default=20)
    parser.add_argument("--budget", type=float, action="append", help="seconds; may be repeated")
    parser.add_argument("--out", type=Path, default=ROOT / "artifacts")
    given = parser.parse_args()
    kind = given.device.partition(":")[0]
    lines = [f"# What the tuner costs, and how true its clock is ({given.device})", ""]

    def add(*more: str) -> None:
        # the page is there, as far as it goes, should the rest take too long
        lines.extend(more)
        (given.out / f"tuner_times_{kind}.md").write_text("\n".join([*lines, ""]), encoding="utf-8")
        sys.stderr.write("\n".join(more) + "\n")

    add(
        "`./scripts/tuner-times` writes this page. `search`: seconds from the first result of a search to",
        "its last; `alone`: of the same candidates, built and measured once more without a search, a model",
        "or a record; `overhead`: the share of the search by which it is longer. `own`: CPU time of the",
        "process that proposes, ranks and records; it works while others build and measure.",
        "",
        "| space | trials | right | a minute | search s | alone s | overhead | own ms a trial |",
        "|---|---|---|---|---|---|---|---|",
    )
    for case in SEARCHED[kind]:
        add(searched(case, given.device, given.trials))
    add("", "Budgets:", "", "| search | budget s | took s | off s |", "|---|---|---|---|")
    for seconds in given.budget or (20.0, 60.0):
        add(budgeted(SEARCHED[kind][0], given.device, seconds))
    add(
        "",
        f"The same kernel as two finalists, timed in turns as finals are, {given.repeat} times; how far the",
        "median of the paired ratios is from 1:",
        "",
        "| kernel | µs | clock | median | 9 of 10 within | worst |",
        "|---|---|---|---|---|---|",
    )
    for case in AGAINST_ITSELF[kind]:
        add(against_itself(case, given.device, given.repeat))


if __name__ == "__main__":
    main()
