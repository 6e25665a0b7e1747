"""`scripts/evidence`: run everything that step 1 promises and write the table to artifacts/evidence.md.

    scripts/evidence                                   all of it (about an hour on two cores)
    scripts/evidence --pairs 200 --mutations 1000      a shorter one

The columns of a real GPU come from artifacts/evidence_gpu.json, which scripts/evidence-gpu writes.
"""

import argparse
import json
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from tests.support.evidence_tasks import (
    ARCHES,
    Cell,
    compile_cells,
    full_cells,
    legality,
    rows,
    run_cells,
    small_cells,
)
from tests.support.fuzz import fuzz_mutations, fuzz_pairs
from tests.support.source_tree import ROOT
from tests.support.workers import run_tasks

ARTIFACTS = ROOT / "artifacts"
DEVICES = ("opencl:0", "c", "oclgrind")
GPU_COLUMNS = ("H200 CUDA", "H200 OpenCL")
Table = dict[tuple[str, str], dict[str, str]]
INTRODUCTION = """\
Every shipped input with its default schedule and with every shipped schedule that lists it. Written by
`scripts/evidence`; the GPU columns by `scripts/evidence-gpu` on the GPU that they name.
`opencl:0`, `c` and `oclgrind`: results at small sizes against the reference, on small integers and on random
values; Oclgrind checks races, bounds and uninitialised reads. `sm_…`: registers a thread of the CUDA
text at full sizes by NVRTC, without spills or warnings. Empty: the schedule is for other machines."""


def main(argv: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(prog="scripts/evidence", description=__doc__)
    parser.add_argument("--pairs", type=int, default=2000, help="random pairs, shared by the CPU devices")
    parser.add_argument("--mutations", type=int, default=10000, help="damaged texts for each parser")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=2)
    given = parser.parse_args(argv)
    table: Table = {row: {} for row in rows()}
    for spec in DEVICES:
        fill(table, spec, list(small_cells(spec)), given.jobs)
    for arch in ARCHES:
        fill(table, arch, list(full_cells(arch)), given.jobs)
    gpu = gpu_results()
    for column in GPU_COLUMNS:
        for (program, schedule), cells in table.items():
            cells[column] = gpu.get("cells", {}).get(f"{column}|{program}|{schedule}", "")
    text = "\n".join([*_head(table), *_rows(table), *_fuzz(given), *_legality(), *_gpu(gpu)]) + "\n"
    ARTIFACTS.mkdir(exist_ok=True)
    (ARTIFACTS / "evidence.md").write_text(text, encoding="utf-8")
    sys.stdout.write(text)
    return 1 if any(wrong(c) for cells in table.values() for c in cells.values()) else 0


def fill(table: Table, column: str, cells: Sequence[Cell], jobs: int) -> None:
    """Run `cells` and put the worst result of each row into `column`."""
    make = compile_cells if column in ARCHES else run_cells
    for done in run_tasks(make, column, cells, jobs=jobs, limit=600):
        result = done.value if not done.failure else f"CRASH {done.failure.strip().splitlines()[-1]}"
        if wrong(result):
            sys.stderr.write(f"{column} {done.key}: {result}\n{done.failure}\n")
        row = table[done.key.row]
        row[column] = worse(row.get(column, ""), result)


def wrong(result: str) -> bool:
    """Results that are no success say so in capitals."""
    return result.split(" ", maxsplit=1)[0].isupper()


def worse(a: str, b: str) -> str:
    """The one to show for a row: a failure before a refusal before a success; the most registers."""

    def rank(x: str) -> tuple[int, int]:
        words = x.split()
        if wrong(x):
            return 3, 0
        if x.startswith("refused"):
            return 2, 0
        return (1, int(words[0])) if words and words[0].isdigit() else (1 if x else 0, 0)

    return max(a, b, key=rank)


def gpu_results() -> Mapping[str, Any]:
    path = ARTIFACTS / "evidence_gpu.json"
    found: Mapping[str, Any] = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    return found


def _head(table: Table) -> list[str]:
    results = Counter(_class(c) for cells in table.values() for c in cells.values() if c)
    summary = ", ".join(f"{n} {k}" for k, n in results.most_common())
    return [
        "# Evidence",
        "",
        *INTRODUCTION.splitlines(),
        "",
        f"{len(table)} rows; results: {summary}.",
        "",
    ]


def _class(result: str) -> str:
    return "compiled" if result.endswith("registers") else result.split(" ", maxsplit=1)[0]


def _rows(table: Table) -> list[str]:
    columns = [*DEVICES, *ARCHES, *GPU_COLUMNS]
    out = [f"| input | schedule | {' | '.join(columns)} |", "|" + "---|" * (len(columns) + 2)]
    for (program, schedule), cells in table.items():
        shown = " | ".join(cells.get(c, "").replace("|", "/")[:80] for c in columns)
        out.append(f"| {program} | {schedule or 'default'} | {shown} |")
    return [*out, ""]


def _fuzz(given: argparse.Namespace) -> list[str]:
    out = ["## Random pairs and damaged texts", ""]
    for number, spec in enumerate(DEVICES):
        seed = given.seed + number * 1_000_000
        count = given.pairs // len(DEVICES)
        kinds, codes, failures = fuzz_pairs(count, seed, spec, None, given.jobs, 120)
        sys.stderr.writelines(failures)
        out.append(f"- {count} pairs on {spec}, seeds from {seed}: {_counts(kinds)}")
        out.append(f"  refused with {_counts(codes)}")
    for language in ("c", "mdh"):
        codes, failures, longest = fuzz_mutations(language, given.mutations, given.seed, given.jobs, 20)
        sys.stderr.writelines(failures)
        out.append(
            f"- {given.mutations} damaged .{language} texts, seeds from {given.seed}: "
            f"{len(failures)} failures, longest {longest:.2f} s; {_counts(codes)}"
        )
    return [*out, ""]


def _counts(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{k} {v}" for k, v in sorted(counts.items(), key=lambda kv: -kv[1]))


def _legality() -> list[str]:
    out = ["## Schedules on programs that they do not list", ""]
    for machine in ("h200", "generic-cpu"):
        legal, codes = legality(machine)
        out.append(f"- {machine}: {legal} legal, refused with {_counts(codes)}")
    return [*out, ""]


def _gpu(gpu: Mapping[str, Any]) -> list[str]:
    if not gpu:
        return []
    lines = [f"- {k}: {v}" for k, v in gpu.get("notes", {}).items()]
    return ["## On the GPU", "", f"{gpu.get('device', '')}", "", *lines, ""]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
