"""Audit of the judge of candidates: `scripts/judge-audit` plants faults and measures right kernels.

A planted fault must not get a time; a legal schedule, split reductions and odd tiles included, must.
"""

import argparse
import asyncio
import json
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from hashlib import sha256
from itertools import groupby
from pathlib import Path

from mdh.device.api import open_device
from mdh.diagnostics import Failed
from mdh.machine import Machine
from mdh.pipeline import Pipeline
from mdh.results.trial import Candidate, Effort, Failure, Job, Limits, Outcome
from mdh.source import Source
from mdh.tuner.measure.local import LocalBench
from tests.support.faulty_worker import planting
from tests.support.planted_by_schedule import BY_SCHEDULE
from tests.support.planted_faults import PLANTED, Planted
from tests.support.random_schedules import random_schedule
from tests.support.source_tree import ROOT

EFFORT = Effort(samples=3, seconds=0.05, inputs=2)
LIMITS = Limits(build=120.0, launch=120.0, measure=60.0, trial=300.0)
VALID = (
    ("matmul", {"M": 50, "N": 68, "K": 130}),
    ("matmul_t", {"M": 19, "N": 16, "K": 33}),
    ("dot", {"K": 65536}),
    ("dot_int8", {"K": 65536}),
    ("matvec", {"M": 37, "K": 45}),
    ("row_max", {"M": 37, "N": 45}),
    ("row_argmax", {"M": 37, "N": 45}),
    ("softmax", {"M": 21, "N": 45}),
    ("prefix_sum", {"N": 7001}),
    ("histogram", {"N": 7000, "BINS": 256}),
    ("jacobi2d", {"N": 37, "M": 45}),
    ("conv2d", {"N": 2, "H": 5, "W": 7, "C": 3, "K": 19, "R": 3, "S": 2, "STRIDE": 2}),
    ("gather_sum", {"BAGS": 37, "LENGTH": 13, "ROWS": 40, "D": 45}),
    ("matmul_half", {"M": 50, "N": 68, "K": 130}),
    ("matmul_bf16", {"M": 50, "N": 68, "K": 130}),
    ("matmul_tf32", {"M": 52, "N": 68, "K": 132}),
)
MISTAKES = (Failure.WRONG, Failure.CRASH, Failure.RUNTIME, Failure.TIMEOUT, Failure.LAUNCH)


@dataclass(frozen=True, slots=True)
class Missed:
    """A candidate that came out as it should not."""

    what: str
    outcome: Outcome


def job_of(program: str, defines: dict[str, int], device: str) -> Job:
    path = ROOT / "inputs_c" / f"{program}.c"
    return Job(path.name, path.read_text(encoding="utf-8"), tuple(defines.items()), device=device)


def key_of(text: str) -> str:
    return sha256(text.encode()).hexdigest()


async def outcomes(job: Job, candidates: list[Candidate], jobs: int | None) -> list[Outcome]:
    if not candidates:
        return []
    async with LocalBench(job, jobs=jobs) as bench:
        free = asyncio.Semaphore(bench.slots)

        async def one(candidate: Candidate) -> Outcome:
            async with free:
                return await bench.trial(candidate, EFFORT, LIMITS)

        return await asyncio.gather(*(one(c) for c in candidates))


def planted(device: str, jobs: int | None) -> Iterator[tuple[Planted, Outcome | None]]:
    """Each fault with what came of it; None where this device's text has nothing of the kind."""
    everyone = (*PLANTED, *BY_SCHEDULE)
    for _, group in groupby(everyone, lambda p: (p.program, p.defines, p.schedule)):
        faults = list(group)
        where = by_items(device) if faults[0].items else device
        if where is None:
            yield from ((fault, None) for fault in faults)
        else:
            yield from planted_in_one(where, faults, jobs)


def by_items(device: str) -> str | None:
    """Where kernels with several work-items a group run: on CPUs a work-item is a turn of a loop."""
    if open_device(device).machine.kind != "cpu":
        return device
    try:
        return open_device("oclgrind").spec
    except Failed:
        return None


def planted_in_one(
    where: str, faults: list[Planted], jobs: int | None
) -> Iterator[tuple[Planted, Outcome | None]]:
    """Faults of one kernel."""
    device, pipeline, first = open_device(where), Pipeline(), faults[0]
    job = job_of(first.program, dict(first.defines), where)
    program = pipeline.read(Source(job.path, job.source), defines=dict(first.defines))
    given = pipeline.schedule(Source("<given>", first.schedule)) if first.schedule else None
    checked = pipeline.check(program, given, device.machine, device.target)
    source = pipeline.emit(pipeline.lower(checked.plan), program).source
    plan, candidates = {}, {}
    for fault in faults:
        broken = fault.apply(source)
        if broken is not None:
            key = key_of(first.program + fault.name)
            plan[key] = [[source, broken]]
            candidates[fault.name] = Candidate(key, checked.plan.text)
    with tempfile.TemporaryDirectory(prefix="mdh-judge-") as folder:
        path = Path(folder) / "plan.json"
        path.write_text(json.dumps(plan), encoding="utf-8")
        with planting(path):
            found = asyncio.run(outcomes(job, list(candidates.values()), jobs))
    came = dict(zip(candidates, found, strict=True))
    for fault in faults:
        outcome = came.get(fault.name)
        yield fault, outcome if outcome is None else replace(outcome, device=where)


def valid(
    device: str, machine: Machine, target: str, count: int, jobs: int | None
) -> Iterator[tuple[int, list[Missed], Counter[str]]]:
    """How many legal random schedules were measured so far, and those that were not; trials by program."""
    measured, missed, programs = 0, list[Missed](), Counter[str]()
    pipeline = Pipeline()
    for name, sizes in VALID:
        job = job_of(name, sizes, device)
        program = pipeline.read(Source(job.path, job.source), defines=sizes)
        wanted, seed = count // len(VALID) + 1, 0
        texts: dict[str, None] = {}
        while len(texts) < wanted and seed < 40 * wanted:
            seed += 1
            text = random_schedule(program, machine, seed)
            try:
                given = pipeline.schedule(Source("<random>", text))
                plan = pipeline.check(program, given, machine, target).plan
            except Failed:
                continue
            texts[plan.text] = None
        found = asyncio.run(outcomes(job, [Candidate(key_of(t), t) for t in texts], jobs))
        for text, outcome in zip(texts, found, strict=True):
            if outcome.failure in MISTAKES or outcome.failure is Failure.COMPILE:
                missed.append(Missed(f"{name}:\n{text}", outcome))
            else:
                assert outcome.failure is None, outcome
                measured += 1
                programs[name] += 1
        yield measured, missed, programs


@dataclass(frozen=True, slots=True)
class Legal:
    """What came of legal random schedules: lines of the page, at its head and at its end."""

    head: tuple[str, ...]
    end: tuple[str, ...] = ()
    earlier: bool = False

    @staticmethod
    def of(measured: int, missed: list[Missed], programs: Counter[str]) -> "Legal":
        total = measured + len(missed)
        wrong = [m for m in missed if m.outcome.failure is Failure.WRONG]
        share = 100 * len(wrong) / max(1, total)
        head = (
            f"- legal random schedules: {total}; measured: {measured}; found wrong: {len(wrong)}"
            f" ({share:.2f} %); others without a time: {len(missed) - len(wrong)}",
            f"- by program: {', '.join(f'{name} {n}' for name, n in programs.items())}",
        )
        end = tuple(f"\nTurned away ({m.outcome.code}: {m.outcome.message}), {m.what}" for m in missed)
        return Legal(head, end)

    @staticmethod
    def kept(page: Path) -> "Legal":
        """As an earlier run has written them."""
        text = page.read_text(encoding="utf-8") if page.exists() else ""
        head = [
            x for x in text.splitlines() if x.startswith(("- legal random schedules: ", "- by program: "))
        ]
        _, found, end = text.partition("\nTurned away (")
        return Legal(tuple(head), (f"\nTurned away ({end.rstrip()}",) if found else (), bool(head))


def report(
    device: str, title: str, faults: list[tuple[Planted, Outcome | None]], legal: Legal, seconds: float
) -> str:
    tried = [(f, o) for f, o in faults if o is not None]
    won = [(f, o) for f, o in tried if o.failure is None]
    broken = [f for f, o in tried if o.failure is Failure.COMPILE]
    earlier = "; the legal schedules are of an earlier run" if legal.earlier else ""
    lines = [
        "# Does the judge see what is wrong, and only that?",
        "",
        f"`./scripts/judge-audit --device {device}` prints this again ({title}, {seconds:.0f} s{earlier}).",
        "",
        f"- faults of code generation planted: {len(tried)}; caught: {len(tried) - len(won)};"
        f" with a time, so that they could win: {len(won)}",
        *([f"- in no text of this device: {len(faults) - len(tried)}"] if len(tried) < len(faults) else []),
        *([f"- edits that do not compile: {len(broken)}"] if broken else []),
        *legal.head,
        "",
        "| fault | program | class | message |",
        "|---|---|---|---|",
        *(_row(f, o, device) for f, o in faults),
        *legal.end,
    ]
    return "\n".join(lines) + "\n"


def _row(fault: Planted, outcome: Outcome | None, device: str) -> str:
    if outcome is None:
        return f"| {fault.name} | {fault.program} | not in this text |  |"
    place = "" if outcome.device == device else f", by {outcome.device}"
    said = outcome.message[:90].replace("|", "/")
    return f"| {fault.name} | {fault.program}{place} | {outcome.failure or 'NOT CAUGHT'} | {said} |"


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--device", default="opencl:0")
    parser.add_argument("--valid", type=int, default=2000, help="0: what the page says of them stays")
    parser.add_argument("--jobs", type=int)
    parser.add_argument("--out", type=Path, default=ROOT / "artifacts")
    given = parser.parse_args()
    device = open_device(given.device)
    family = "" if given.device == "opencl:0" else "_" + given.device.partition(":")[0]
    given.out.mkdir(parents=True, exist_ok=True)
    page = given.out / f"tuner_judge{family}.md"
    start = time.perf_counter()
    faults = list(planted(given.device, given.jobs))

    def write(legal: Legal) -> str:
        text = report(given.device, device.title, faults, legal, time.perf_counter() - start)
        page.write_text(text, encoding="utf-8")
        return text

    text = write(Legal.kept(page))
    if given.valid:
        for found in valid(given.device, device.machine, device.target, given.valid, given.jobs):
            # the page is there, as far as it goes, should the rest take too long
            text = write(Legal.of(*found))
    sys.stdout.write(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
