"""Prints the time of each arrow for every shipped program as a table, and keeps it in artifacts/arrows.md."""

import argparse
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from mdh.checker.run import check
from mdh.diagnostics import Failed
from mdh.frontend.bound import BoundText
from mdh.frontend.c.read import bound_text, read_program
from mdh.ir.program import Program
from mdh.lower.run import lower
from mdh.machine import load_machine
from mdh.schedule.default import default_schedule
from mdh.schedule.parser import parse_schedule
from mdh.schedule.printer import print_schedule
from mdh.source import Source
from mdh.target.emit import emit
from mdh.verify.comparison import difference, small_program

T = TypeVar("T")
ROOT = Path(__file__).resolve().parent.parent
ARROWS = ("c", "validate", "default", "schedule", "check", "lower", "emit")
MACHINES = ("generic-cpu", "a100")
REPEAT = 5


def arrows_once(path: Path, machine_name: str) -> dict[str, float]:
    """Milliseconds of each arrow, in order; `schedule` parses the default schedule's own text."""
    machine = load_machine(machine_name)
    target = machine.targets[0]
    times: dict[str, float] = {}

    def timed(name: str, arrow: Callable[[], T]) -> T:
        start = time.perf_counter()
        value = arrow()
        times[name] = (time.perf_counter() - start) * 1e3
        return value

    source = Source(str(path), path.read_text(encoding="utf-8"))
    pre = bound_text(source)
    program = timed("c", lambda: read_program(source))
    small = timed("validate", lambda: _validated(pre, program))
    assert small is not None, f"{path} is compared with no small program"
    schedule = timed("default", lambda: default_schedule(program, machine, target))
    text = Source("<default>", print_schedule(schedule))
    schedule = timed("schedule", lambda: parse_schedule(text))
    plan = timed("check", lambda: check(program, schedule, machine, target))
    module = timed("lower", lambda: lower(plan))
    timed("emit", lambda: emit(module, program))
    return times


def _validated(pre: BoundText, program: Program) -> Program | None:
    """`verify.translation.validate` without what it remembers."""
    small = small_program(pre, program)
    return small if small is None or difference(small) is None else None


def row(path: Path, machine: str) -> str:
    """One line of the table: the fastest of some runs, since everything else is noise of the machine."""
    try:
        runs = [arrows_once(path, machine) for _ in range(REPEAT)]
    except Failed as failed:
        return f"| {path.stem} | {machine} | {failed.diagnostics[0].code} | | | | | | | |"
    best = {arrow: min(run[arrow] for run in runs) for arrow in ARROWS}
    total = sum(best[a] for a in ARROWS if a != "default")
    cells = " | ".join(f"{best[a]:.1f}" for a in ARROWS)
    return f"| {path.stem} | {machine} | {cells} | {total:.1f} |"


def help_time() -> float:
    """Median seconds of `mdh --help`, interpreter start included."""
    samples = []
    for _ in range(11):
        start = time.perf_counter()
        subprocess.run([sys.executable, "-m", "mdh", "--help"], check=True, stdout=subprocess.DEVNULL)
        samples.append(time.perf_counter() - start)
    return statistics.median(samples)


def main() -> None:
    argparse.ArgumentParser(prog="scripts/bench-arrows", description=__doc__).parse_args()
    lines = [
        "# Time of each arrow",
        "",
        "Milliseconds, fastest of several runs in one process, default schedules; `total` leaves out",
        "deriving the schedule. `./scripts/bench-arrows` prints this table again.",
        "",
        f"`mdh --help`: {help_time():.3f} s.",
        "",
        f"| program | machine | {' | '.join(ARROWS)} | total |",
        "|---|---|" + "---:|" * (len(ARROWS) + 1),
    ]
    for path in sorted((ROOT / "inputs_c").glob("*.c")):
        lines.extend(row(path, machine) for machine in MACHINES)
    text = "\n".join(lines) + "\n"
    sys.stdout.write(text)
    (ROOT / "artifacts").mkdir(exist_ok=True)
    (ROOT / "artifacts" / "arrows.md").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
