"""The rate of a tuner whose workers are killed, against that of one whose workers are not."""

import argparse
import signal
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from cluster_check import CORES, ROOT, Tuner, kill_child
from kill_resume import SCHEDULE

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


def spell(folder: Path, workers: int, seconds: float, every: float | None) -> Spell:
    """From the moment that every worker takes part. every: seconds between two kills of a worker's process,
    which its nanny starts anew; None: nobody is killed."""
    with cluster() as made:
        here = [made.add(core=CORES[n], nanny=True) for n in range(workers)]
        folder.mkdir()
        (folder / "s.mdh").write_text(SCHEDULE)
        words = ("-s", "s.mdh", "--trials", "1000000", "--sampler", "random", "--no-model")
        tuner = Tuner(folder, "--cluster", made.address, *words)
        tuner.until(lambda: tuner.said.count("takes part") >= workers and len(tuner.trials) >= workers)
        before, begun, kills = len(tuner.trials), time.monotonic(), 0
        while (passed := time.monotonic() - begun) < seconds:
            assert tuner.process.poll() is None, tuner.said
            if every is not None and passed >= (kills + 0.5) * every:
                kill_child(here[kills % workers])
                kills += 1
            time.sleep(0.1)
        trials, passed = len(tuner.trials) - before, time.monotonic() - begun
        tuner.process.send_signal(signal.SIGINT)
        code, found = tuner.end(), tuner.trials
    twice = len(found) - len({t["key"] for t in found})
    return Spell(passed, trials, twice + sum(bool(t["failure"]) for t in found), kills, code)


def page(workers: int, every: float, calm: Spell, disturbed: Spell) -> str:
    rows = "".join(
        f"| {name} | {s.seconds:.0f} | {s.kills} | {s.trials} | {s.rate:.1f} | {s.lost} | {s.code} |\n"
        for name, s in (("undisturbed", calm), (f"one killed every {every:.0f} s", disturbed))
    )
    return (
        f"# Workers killed on the way\n\n`./scripts/worker-kills --seconds {calm.seconds:.0f}"
        f" --every {every:.0f} --workers {workers}` on {len(CORES)} cores: a Dask cluster on loopback,"
        " one worker a core, matmul 64x64x64 on opencl:0.\n\n"
        "| | seconds | kills | trials | a minute | lost | exit |\n"
        f"|---|---|---|---|---|---|---|\n{rows}\n"
        f"{disturbed.rate / calm.rate:.0%} of the undisturbed rate with {workers} workers; at least"
        f" {LEAST:.0%} is wanted of 8.\n"
    )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=600.0)
    parser.add_argument("--every", type=float, default=30.0)
    parser.add_argument("--workers", type=int, default=8)
    parser.add_argument("--out", type=Path, default=ROOT / "artifacts" / "tuner_worker_kills.md")
    given = parser.parse_args()
    # two workers of one core would disturb each other's times: the second stands by
    workers = min(given.workers, len(CORES))
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        calm = spell(Path(folder) / "calm", workers, given.seconds, None)
        disturbed = spell(Path(folder) / "disturbed", workers, given.seconds, given.every)
    text = page(workers, given.every, calm, disturbed)
    given.out.write_text(text, encoding="utf-8")
    sys.stdout.write(text)
    lost = calm.lost + disturbed.lost
    return 0 if not lost and disturbed.rate >= LEAST * calm.rate else 1


if __name__ == "__main__":
    sys.exit(main())
