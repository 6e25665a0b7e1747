"""`python -m tests.soundness`: see tests/soundness/campaign.py."""

import argparse
import json
import sys
from dataclasses import asdict
from pathlib import Path

from tests.soundness import campaign, faults
from tests.soundness.page import page

PAGE = Path(__file__).resolve().parents[2] / "artifacts" / "soundness.md"


def main(argv: list[str]) -> int:
    parser = argparse.ArgumentParser(
        prog="scripts/soundness", description=campaign.__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--programs", type=int, default=0)
    parser.add_argument("--expressions", type=int, default=0)
    parser.add_argument("--faults", nargs="?", type=int, const=2000, help="look in so many programs at most")
    parser.add_argument("--page", action="store_true")
    parser.add_argument("--note", nargs=2, metavar=("NAME", "RESULT"), help="a line for the page")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--device", default="none", help="none, c, opencl:0, oclgrind, cuda:0")
    parser.add_argument("--machine", help="a machine file's name, where it is not the device's own")
    parser.add_argument("--schedules", action="store_true", help="random schedules, not the default ones")
    parser.add_argument("--sanitized", action="store_true", help="on c: under ASan and UBSan")
    parser.add_argument(
        "--gcc", type=int, default=0, help="so many programs are compared with C compilers too"
    )
    parser.add_argument("--jobs", type=int, default=2, help="processes; 0: all in this one")
    parser.add_argument("--minutes", type=float, default=1e6, help="begin no batch after that time")
    parser.add_argument("--out", default="soundness", help="the folder of the parts")
    parser.add_argument("--shrink", type=int, default=20, help="most failures that are made smaller")
    given = parser.parse_args(argv)
    status = 0
    if given.programs:
        status |= campaign.main_programs(given)
    if given.expressions:
        status |= campaign.main_expressions(given)
    folder = Path(given.out)
    if given.faults:
        status |= plant(folder, given.faults, given.jobs)
    if given.note:
        path = folder / "notes.json"
        notes = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
        notes[given.note[0]] = given.note[1]
        path.write_text(json.dumps(notes, indent=1, sort_keys=True) + "\n", encoding="utf-8")
    if given.page:
        before = PAGE.read_text(encoding="utf-8") if PAGE.exists() else ""
        PAGE.write_text(page(folder, before), encoding="utf-8")
    return status


def plant(folder: Path, most: int, jobs: int) -> int:
    """The table of planted faults, printed and kept; 1 where one is not found."""
    found = faults.find_all(range(most), max(1, jobs), limit=900.0)
    folder.mkdir(parents=True, exist_ok=True)
    text = json.dumps([asdict(f) for f in found], indent=1)
    (folder / "faults.json").write_text(text + "\n", encoding="utf-8")
    for f in found:
        where = "NOT FOUND" if f.seed is None else f"program {f.tried}"
        campaign.say(f"{f.fault:55} {where:14} {f.detail}")
    return 1 if any(f.seed is None for f in found) else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
