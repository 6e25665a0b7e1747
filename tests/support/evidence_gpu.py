"""`scripts/evidence-gpu`: the columns that need an NVIDIA GPU, written to artifacts/evidence_gpu.json.

Without options: every input with every schedule for GPUs, by CUDA and by NVIDIA's OpenCL, at small sizes and,
where the reference is quick, at full ones. `--sample`: a few launches of everything, to run under
compute-sanitizer; `--note NAME RESULT` adds a line to the file.
"""

import argparse
import json
import sys
from collections.abc import Iterator, Sequence
from math import prod
from typing import Any

from mdh.device.api import list_devices
from mdh.frontend.c.read import read_program
from tests.support.corpus import WORKLOADS, Sizes
from tests.support.evidence import ARTIFACTS, worse, wrong
from tests.support.evidence_tasks import Cell, full_cells, run_cells, small_cells
from tests.support.workers import run_tasks

PATH = ARTIFACTS / "evidence_gpu.json"
POINTS = 1 << 26
"""Full sizes of at most this many points are judged, and products of matrices up to 2^31."""
CONTRACTIONS = ("matmul", "batched", "ccsdt", "matvec", "dot", "conv2d_56")


def main(argv: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(prog="scripts/evidence-gpu", description=__doc__)
    parser.add_argument("--sample", action="store_true")
    parser.add_argument("--note", nargs=2, metavar=("NAME", "RESULT"))
    parser.add_argument("--small", action="store_true", help="small sizes alone")
    given = parser.parse_args(argv)
    if given.note:
        found = _read()
        found.setdefault("notes", {})[given.note[0]] = given.note[1]
        _write(found)
        return 0
    if given.sample:
        return sample()
    found = _read()
    devices = gpu_devices()
    found["device"] = ", ".join(title for _, title in devices.values())
    for column, (spec, _) in devices.items():
        _fill(found, column, spec, full=not given.small)
    _write(found)
    bad = {k: v for k, v in found["cells"].items() if wrong(v)}
    for key, result in bad.items():
        sys.stdout.write(f"{key}: {result}\n")
    sys.stdout.write(f"{len(found['cells'])} cells, {len(bad)} wrong\n")
    return 1 if bad else 0


def gpu_devices() -> dict[str, tuple[str, str]]:
    """Column to (spec, title) of the first CUDA device and the first OpenCL GPU."""
    out = {}
    for device in list_devices():
        column = "H200 CUDA" if device.spec.startswith("cuda") else "H200 OpenCL"
        if device.kind == "gpu" and column not in out:
            out[column] = (device.spec, device.title)
    return out


def cells_on(spec: str, *, full: bool) -> Iterator[Cell]:
    for cell in small_cells(spec):
        yield cell
    for cell in full_cells("sm_90a") if full else ():
        if quick(cell.program, cell.sizes):
            yield Cell(spec, cell.schedule, cell.program, cell.sizes, cell.sets)


def quick(program: str, sizes: Sizes) -> bool:
    """The reference judges these sizes in seconds."""
    stages = read_program(WORKLOADS[program].source, defines=dict(sizes)).stages
    points = max(prod(d.extent for d in s.dims) for s in stages)
    return points <= (1 << 31 if program.startswith(CONTRACTIONS) else POINTS)


def _fill(found: dict[str, Any], column: str, spec: str, *, full: bool) -> None:
    cells = found.setdefault("cells", {})
    for key in [k for k in cells if k.startswith(column + "|")]:
        del cells[key]
    for done in run_tasks(run_cells, spec, cells_on(spec, full=full), jobs=4, limit=200):
        result = done.value if not done.failure else f"CRASH {done.failure.strip().splitlines()[-1]}"
        if wrong(result):
            sys.stderr.write(f"{column} {done.key}: {result}\n{done.failure}\n")
        key = f"{column}|{done.key.program}|{done.key.schedule}"
        cells[key] = worse(cells.get(key, ""), result)


def sample() -> int:
    """The smallest size of every row by CUDA, in this process."""
    task, seen, bad = run_cells("cuda:0"), set(), 0
    for cell in small_cells("cuda:0"):
        if cell.row in seen:
            continue
        seen.add(cell.row)
        result = task(cell)
        if wrong(result):
            bad += 1
            sys.stdout.write(f"{cell}: {result}\n")
    sys.stdout.write(f"{len(seen)} rows, {bad} wrong\n")
    return 1 if bad else 0


def _read() -> dict[str, Any]:
    found: dict[str, Any] = json.loads(PATH.read_text(encoding="utf-8")) if PATH.exists() else {}
    return found


def _write(found: dict[str, Any]) -> None:
    ARTIFACTS.mkdir(exist_ok=True)
    PATH.write_text(json.dumps(found, indent=1, sort_keys=True) + "\n", encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
