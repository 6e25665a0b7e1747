"""The rate of a tuner whose workers are killed, against that of one whose workers are not."""

import argparse
import os
import signal
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from threading import Barrier, BrokenBarrierError

from tests.campaigns.cluster_check import CORES, ROOT, Tuner, kill_child
from tests.campaigns.kill_resume import SCHEDULE
from tests.tune.cluster.dask import cluster

LEAST = 0.8
"""Of the undisturbed rate."""


@dataclass(frozen=True, slots=True)
class Spell:
    """trials: in `seconds`; lost: trials that failed, or that a candidate had twice; kills: of workers."""

    seconds: float
    trials: int
    lost: int
    kills: int
    code: int

    @property
    def rate(self) -> float:
        """Trials a minute."""
        return 60 * self.trials / self.seconds


@dataclass(frozen=True, slots=True)
class Plan:
    """What both spells share. seconds: of one; every: seconds between two kills of the disturbed one."""

    device: str
    workers: int
    seconds: float
    every: float


def spell(plan: Plan, folder: Path, cores: list[int], start: Barrier, *, kill: bool) -> Spell:
    """A worker a core. The time runs from `start`, where a spell waits until every worker takes part. kill:
    workers' processes are killed in turn, and their nannies start them anew."""
    try:
        with cluster() as made:
            here = [made.add(core=core, nanny=True) for core in cores]
            folder.mkdir()
            (folder / "s.mdh").write_text(SCHEDULE)
            words = ("-s", "s.mdh", "--trials", "1000000", "--sampler", "random", "--no-model")
            tuner = Tuner(folder, "--cluster", made.address, "--device", plan.device, *words)
            tuner.until(lambda: tuner.said.count("takes part") >= len(cores) <= len(tuner.trials))
            start.wait()
            before, begun, kills = len(tuner.trials), time.monotonic(), 0
            while (passed := time.monotonic() - begun) < plan.seconds:
                assert tuner.process.poll() is None, tuner.said
                if kill and passed >= (kills + 0.5) * plan.every:
                    kill_child(here[kills % len(here)])
                    kills += 1
                time.sleep(0.1)
            trials, passed = len(tuner.trials) - before, time.monotonic() - begun
            tuner.process.send_signal(signal.SIGINT)
            code, found = tuner.end(), tuner.trials
    except BaseException:
        # the other spell must not wait for this one
        start.abort()
        raise
    twice = len(found) - len({t["key"] for t in found})
    return Spell(passed, trials, twice + sum(bool(t["failure"]) for t in found), kills, code)


def by_place(cores: list[int]) -> list[int]:
    """Threads of one core beside each other: a half of the list shares no core with the other half."""

    def place(core: int) -> tuple[str, int]:
        siblings = Path(f"/sys/devices/system/cpu/cpu{core}/topology/thread_siblings_list")
        first = siblings.read_text().replace("-", ",").split(",")[0] if siblings.exists() else str(core)
        return f"{int(first):06}", core

    return sorted(cores, key=place)


def one_after_the_other(plan: Plan, folder: Path) -> tuple[Spell, Spell]:
    """The undisturbed spell, then the disturbed one, on the same cores."""
    cores = CORES[: plan.workers]
    calm = spell(plan, folder / "calm", cores, Barrier(1), kill=False)
    return calm, spell(plan, folder / "disturbed", cores, Barrier(1), kill=True)


def at_once(plan: Plan, folder: Path) -> tuple[Spell, Spell]:
    """Both spells at the same time; each, its tuner and its scheduler too, on cores of its own."""
    start, ordered = Barrier(2), by_place(CORES)
    half = len(ordered) // 2

    def pinned(name: str, cores: list[int], kill: bool) -> Spell:
        # of this thread alone, and of the processes that it starts
        os.sched_setaffinity(0, cores)
        return spell(plan, folder / name, cores[: plan.workers], start, kill=kill)

    with ThreadPoolExecutor(2) as both:
        calm = both.submit(pinned, "calm", ordered[:half], False)
        disturbed = both.submit(pinned, "disturbed", ordered[half : 2 * half], True)
        if isinstance(calm.exception(), BrokenBarrierError):
            # the other one has said what went wrong
            disturbed.result()
        return calm.result(), disturbed.result()


def page(plan: Plan, together: bool, calm: Spell, disturbed: Spell) -> str:
    option = " --at-once" if together else ""
    clusters = "two Dask clusters" if together else "a Dask cluster"
    when = (
        "both spells at the same time, each on cores of its own" if together else "one spell after the other"
    )
    rows = "".join(
        f"| {name} | {s.seconds:.0f} | {s.kills} | {s.trials} | {s.rate:.1f} | {s.lost} | {s.code} |\n"
        for name, s in (("undisturbed", calm), (f"one killed every {plan.every:.0f} s", disturbed))
    )
    return (
        f"# Workers killed on the way\n\n`./scripts/worker-kills --seconds {calm.seconds:.0f}"
        f" --every {plan.every:.0f} --workers {plan.workers} --device {plan.device}{option}` on {len(CORES)}"
        f" cores: {clusters} on loopback, one worker a core, matmul 64x64x64; {when}.\n\n"
        "| | seconds | kills | trials | a minute | lost | exit |\n"
        f"|---|---|---|---|---|---|---|\n{rows}\n"
        f"{disturbed.rate / calm.rate:.0%} of the undisturbed rate with {plan.workers} workers; at least"
        f" {LEAST:.0%} is wanted of 8.\n"
    )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=600.0)
    parser.add_argument("--every", type=float, default=30.0)
    parser.add_argument("--workers", type=int, default=8)
    parser.add_argument("--device", default="opencl:0")
    parser.add_argument("--at-once", action="store_true", help="both spells; needs two cores a worker")
    parser.add_argument("--out", type=Path, default=ROOT / "artifacts" / "tuner_worker_kills.md")
    given = parser.parse_args()
    if given.at_once and len(CORES) < 2 * given.workers:
        parser.error(f"--at-once needs {2 * given.workers} cores for {given.workers} workers: {len(CORES)}")
    # two workers of one core would disturb each other's times: the second stands by
    plan = Plan(given.device, min(given.workers, len(CORES)), given.seconds, given.every)
    run = at_once if given.at_once else one_after_the_other
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        calm, disturbed = run(plan, Path(folder))
    text = page(plan, given.at_once, calm, disturbed)
    given.out.write_text(text, encoding="utf-8")
    sys.stdout.write(text)
    lost = calm.lost + disturbed.lost
    return 0 if not lost and disturbed.rate >= LEAST * calm.rate else 1


if __name__ == "__main__":
    sys.exit(main())
