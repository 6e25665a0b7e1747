"""SIGINT and SIGTERM at random moments of `mdh tune`, `compare`, `run` and `compile`."""

import argparse
import os
import random
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from mdh.diagnostics import Failed
from mdh.schedule.parser import parse_schedule
from mdh.source import Source
from mdh.tuner.records.read import read_record

ROOT = Path(__file__).resolve().parents[2]
CODES = {signal.SIGINT: 130, signal.SIGTERM: 143}
LIMIT = 5.0
"""Seconds from the signal to the end of the process."""
SIZES = ("-D", "M=48", "-D", "N=48", "-D", "K=48")
MATMUL = str(ROOT / "inputs_c" / "matmul.c")
CPU = ("--device", "opencl:0")
LINES = {
    "tune": ("tune", MATMUL, *SIZES, *CPU, "--budget", "20s", "-o", "out"),
    "compare": ("compare", MATMUL, *SIZES, *CPU),
    "run": ("run", MATMUL, *SIZES, *CPU, "--check", "--repeat", "1000"),
    "compile": ("compile", MATMUL, *SIZES, "--machine", "generic-cpu", "-o", "out"),
}
PART = ("tune", "tune", "compare", "tune", "run", "tune", "tune", "compile")
"""Verbs in turns."""


@dataclass(frozen=True, slots=True)
class Shot:
    """at: part of the undisturbed run's time; code: of the exit; None of `wrong`: all is well."""

    verb: str
    number: signal.Signals
    at: float
    code: int
    seconds: float
    best: bool
    wrong: str = ""


def started(verb: str, folder: Path) -> "subprocess.Popen[bytes]":
    with (folder / "said").open("wb") as said:
        return subprocess.Popen(
            [sys.executable, "-m", "mdh", *LINES[verb]], cwd=folder, stdin=subprocess.DEVNULL, stdout=said,
            stderr=said, env={**os.environ, "PYTHONPATH": str(ROOT)},
        )  # fmt: skip


def undisturbed(verb: str) -> float:
    """Seconds of a whole run."""
    with tempfile.TemporaryDirectory() as folder:
        begun = time.monotonic()
        started(verb, Path(folder)).wait(600)
        return time.monotonic() - begun


def shot(verb: str, number: signal.Signals, at: float, whole: float) -> Shot:
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as name:
        folder = Path(name)
        process = started(verb, folder)
        time.sleep(at * whole)
        over = process.poll() is not None
        begun = time.monotonic()
        process.send_signal(number)
        try:
            code = process.wait(60)
        except subprocess.TimeoutExpired:
            process.kill()
            code = process.wait()
        seconds = time.monotonic() - begun
        best, wrong = judged(folder, (folder / "said").read_text(errors="replace"))
    # while the interpreter is taken down, the signal itself ends it: shells show the same number
    if not over and code not in (CODES[number], -number, 0):
        wrong = wrong or f"exit {code}"
    if seconds > LIMIT:
        wrong = wrong or f"{seconds:.1f} s"
    return Shot(verb, number, at, code, seconds, best, wrong)


def judged(folder: Path, said: str) -> tuple[bool, str]:
    """Is the best schedule on disk, and what is wrong with what was left behind."""
    if "Traceback" in said or "B101" in said:
        return False, "a traceback"
    found = list(folder.glob("out/*.mdh"))
    try:
        for path in found:
            parse_schedule(Source(path.name, path.read_text()))
        records = [read_record(str(path)) for path in folder.glob("out/*.jsonl")]
    except Failed as failed:
        return bool(found), str(failed)
    right = any(t.phase == "quick" and t.outcome.seconds for _, trials, _ in records for t in trials)
    return bool(found), "" if found or not right else "a right trial on record and no best schedule"


def page(shots: list[Shot], seed: int) -> str:
    late = [s for s in shots if s.code != 0]
    seconds = sorted(s.seconds for s in late) or [0.0]
    lines = [
        "# Signals at random moments", "",
        f"`./scripts/signal-run --points {len(shots)} --seed {seed}` on {os.cpu_count()} cores.", "",
        "| | |", "|---|---|",
        f"| points | {len(shots)} |",
        f"| ended as they must | {sum(not s.wrong for s in shots)} of {len(shots)} |",
        f"| of them before the signal mattered (exit 0) | {len(shots) - len(late)} |",
        f"| seconds to the end, median | {statistics.median(seconds):.2f} |",
        f"| seconds to the end, worst | {seconds[-1]:.2f} |",
        f"| tunings with a best schedule on disk | {sum(s.best for s in shots if s.verb == 'tune')}"
        f" of {sum(s.verb == 'tune' for s in shots)}, the others had measured nothing right yet |",
        *(f"| {s.verb}, {s.number.name} at {s.at:.0%} of its time | {s.wrong} |" for s in shots if s.wrong),
    ]  # fmt: skip
    return "\n".join(lines) + "\n"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--points", type=int, default=50)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path, default=ROOT / "artifacts" / "tuner_signals.md")
    options = parser.parse_args()
    rng = random.Random(options.seed)
    verbs = [PART[n % len(PART)] for n in range(options.points)]
    whole = {verb: undisturbed(verb) for verb in dict.fromkeys(verbs)}
    shots: list[Shot] = []
    for n, verb in enumerate(verbs):
        shots.append(shot(verb, tuple(CODES)[(n // len(PART) + n) % 2], rng.uniform(0.0, 0.98), whole[verb]))
        sys.stderr.write(f"{n + 1}: {shots[-1]}\n")
    text = page(shots, options.seed)
    options.out.write_text(text, encoding="utf-8")
    sys.stdout.write(text)
    return 1 if any(s.wrong for s in shots) else 0


if __name__ == "__main__":
    sys.exit(main())
