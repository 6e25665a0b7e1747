"""`scripts/sanitizers`: random programs under compute-sanitizer (CUDA), ASan and UBSan (C).

    scripts/sanitizers                     C: 200 programs by default schedules, 200 by random ones
    scripts/sanitizers --devices c,cuda:0  and memcheck, initcheck, racecheck and synccheck

Counted are programs that were accepted, built and run; so many more are drawn as are refused. What came of
every seed in C is kept in --parts, and a later call goes on there. Rows of devices that are not run now stay
on the page. Exit status 1 where a tool reports something, or a program is wrong.
"""

import argparse
import os
import re
import subprocess
import sys
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from time import monotonic

from tests.soundness.batch import Row, Setting
from tests.soundness.campaign import BATCH, Part, run_programs, say
from tests.soundness.page import rows_of
from tests.support.source_tree import ROOT

CUDA = (("memcheck", 200), ("initcheck", 100), ("racecheck", 50), ("synccheck", 50))
"""Tools of compute-sanitizer, and the programs that each gets."""
C = 200
"""Programs by each kind of schedule."""
CLEAN = re.compile(r"SUMMARY: 0 (errors|hazards displayed)")
LIMIT = 1800.0
"""Seconds of one tool of compute-sanitizer."""
HEAD = """\
# Kernels under checking tools

`./scripts/sanitizers --devices {devices}` prints this table again: random programs of `scripts/soundness`, of
all types that it draws.

- *ran*: programs that were accepted, built and run under the tool, and whose results were judged.
- *reports*: what the tool found; *other*: results that are not C's, and crashes.
- C is built with `-fsanitize=address,undefined -fno-sanitize-recover`, each program as an executable of its
  own. Signed numbers wrap there (`-fwrapv`), so that their overflow is no report.

| device | tool | ran | wanted | reports | other | |
|---|---|---|---|---|---|---|
"""


@dataclass(frozen=True, slots=True)
class Line:
    """What one tool said. words: the first report, or its summary."""

    device: str
    tool: str
    ran: int
    wanted: int
    reports: int
    other: int
    words: str

    @property
    def text(self) -> str:
        words = self.words.replace("|", "/").replace("\n", " ")[:160]
        return (
            f"| {self.device} | {self.tool} | {self.ran} | {self.wanted} | {self.reports} | {self.other} |"
            f" {words} |"
        )


def by_c(wanted: int, schedules: bool, given: argparse.Namespace) -> Line:
    """ASan and UBSan, on as many more seeds as it takes."""
    setting = Setting("c", schedules=schedules, sanitized=True)
    part, drawn = Part(given.parts, setting), 0
    rows: list[Row] = []
    while (ran := _ran(rows)) < wanted:
        drawn += max(1, -(-(wanted - ran) // BATCH)) * BATCH
        seeds = range(given.seed, given.seed + drawn)
        rows = list(run_programs(setting, seeds, jobs=given.jobs, minutes=1e6, part=part).values())
    bad = [r for r in rows if r.kind == "report"]
    other = [r for r in rows if r.verdict.bad and r.kind != "report"]
    words = [f"seed {r.seed}: {r.kind}: {r.detail}" for r in (*bad, *other)]
    name = f"ASan, UBSan ({'random' if schedules else 'default'} schedules)"
    return Line("c", name, ran, wanted, len(bad), len(other), words[0] if words else "")


def _ran(rows: list[Row]) -> int:
    counts = Counter(r.kind for r in rows)
    return counts["equal"] + counts["wrong"] + counts["report"] + counts["crash"]


def by_cuda(tool: str, wanted: int, given: argparse.Namespace) -> Line:
    """One tool of compute-sanitizer on a process that runs all programs. More than a half are accepted."""
    with TemporaryDirectory(prefix="mdh-tool-") as folder:
        words = ["compute-sanitizer", "--tool", tool, "--error-exitcode", "9", sys.executable]
        words += ["-m", "tests.soundness", "--programs", str(2 * wanted), "--seed", str(given.seed)]
        words += ["--device", "cuda:0", "--jobs", "0", "--shrink", "0", "--out", folder]
        done = subprocess.run(
            words, capture_output=True, text=True, errors="replace", check=False, cwd=ROOT, timeout=LIMIT
        )
        parts = list(Path(folder).glob("*.jsonl"))
        rows = rows_of(parts[0]) if parts else []
    said = re.findall(r"(?:ERROR|RACECHECK) SUMMARY.*", done.stdout + done.stderr)
    clean = bool(said) and CLEAN.search(said[-1]) is not None
    count = re.search(r"SUMMARY: (\d+)", said[-1]) if said else None
    reports = 0 if clean else max(1, int(count[1]) if count else 1)
    other = sum(r.verdict.bad for r in rows) + (done.returncode not in (0, 9) and clean)
    words_ = said[-1] if said else (done.stdout + done.stderr).strip()[-160:]
    return Line("cuda:0", f"compute-sanitizer {tool}", _ran(rows), wanted, reports, other, words_)


def kept(path: Path, lines: list[Line]) -> list[str]:
    """Rows of the page about other tools than these."""
    mine = {(line.device, line.tool) for line in lines}
    rows = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    return [
        r for r in rows if r.startswith(("| c |", "| cuda")) and tuple(r[2:].split(" | ")[:2]) not in mine
    ]


def page(path: Path, lines: list[Line]) -> str:
    rows = sorted([*kept(path, lines), *(line.text for line in lines)], key=lambda r: r.split(" | ")[0])
    devices = ",".join(dict.fromkeys(r.split()[1] for r in rows))
    return HEAD.format(devices=devices) + "\n".join(rows) + "\n"


def main(words: list[str]) -> int:
    parser = argparse.ArgumentParser(
        prog="scripts/sanitizers", description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--devices", default="c")
    parser.add_argument("--scale", type=float, default=1.0, help="share of each tool's number")
    parser.add_argument("--seed", type=int, default=900_000)
    parser.add_argument("--jobs", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--parts", type=Path, default=ROOT / "artifacts" / "reliability" / "parts")
    parser.add_argument("--out", type=Path, default=ROOT / "artifacts" / "sanitizers.md")
    given = parser.parse_args(words)

    def number(full: int) -> int:
        return max(1, round(full * given.scale))

    tasks = {
        "c": [lambda s=s: by_c(number(C), s, given) for s in (False, True)],
        "cuda:0": [lambda t=t, n=n: by_cuda(t, number(n), given) for t, n in CUDA],
    }
    lines: list[Line] = []
    for device in given.devices.split(","):
        for task in tasks[device]:
            begun = monotonic()
            lines.append(task())
            say(f"{lines[-1].text} {monotonic() - begun:.0f} s")
            given.out.write_text(page(given.out, lines), encoding="utf-8")
    return 1 if any(line.reports or line.other for line in lines) else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
