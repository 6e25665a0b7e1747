"""`scripts/reliability`: runs rows of the table about reliability and writes artifacts/reliability.md.

    scripts/reliability                        the table, of what is kept and of other commands' pages
    scripts/reliability --rows R10,R18         runs these, at full number; goes on where a run was ended
    scripts/reliability --rows all --scale 0.01    a quick look, which meets no target
    scripts/reliability --rows R14,R15,R16 --device cuda:0 --gpu

A row is met at its full number alone. What a row found is kept as JSON and is not run again; --again does.
"""

import argparse
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

from tests.reliability.pages import readable
from tests.reliability.row import Found, Row, Setting, keep, kept
from tests.reliability.table import ROWS
from tests.support.source_tree import ROOT

ARTIFACTS = ROOT / "artifacts"


def found_of(row: Row, out: Path) -> Found | None:
    """What is kept of a row, else what the project's page says."""
    held = kept(out, row.id)
    if held is not None:
        return held
    page = ARTIFACTS / row.page if row.page else None
    if page is None or row.read is None or not page.exists():
        return None
    return readable(row.read, page.read_text(encoding="utf-8"))


def run(row: Row, setting: Setting) -> Found | None:
    """Runs a row here; None where it needs a GPU that is not offered, or has no command that counts."""
    if row.gpu and not setting.gpu:
        return None
    if row.run is not None:
        return row.run(setting)
    if row.command is None or row.read is None or row.page is None:
        return None
    folder = setting.out / row.id
    folder.mkdir(parents=True, exist_ok=True)
    done = subprocess.run(row.command(setting, folder / row.page), check=False, cwd=ROOT)
    # commands without a place of their own for the page write the project's
    page = next((p for p in (folder / row.page, ARTIFACTS / row.page) if p.exists()), None)
    found = None if page is None else readable(row.read, page.read_text(encoding="utf-8"))
    if found is not None and done.returncode:
        found = replace(found, good=False, notes=(*found.notes, f"exit status {done.returncode}"))
    return found


def table(rows: tuple[Row, ...], out: Path) -> str:
    lines = [
        "# Reliability: what is tested, what is asked, what was measured",
        "",
        "`scripts/reliability` prints this page; `--rows R10,R18` runs rows. *met*: at the full number;",
        "*in part*: kept at a smaller one; *short*: not kept; *not run*: no figure yet.",
        "",
        "| id | tested | target | figure | state | shown by |",
        "|---|---|---|---|---|---|",
    ]
    notes = []
    for row in rows:
        found = found_of(row, out)
        figure, state = ("", "not run") if found is None else (found.figure, found.state)
        if found is not None and state == "in part" and found.ran:
            figure += f" ({found.ran:,} of {found.full:,})"
        shown = f"[`{row.shown}`]({row.page})" if row.page else f"`{row.shown}`"
        lines.append(f"| {row.id} | {row.test} | {row.target} | {figure} | {state} | {shown} |")
        if found is not None and found.notes:
            # of a note of several lines the first says enough
            firsts = (n.strip().splitlines()[0].rstrip(":") for n in found.notes if n.strip())
            notes.append(f"- {row.id}: {'; '.join(firsts)}")
    return "\n".join([*lines, "", "Notes:", "", *notes]) + "\n"


def main(words: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="scripts/reliability", description=__doc__)
    parser.add_argument("--rows", default="", help="R1,R6; all; absent: none is run")
    parser.add_argument("--scale", type=float, default=1.0, help="share of each row's number")
    parser.add_argument("--out", type=Path, default=ARTIFACTS / "reliability", help="where results are kept")
    parser.add_argument("--device", default="opencl:0")
    parser.add_argument("--gpu", action="store_true", help="there is an NVIDIA GPU to use")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--minutes", type=float, help="a long search ends after so many")
    parser.add_argument("--again", action="store_true", help="also rows whose result is kept")
    given = parser.parse_args(words)
    names = [r.id for r in ROWS] if given.rows == "all" else [n for n in given.rows.split(",") if n]
    unknown = set(names) - {r.id for r in ROWS}
    if unknown:
        parser.error(f"no row {', '.join(sorted(unknown))}; rows: {', '.join(r.id for r in ROWS)}")
    setting = Setting(
        given.out.resolve(), given.scale, given.seed, given.device, given.jobs, given.gpu, given.minutes
    )
    page = (ARTIFACTS if given.out == ARTIFACTS / "reliability" else given.out) / "reliability.md"
    page.parent.mkdir(parents=True, exist_ok=True)
    short = False
    for row in (r for r in ROWS if r.id in names):
        held = kept(setting.out, row.id)
        if held is not None and held.ran >= setting.number(held.full) and not given.again:
            sys.stderr.write(f"{row.id}: kept ({held.state})\n")
            continue
        sys.stderr.write(f"{row.id}: {row.test}\n")
        found = run(row, setting)
        if found is not None:
            keep(setting, row.id, found)
            short |= found.state == "short"
        sys.stderr.write(f"{row.id}: {'not run here' if found is None else found.state}\n")
        page.write_text(table(ROWS, setting.out), encoding="utf-8")
    text = table(ROWS, setting.out)
    page.write_text(text, encoding="utf-8")
    sys.stdout.write(text)
    return 1 if short else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
