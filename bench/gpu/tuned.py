"""`scripts/bench tuned`: tunes the first products of any sizes, each for so many seconds.

scripts/bench tuned FOLDER --count 20 --budget 60s --minutes 7    on an NVIDIA GPU; goes on where it ended
scripts/bench gpu --random 100 --case 'random any*' --tuned FOLDER times what it found beside libraries
"""

import argparse
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import mdh
from bench.cases import ROOT
from bench.gpu.random_cases import any_products


def main(argv: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(
        prog="scripts/bench tuned", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path, metavar="FOLDER", help="the schedules")
    parser.add_argument("--count", type=int, default=20, help="products")
    parser.add_argument("--budget", default="60s", help="of each")
    parser.add_argument("--minutes", type=float, default=7.0, help="after them no other product is begun")
    parser.add_argument("--device", default="cuda:0")
    given = parser.parse_args(argv)
    end = time.monotonic() + 60 * given.minutes
    for case in any_products()[: given.count]:
        place = schedule_of(given.folder, case.name)
        if place.exists():
            continue
        if time.monotonic() > end:
            break
        work = given.folder / "records" / place.stem
        tuned = mdh.tune(
            ROOT / "inputs_c" / f"{case.program}.c", device=given.device, budget=given.budget,
            defines=dict(case.sizes), out=work,
        )  # fmt: skip
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(Path(tuned.files["schedule"]).read_text(encoding="utf-8"), encoding="utf-8")
        sys.stderr.write(f"{case.name}: {len(tuned.trials)} trials, {tuned.speedup:.2f} of the default\n")
    return 0


def schedule_of(folder: Path, case: str) -> Path:
    """The file of a case's schedule."""
    return folder / f"{case.replace(' ', '_')}.mdh"
