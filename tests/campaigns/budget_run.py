"""`mdh tune --budget`: when it ends, and whether its best schedule is whole at every moment.

With `--clock 1.4` the clock of the tuner goes 1.4 times as fast (by the program faketime): hours take less.
What the tuner does seems slower to it by as much, and has to end in time all the same.
"""

import argparse
import os
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from mdh.diagnostics import Failed
from mdh.schedule.holes import holes
from mdh.schedule.parser import parse_schedule
from mdh.source import Source
from mdh.tuner.duration import parse_duration
from tests.campaigns.kill_resume import SCHEDULE

ROOT = Path(__file__).resolve().parents[2]
MATMUL = str(ROOT / "inputs_c" / "matmul.c")
SIZES = ("-D", "M=240", "-D", "N=240", "-D", "K=240")
"""A space that hours do not use up."""
WORDS = (*SIZES, "-s", "s.mdh", "--device", "opencl:0", "-o", "out")
_LOOK = 0.05
"""Seconds between two looks at the best schedule."""


@dataclass(frozen=True, slots=True)
class Run:
    """took: seconds from the start of the process to its end, by its clock, which went `clock` times as fast
    as ours; looks: at a best schedule that was there; torn: looks at one that was not whole."""

    budget: float
    clock: float
    took: float
    code: int
    looks: int
    torn: int

    @property
    def limit(self) -> float:
        return self.budget + max(30.0, 0.01 * self.budget)

    @property
    def right(self) -> bool:
        """A run that ends long before its budget shows nothing: its space is used up."""
        in_time = 0.8 * self.budget <= self.took <= self.limit
        return self.code == 0 and in_time and self.looks > 0 and not self.torn


def run(budget: str, clock: float = 1.0) -> Run:
    faster = [] if clock == 1 else ["faketime", "-f", f"+0 x{clock}"]
    looks = torn = 0
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as name:
        folder = Path(name)
        (folder / "s.mdh").write_text(SCHEDULE)
        begun = time.monotonic()
        tuner = subprocess.Popen(
            [*faster, sys.executable, "-m", "mdh", "tune", MATMUL, *WORDS, "--budget", budget],
            cwd=folder, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            env={**os.environ, "PYTHONPATH": str(ROOT)},
        )  # fmt: skip
        while tuner.poll() is None:
            for path in folder.glob("out/*.mdh"):
                looks, torn = looks + 1, torn + (not whole(path))
            time.sleep(_LOOK)
        took = (time.monotonic() - begun) * clock
    return Run(parse_duration(budget), clock, took, tuner.returncode, looks, torn)


def whole(path: Path) -> bool:
    """A schedule without holes."""
    try:
        return not holes(parse_schedule(Source(path.name, path.read_text(encoding="utf-8"))))
    except (Failed, OSError):
        return False


def page(runs: list[Run], budgets: str) -> str:
    rows = [
        f"| {r.budget:.0f} | {r.limit:.0f} | {r.took:.1f} | {r.code} | {r.looks:,} | {r.torn} | ×{r.clock:g} "
        f"| {'ok' if r.right else 'NOT SO'} |"
        for r in runs
    ]
    head = (
        f"# Budgets\n\n`./scripts/budget-run --budgets {budgets}` on {os.cpu_count()} cores: matmul of"
        " 240 on opencl:0.\n\n"
        "| budget, s | may take | took | exit | looks at the best schedule | not whole | its clock | |\n"
        "|---|---|---|---|---|---|---|---|\n"
    )
    return head + "\n".join(rows) + "\n"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--budgets", default="30s,5m")
    parser.add_argument("--clock", type=float, default=1.0)
    parser.add_argument("--out", type=Path, default=ROOT / "artifacts" / "tuner_budgets.md")
    options = parser.parse_args()
    runs = [run(budget, options.clock) for budget in options.budgets.split(",")]
    text = page(runs, options.budgets)
    options.out.write_text(text, encoding="utf-8")
    sys.stdout.write(text)
    return 0 if all(r.right for r in runs) else 1


if __name__ == "__main__":
    sys.exit(main())
