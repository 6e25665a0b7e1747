"""artifacts/soundness.md, from the parts of a campaign in one folder."""

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from tests.soundness.batch import Row

KINDS = ("equal", "refused", "undecided", "wrong", "crash", "traceback", "report", "judge")
HEAD = """# Soundness: random programs against C's own meaning

`scripts/soundness` draws C functions of one to five statements over shared arrays, whose dependences
matter: starts, ends and second outputs that read or write what a reduction does, at shifted, reversed,
transposed and gathered elements. C's meaning is the interpreter's, on the text: statement after statement, by
C's integer and float rules. It shares no step with the compiler beyond the parser, and is itself held against
C compilers.

- `none`: the front end with its proof; the merged Program, by both vectorised references, and by one that
  runs the points of each stage in a random order, against the interpreter.
- a device: also lowered, built, run and judged within the interpreter's bounds; inputs stay as they are.
- `schedules`: by random schedules in place of the default ones.
- `native`: the interpreter against C compilers, bit for bit.

"""
MEANINGS = """
*refused*: mdh says no, with a code (table below). *undecided*: a comparison of floats is closer than their
error, for three sets of arguments. *wrong*: another result. *crash*: the process died or hung. *report*:
something legal was not built. *judge*: the interpreter is not a C compiler's.
"""


def page(folder: Path, before: str = "") -> str:
    """The whole page. before: the page as it was, which keeps what the folder has nothing of."""
    parts = {
        p.stem: rows_of(p) for p in sorted(folder.glob("*.jsonl")) if not p.stem.startswith("expressions")
    }
    old = _sections(before)
    lines = [HEAD.rstrip(), "", "## Programs", ""]
    lines += _programs(parts, _table(old.get("Programs", [])))
    lines += [MEANINGS.rstrip(), "", *_codes(parts, _table(old.get("Refusals by code", [])))]
    for title, new in (
        ("Expressions bit for bit", _expressions(sorted(folder.glob("expressions-*.jsonl")))),
        ("Planted faults", _faults(folder / "faults.json")),
        ("Checkers", _notes(folder / "notes.json")),
    ):
        lines += new or ([f"## {title}", *old[title]] if title in old else [])
    return "\n".join(lines).rstrip("\n") + "\n"


def _sections(text: str) -> dict[str, list[str]]:
    """The lines below each heading of a page."""
    out: dict[str, list[str]] = {}
    for line in text.splitlines():
        if line.startswith("## "):
            here = out.setdefault(line[3:], [])
        elif out:
            here.append(line)
    return out


def _table(lines: Sequence[str]) -> dict[str, dict[str, str]]:
    """Of each row of a table: column -> cell. The first column names the row."""
    cells = [[c.strip() for c in line.strip("|").split("|")] for line in lines if line.startswith("| ")]
    return {row[0]: dict(zip(cells[0], row, strict=True)) for row in cells[1:]}


def rows_of(path: Path) -> list[Row]:
    """The last word on every seed."""
    return list({r["seed"]: Row(**r) for r in _lines(path)}.values())


def _lines(path: Path) -> Iterator[dict[str, Any]]:
    for line in path.read_text(encoding="utf-8").splitlines():
        try:
            yield json.loads(line)
        except ValueError:
            continue


def accepted(rows: Sequence[Row]) -> int:
    """Programs that the front end took; a schedule's refusal (K…, S…) comes after that."""
    return sum(r.kind != "refused" or not r.detail.startswith(("C", "A")) for r in rows)


def seeds_text(rows: Sequence[Row]) -> str:
    """Runs of seeds: `0–99,999`."""
    seeds = sorted(r.seed for r in rows)
    runs: list[list[int]] = []
    for s in seeds:
        if runs and s == runs[-1][1] + 1:
            runs[-1][1] = s
        else:
            runs.append([s, s])
    return ", ".join(f"{a:,}–{b:,}" for a, b in runs)


def _programs(parts: dict[str, list[Row]], old: dict[str, dict[str, str]]) -> list[str]:
    out = [f"| part | programs | seeds | accepted | {' | '.join(KINDS)} |", "|" + "---|" * (4 + len(KINDS))]
    for name in sorted({*parts, *old}):
        if name not in parts:
            out.append(f"| {' | '.join(old[name].values())} |")
            continue
        rows = parts[name]
        kinds = Counter(r.kind for r in rows)
        share = accepted(rows) / max(1, len(rows))
        counts = " | ".join(f"{kinds[k]:,}" for k in KINDS)
        out.append(f"| {name} | {len(rows):,} | {seeds_text(rows)} | {share:.1%} | {counts} |")
    return out


def _codes(parts: dict[str, list[Row]], old: dict[str, dict[str, str]]) -> list[str]:
    counts = {
        name: {c: int(n.replace(",", "")) for c, n in row.items() if c != "part"} for name, row in old.items()
    }
    for name, rows in parts.items():
        counts[name] = Counter(c for r in rows if r.kind == "refused" for c in r.detail.split())
    codes = sorted({c for found in counts.values() for c, n in found.items() if n})
    if not codes:
        return []
    out = ["## Refusals by code", "", f"| part | {' | '.join(codes)} |", "|" + "---|" * (1 + len(codes))]
    for name in sorted(counts):
        out.append(f"| {name} | {' | '.join(f'{counts[name].get(c, 0):,}' for c in codes)} |")
    return [*out, ""]


def _expressions(paths: Sequence[Path]) -> list[str]:
    out = []
    for path in paths:
        batches = {b["first"]: b for b in _lines(path)}.values()
        equal: Counter[str] = Counter()
        for b in batches:
            equal.update(b["equal"])
        different = sum(len(b["differences"]) for b in batches)
        total = sum(b["expressions"] for b in batches)
        each = ", ".join(f"{by} {n:,}" for by, n in sorted(equal.items()))
        device = path.stem.removeprefix("expressions-")
        refused = sum(b["refused"] for b in batches)
        out.append(
            f"- {total:,} expressions ({device}): equal bits by {each}; {refused} refused with functions in"
            f" which a signed constant overflows or an expression is too large; {different} differences"
        )
    if not out:
        return []
    note = (
        "All integer types and strict floats, ten expressions a function, 24 elements with the ends of each "
        "type's range, against the C compiler at -O0. The vectorised reference is not asked where a function "
        "calls `fma`, which it rounds twice."
    )
    return ["## Expressions bit for bit", "", note, "", *out, ""]


def _faults(path: Path) -> list[str]:
    if not path.exists():
        return []
    found = json.loads(path.read_text(encoding="utf-8"))
    missed = sum(f["seed"] is None for f in found)
    told = f"{len(found)} faults in the search for stages and in its proof; {missed} not found."
    out = ["## Planted faults", "", told, "",
           "| fault | found by program | seen as |", "|---|---|---|"]  # fmt: skip
    for f in found:
        where = f"{f['tried']} (seed {f['seed']})" if f["seed"] is not None else f"none of {f['tried']}"
        out.append(f"| {f['fault']} | {where} | {f['detail'].split(':')[0] or 'nothing'} |")
    return [*out, ""]


def _notes(path: Path) -> list[str]:
    if not path.exists():
        return []
    notes = json.loads(path.read_text(encoding="utf-8"))
    return ["## Checkers", "", *(f"- {name}: {result}" for name, result in sorted(notes.items())), ""]
