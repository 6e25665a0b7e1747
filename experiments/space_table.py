"""Measures all programs of a space, once each: the ground truth that searches are compared on."""

import argparse
import asyncio
import json
import shlex
import sys
import time
from pathlib import Path

from mdh.diagnostics import Failed
from mdh.frontend.c.read import read_program
from mdh.results.trial import Candidate, Effort, Job, Limits, Outcome
from mdh.schedule.parser import parse_schedule
from mdh.source import Source
from mdh.tuner.measure.local import LocalBench
from mdh.tuner.space import ExactSpace, identity, make_space

ROOT = Path(__file__).resolve().parent.parent
EFFORT = Effort(samples=15, seconds=0.1, inputs=1)
SCHEMA = "mdh.table/1"
MOST = 50_000
"""Structurally legal points of a space that is measured in full."""


def job_of(path: Path, text: str, device: str) -> Job:
    """The program and sizes of the line `// space FILE.c -D N=…`."""
    words = shlex.split(next(x for x in text.splitlines() if x.startswith("// space ")))[2:]
    sizes = tuple((w.partition("=")[0], int(w.partition("=")[2])) for w in words[2::2])
    file = ROOT / words[0]
    return Job(str(file), file.read_text(encoding="utf-8"), sizes, device=device)


async def measure(path: Path, device: str, out: Path) -> str:
    """Writes the table of one space and returns its row for people."""
    text = path.read_text(encoding="utf-8")
    job = job_of(path, text, device)
    program = read_program(Source(job.path, job.source), defines=dict(job.defines))
    start = time.perf_counter()
    async with LocalBench(job) as bench:
        ground = bench.ground
        space = make_space(program, parse_schedule(Source(str(path), text)), ground.machine, ground.target)
        if space.count > MOST:
            return f"| {path.stem} | left out: {space.count:,} points by structure |" + " |" * 6
        legal, known = points_of(space)
        gate = asyncio.Semaphore(bench.slots)

        async def one(key: str, schedule: str) -> tuple[str, Outcome]:
            async with gate:
                return key, await bench.trial(Candidate(key, schedule), EFFORT, Limits())

        outcomes = dict(await asyncio.gather(*(one(key, schedule) for key, schedule in known.items())))
        title = ground.title
    failed = [str(o.failure) for o in outcomes.values() if o.failure is not None]
    write(out / f"{path.stem}.jsonl", path.stem, space, legal, outcomes, title)
    took = time.perf_counter() - start
    times = [o.seconds for o in outcomes.values() if o.seconds is not None]
    rate = 60 * len(known) / took
    return (
        f"| {path.stem} | {len(legal)} | {len(known)} | {len(failed)} {' '.join(sorted(set(failed)))} |"
        f" {min(times) * 1e6:.1f} | {max(times) / min(times):.0f} | {took:.0f} | {rate:.0f} |"
    )


def points_of(space: ExactSpace) -> tuple[dict[tuple[int | str, ...], str], dict[str, str]]:
    """Legal points with the identity of their program, and a schedule of each program."""
    legal: dict[tuple[int | str, ...], str] = {}
    known: dict[str, str] = {}
    for rank in range(space.count):
        point = space.unrank(rank)
        plan = space.plan(point)
        if not isinstance(plan, Failed):
            legal[point] = identity(plan)
            known.setdefault(legal[point], plan.text)
    return legal, known


def write(
    path: Path, name: str, space: ExactSpace, legal: dict[tuple[int | str, ...], str],
    outcomes: dict[str, Outcome], title: str,
) -> None:  # fmt: skip
    variables = [
        {
            "name": v.name,
            "kind": str(v.kind),
            "dim": v.dim,
            "extent": v.extent,
            "stage": v.stage,
            "step": v.step,
        }
        for v in space.variables
    ]
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", encoding="utf-8") as out:
        head = {"schema": SCHEMA, "name": name, "device": title, "variables": variables}
        out.write(json.dumps(head) + "\n")
        for point, key in legal.items():
            found = outcomes[key]
            cost = found.build_seconds + found.check_seconds + found.measure_seconds
            line = {"point": list(point), "seconds": found.seconds, "cost": round(cost, 4)}
            out.write(json.dumps(line) + "\n")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("device", help="cuda:0, opencl:0")
    parser.add_argument("prefix", help="of the spaces: h200, cpu, cpu_matmul")
    parser.add_argument("--out", type=Path, default=ROOT / "artifacts" / "spaces")
    options = parser.parse_args()
    spaces = sorted((ROOT / "experiments" / "spaces").glob(f"{options.prefix}*.mdh"))
    if not spaces:
        parser.error(f"no space under experiments/spaces begins with `{options.prefix}`")
    options.out.mkdir(parents=True, exist_ok=True)
    head = (
        "| space | points | programs | failed | fastest, µs | slowest / fastest | s | programs a minute |\n"
    )
    rows = [head + "|---|---|---|---|---|---|---|---|"]
    sys.stdout.write(rows[0] + "\n")
    for path in spaces:
        rows.append(asyncio.run(measure(path, options.device, options.out)))
        sys.stdout.write(rows[-1] + "\n")
        sys.stdout.flush()
    (options.out / f"{options.prefix}.md").write_text("\n".join(rows) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
