"""The run behind scripts/cluster-check: many machines, as processes, that end when they should not."""

import argparse
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.tune.cluster.dask import Cluster, Process, cluster

ROOT = Path(__file__).resolve().parents[2]

MATMUL = """\
void matmul(const float A[64][64], const float B[64][64], float C[64][64]) {
  for (int i = 0; i < 64; i++)
    for (int j = 0; j < 64; j++) {
      C[i][j] = 0.0f;
      for (int k = 0; k < 64; k++)
        C[i][j] += A[i][k] * B[k][j];
    }
}
"""
KILLED_AFTER = 4
"""Trials between two kills."""
CORES = sorted(os.sched_getaffinity(0))


@dataclass(frozen=True, slots=True)
class Finding:
    what: str
    wanted: str
    found: str
    right: bool


class Tuner:
    """`mdh tune` in a folder of its own, which a later one may go on with."""

    def __init__(self, folder: Path, *words: str) -> None:
        folder.mkdir(exist_ok=True)
        (folder / "matmul.c").write_text(MATMUL)
        self.folder, self.log = folder, folder / "said.txt"
        with self.log.open("wb") as log:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "mdh", "tune", "matmul.c", "--jobs", "1", "--json", *words],
                cwd=folder, stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                env={**os.environ, "PYTHONPATH": str(ROOT)},
            )  # fmt: skip

    @property
    def trials(self) -> list[dict[str, Any]]:
        """Quick trials on record."""
        lines = [x for f in self.folder.glob("*.jsonl") for x in f.read_bytes().splitlines(keepends=True)]
        # a record tries whether there is room for a line by writing an empty one
        rows = [json.loads(line) for line in lines if line.endswith(b"\n") and line.strip()]
        return [r for r in rows if r.get("phase") == "quick"]

    def after(self, trials: int) -> "Tuner":
        """Waits until so many are on record."""
        self.until(lambda: len(self.trials) >= trials)
        return self

    def until(self, true: Callable[[], bool], seconds: float = 300.0) -> None:
        end = time.monotonic() + seconds
        while not true():
            assert self.process.poll() is None and time.monotonic() < end, self.said
            time.sleep(0.1)

    @property
    def said(self) -> str:
        return self.log.read_text(errors="replace")

    def end(self) -> int:
        return self.process.wait(600)

    @property
    def whole(self) -> bool:
        """Without a traceback, and with a best schedule."""
        return "Traceback" not in self.said and any(self.folder.glob("matmul.*.mdh"))


def drawn(tuner: Tuner) -> list[str]:
    """The points of its quick trials, without what each tuner is compared with."""
    rows = (t for t in tuner.trials if t["origin"] not in ("default", "given"))
    return [json.dumps(t["values"], sort_keys=True) for t in rows]


def lost_workers(folder: Path, trials: int) -> Iterator[Finding]:
    """One worker after the other is killed: the process alone, which its nanny replaces, or nanny and all."""
    rng, kills = random.Random(0), 0
    with cluster() as made:
        here = [made.add(core=core, nanny=True) for core in (CORES[0], CORES[-1])]
        tuner = Tuner(folder, "--cluster", made.address, "--trials", str(trials)).after(3)
        while tuner.process.poll() is None:
            at = kills % 2
            if rng.random() < 0.5:
                here[at].kill()
                here[at] = made.add(core=(CORES[0], CORES[-1])[at], nanny=True)
            else:
                kill_child(here[at])
            kills, then = kills + 1, len(tuner.trials)
            while tuner.process.poll() is None and len(tuner.trials) < then + KILLED_AFTER:
                time.sleep(0.1)
        code, found = tuner.end(), tuner.trials
        failed = [t["code"] for t in found if t["failure"]]
        keys = {t["key"] for t in found}
        yield Finding(
            f"two workers, one killed every {KILLED_AFTER} trials",
            f"{trials} trials, each candidate once, none failed, exit 0",
            f"{len(found)} trials of {len(keys)} candidates, {len(failed)} failed, {kills} kills, "
            f"exit {code}",
            len(found) == len(keys) == trials and not failed and code == 0 and tuner.whole,
        )


def kill_child(nanny: Process) -> None:
    """The worker's process, not its nanny."""
    root = Path(f"/proc/{nanny.process.pid}/task")
    for word in " ".join(p.read_text() for p in root.glob("*/children")).split():
        if b"spawn_main" in Path(f"/proc/{word}/cmdline").read_bytes():
            os.kill(int(word), signal.SIGKILL)


def lost_tuner(folder: Path, made: Cluster) -> Iterator[Finding]:
    """Killed, then started again: the workers it had serve the next one at once."""
    killed = Tuner(folder, "--cluster", made.address, "--trials", "200").after(8)
    killed.process.kill()
    killed.process.wait()
    before = [t["key"] for t in killed.trials]
    again = Tuner(folder, "--cluster", made.address, "--trials", "8")
    begun = time.monotonic()
    again.until(lambda: "takes part" in again.said)
    seconds = time.monotonic() - begun
    code = again.end()
    keys = [t["key"] for t in again.trials]
    yield Finding(
        "tuner killed (SIGKILL), the command repeated",
        "its trials are kept, none is repeated, workers serve the new one within 30 s",
        f"{len(before)} kept, {len(keys) - len(before)} more, {len(keys) - len(set(keys))} repeated, "
        f"{seconds:.0f} s, exit {code}",
        keys[: len(before)] == before and len(keys) == len(set(keys)) == len(before) + 8 and seconds < 30,
    )


def lost_scheduler(folder: Path, made: Cluster) -> Iterator[Finding]:
    tuner = Tuner(folder, "--cluster", made.address, "--trials", "200").after(6)
    made.scheduler.kill()
    begun = time.monotonic()
    code = tuner.end()
    yield Finding(
        "scheduler killed",
        "F203, exit 1, the best schedule and every trial on disk, within 10 s",
        f"{'F203' if 'F203' in tuner.said else 'no F203'}, exit {code}, {len(tuner.trials)} trials, "
        f"{time.monotonic() - begun:.1f} s",
        "F203" in tuner.said and code == 1 and tuner.whole and time.monotonic() - begun < 10,
    )


@contextmanager
def postgres() -> Iterator[str]:
    script = str(ROOT / "scripts" / "postgres")
    url = subprocess.run([script, "start"], capture_output=True, text=True, check=True).stdout.strip()
    try:
        yield url
    finally:
        subprocess.run([script, "stop", url], capture_output=True, check=False)


def shared_study(folder: Path, trials: int) -> Iterator[Finding]:
    with postgres() as url:
        words = ("--storage", url, "--trials")
        one = Tuner(folder / "one", *words, "200", "--seed", "1")
        two = Tuner(folder / "two", *words, str(trials), "--seed", "1")
        one.after(8)
        one.process.kill()
        one.process.wait()
        at = len(two.trials)
        code = two.end()
        both = set(drawn(one)) & set(drawn(two))
        yield Finding(
            "two tuners of one seed share a study on PostgreSQL, one killed (SIGKILL)",
            f"the other measures its {trials}, no point is measured twice",
            f"{len(two.trials)} by the other, {len(two.trials) - at} of them after the kill; "
            f"{len(one.trials)} by the killed one; {len(both)} by both; exit {code}",
            len(two.trials) == trials and not both and code == 0 and two.whole,
        )


def lost_storage(folder: Path) -> Iterator[Finding]:
    with postgres() as url:
        tuner = Tuner(folder, "--storage", url, "--trials", "200").after(6)
        subprocess.run([str(ROOT / "scripts" / "postgres"), "stop", url], capture_output=True, check=True)
    begun = time.monotonic()
    code = tuner.end()
    seconds = time.monotonic() - begun
    before, told, whole = tuner.trials, "F183" in tuner.said, tuner.whole
    again = Tuner(folder, "--trials", "4")
    then = again.end()
    keys = [t["key"] for t in again.trials]
    yield Finding(
        "PostgreSQL stopped; the command repeated without it",
        "F183, exit 1, the best schedule and every trial on disk; then it goes on, exit 0",
        f"{'F183' if told else 'no F183'}, exit {code} after {seconds:.1f} s, "
        f"{len(before)} trials; then {len(keys) - len(before)} more, {len(keys) - len(set(keys))} repeated, "
        f"exit {then}",
        told and whole and code == 1 and then == 0 and len(keys) == len(set(keys)) == len(before) + 4,
    )


def findings(folder: Path, trials: int) -> Iterator[Finding]:
    yield from lost_workers(folder / "workers", trials)
    with cluster() as made:
        for core in (CORES[0], CORES[-1]):
            made.add(core=core)
        yield from lost_tuner(folder / "tuner", made)
        yield from lost_scheduler(folder / "scheduler", made)
    (folder / "study").mkdir()
    yield from shared_study(folder / "study", trials)
    yield from lost_storage(folder / "storage")


def table(rows: list[Finding], seconds: float) -> str:
    lines = [
        "# Many machines, killed on the way",
        "",
        f"`./scripts/cluster-check` prints this table again: {len(CORES)} cores, Dask and PostgreSQL as"
        f" processes on loopback, matmul 64x64x64 on opencl:0; {seconds:.0f} s.",
        "",
        "| what | wanted | found | |",
        "|---|---|---|---|",
        *(f"| {r.what} | {r.wanted} | {r.found} | {'ok' if r.right else 'NOT SO'} |" for r in rows),
    ]
    return "\n".join(lines) + "\n"


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--trials", type=int, default=40)
    given = parser.parse_args()
    begun, rows = time.monotonic(), list[Finding]()
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        for row in findings(Path(folder), given.trials):
            print(f"{'ok' if row.right else 'NOT SO'}: {row.what}: {row.found}", flush=True)  # noqa: T201
            rows.append(row)
    text = table(rows, time.monotonic() - begun)
    (ROOT / "artifacts" / "tuner_cluster.md").write_text(text, encoding="utf-8")
    return 0 if all(r.right for r in rows) else 1


if __name__ == "__main__":
    sys.exit(main())
