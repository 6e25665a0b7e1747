"""`kill -9` of a tuner at random moments: what it had told is kept, and the next run goes on from there."""

import argparse
import os
import random
import re
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from mdh.diagnostics import Failed
from mdh.tuner.records.read import read_record
from mdh.tuner.runtime.processors import processors

WORKERS = 1 + processors()
"""One that measures, and the builders."""
ROOT = Path(__file__).resolve().parents[2]
SCHEDULE = """1: (de-)comp( ?, ?, ^ ) ( ^, ^ ; ^ ) ( BLK.y, BLK.x, ^ )
2: (de-)comp( ?, ?, ? ) ( ^, ^ ; C:RM[1,2] ) ( FOR.1, FOR.2, FOR.3 )
"""
WORKER = "mdh.tuner.measure.worker"
GONE = 5.0
"""Seconds in which workers of a dead tuner must end."""


@dataclass(frozen=True, slots=True)
class Kill:
    """told: trials that the tuner had shown; kept: in the record; more: than before; orphans: workers that
    outlived it; remarks: of reading the record. unreadable: it could not be read.
    under_way: trials that were built and have no line in the record."""

    told: int
    kept: int
    more: int
    orphans: int
    remarks: tuple[str, ...]
    wrong: str = ""
    unreadable: bool = False
    under_way: int = 0


def command(folder: Path, trials: int) -> list[str]:
    sizes = ["-D", "M=48", "-D", "N=48", "-D", "K=48"]
    return [
        sys.executable, "-m", "mdh", "tune", str(ROOT / "inputs_c" / "matmul.c"),
        "-s", str(folder / "s.mdh"), *sizes, "--device", "opencl:0", "--sampler", "random",
        "--trials", str(trials), "--budget", "1h", "-o", str(folder), "--record", str(folder / "r.jsonl"),
    ]  # fmt: skip


def one(folder: Path, rng: random.Random, before: int) -> Kill:
    """Starts the tuner, lets it measure for a random while after its first new trial, kills it."""
    record = folder / "r.jsonl"
    known = lines(record)
    log = folder / "log"
    temporary = folder / "tmp"
    temporary.mkdir(exist_ok=True)
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "TMPDIR": str(temporary)}
    with log.open("w") as out:
        tuner = subprocess.Popen(
            command(folder, 100_000), stdout=out, stderr=out, start_new_session=True, env=environment
        )
        deadline = time.monotonic() + 120
        while time.monotonic() < deadline and tuner.poll() is None:
            # lines, not bytes: a tuner that begins tries whether the disk takes any
            if lines(record) > known:
                break
            time.sleep(0.02)
        time.sleep(rng.expovariate(1 / 1.5))
        os.kill(tuner.pid, signal.SIGKILL)
        tuner.wait()
    # at once: what outlives the tuner removes its folder
    lost = under_way(temporary)
    orphans = left(tuner.pid)
    shown = [int(n.replace(",", "")) for n in re.findall(r"([\d,]+) right", log.read_text())]
    try:
        _, trials, remarks = read_record(str(record))
    except Failed as failed:
        return Kill(shown[-1] if shown else 0, 0, 0, orphans, (), failed.diagnostics[0].headline, True, lost)
    quick = sum(t.phase == "quick" and t.outcome.failure is None for t in trials)
    told = shown[-1] if shown else 0
    wrong = "" if quick >= told and len(trials) >= before else f"{told} told, {quick} kept"
    return Kill(told, len(trials), len(trials) - before, orphans, tuple(remarks), wrong, under_way=lost)


def lines(record: Path) -> int:
    """Whole ones, of trials."""
    found = record.read_bytes().splitlines(keepends=True) if record.exists() else []
    return sum(line.endswith(b"\n") and b'"trial":' in line for line in found)


def under_way(temporary: Path) -> int:
    """Candidates that were handed from builders to measurers and whose trials had not ended. Removes what the
    dead tuner has left."""
    found = list(temporary.glob("mdh-*/[0-9]*.json"))
    shutil.rmtree(temporary, ignore_errors=True)
    return len(found)


def left(parent: int) -> int:
    """Workers of the dead tuner that still run after GONE seconds."""
    deadline = time.monotonic() + GONE
    while True:
        alive = [p for p in Path("/proc").glob("[0-9]*") if _is_worker(p, parent)]
        if not alive or time.monotonic() > deadline:
            return len(alive)
        time.sleep(0.05)


def _is_worker(process: Path, parent: int) -> bool:
    try:
        words = (process / "cmdline").read_bytes().decode(errors="replace").split("\0")
        state = (process / "stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return WORKER in words and str(parent) in words and state != "Z"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path, default=ROOT / "artifacts" / "tuner_kills.md")
    options = parser.parse_args()
    rng = random.Random(options.seed)
    kills: list[Kill] = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "s.mdh").write_text(SCHEDULE)
        for n in range(options.kills):
            kills.append(one(folder, rng, kills[-1].kept if kills else 0))
            sys.stderr.write(f"{n + 1}: {kills[-1]}\n")
        total = kills[-1].kept
        last = subprocess.run(
            command(folder, total + 2),
            check=False,
            capture_output=True,
            env={**os.environ, "PYTHONPATH": str(ROOT)},
        )
    wrong = [k for k in kills if k.wrong]
    torn = sum(bool(k.remarks) for k in kills)
    text = (
        "# A tuner killed and resumed\n\n"
        f"{options.kills} times `kill -9` at random moments of `mdh tune` (seed {options.seed}).\n\n"
        "| | |\n|---|---|\n"
        f"| runs that went on where the last one ended | {options.kills - len(wrong)} of {options.kills} |\n"
        f"| trials in the record in the end | {total} |\n"
        f"| new trials a run, median | {statistics.median(k.more for k in kills):.0f} |\n"
        f"| trials that were shown and are not in the record | {sum(bool(k.wrong) for k in kills)} |\n"
        f"| records that could not be read | {sum(k.unreadable for k in kills)} |\n"
        f"| trials lost a worker, at most | {max(-(-k.under_way // WORKERS) for k in kills)} |\n"
        f"| records with a torn last line, cut off and told | {torn} |\n"
        f"| workers alive {GONE:.0f} s after their tuner | {sum(k.orphans for k in kills)} |\n"
        f"| exit status of the last run, which was left alone | {last.returncode} |\n"
    )
    options.out.write_text(text, encoding="utf-8")
    sys.stdout.write(text)
    sys.exit(1 if wrong or last.returncode else 0)


if __name__ == "__main__":
    main()
