"""Candidates that never end their build or their launch, in the tuner's bench; artifacts/tuner_timeouts.md.

Each is ended at its limit. What is looked at: how long after the limit the last of its processes is gone,
whether anything is left, and what the next candidate's time is. Rows of devices that are not run now stay on
the page.
"""

import argparse
import asyncio
import json
import math
import os
import shlex
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from hashlib import sha256
from pathlib import Path
from statistics import median
from typing import Any

from mdh.device.api import open_device
from mdh.device.c_compiler import find_compiler
from mdh.device.cache import Cache
from mdh.pipeline import Pipeline
from mdh.results.trial import Candidate, Effort, Job, Limits, Outcome
from mdh.source import Source
from mdh.target.text import KernelText
from mdh.tuner.measure.local import LocalBench
from mdh.tuner.measure.process import Late, Worker
from tests.campaigns.fault_run import GONE, ROOT, alive, children
from tests.campaigns.timeout_page import Kind, Row, kept, page
from tests.reliability.campaign import MIB, gpu_memory
from tests.support.faulty_worker import Faults, planting

SIZES = {"cuda": 512}
"""Of the product whose time is compared; 256 elsewhere."""
LIMITS = Limits(build=60.0, launch=60.0, measure=60.0, trial=180.0)
EFFORT = Effort(samples=40, seconds=0.4)
SLEEPS = "/* the compiler sleeps on this text */"
DOUBLED = 60
"""Times that an expression is doubled: no preprocessor reads so many words."""
ENDLESS = (
    "#define MDH_0 0 |\n"
    + "".join(f"#define MDH_{n + 1} MDH_{n} MDH_{n}\n" for n in range(DOUBLED))
    + f"#if MDH_{DOUBLED} 0\n#endif"
)
COMPUTES = "build: the compiler computes"
WAITS = "build: the builder waits"
SLEEPING = "build: the compiler sleeps"
LAUNCH = "launch: an endless loop"
TURNS = (COMPUTES, LAUNCH) * 6 + (WAITS, LAUNCH)
"""Every second one hangs in its launch. A build that only waits is tried again, several times where others
were lost shortly before, and so takes longest."""


@dataclass(frozen=True, slots=True)
class Kill:
    """late: seconds after the limit until no process of the worker was left, so far as it was waited for."""

    limit: float
    late: float


@dataclass
class Watch:
    """Looks at every worker that a bench asks. sessions: of all of them; processes that they start are in
    their worker's."""

    sessions: set[int] = field(default_factory=set)
    kills: list[Kill] = field(default_factory=list)

    @contextmanager
    def watching(self) -> Iterator[None]:
        watch, asked = self, Worker.ask

        async def ask(worker: Worker, request: dict[str, Any], limit: float | None) -> dict[str, Any]:
            watch.sessions.add(worker.pid)
            begun = time.monotonic()
            try:
                return await asked(worker, request, limit)
            except Late:
                while of_session({worker.pid}) and time.monotonic() - begun < (limit or 0.0) + GONE:
                    await asyncio.sleep(0.01)
                watch.kills.append(Kill(limit or 0.0, time.monotonic() - begun - (limit or 0.0)))
                raise

        Worker.ask = ask  # type: ignore[method-assign]
        try:
            yield
        finally:
            Worker.ask = asked  # type: ignore[method-assign]


@dataclass(frozen=True, slots=True)
class Hang:
    """One candidate that hung. kills: its workers that were ended; before, next, after: seconds of a good
    candidate; gpu: bytes in use after the first two of these."""

    kind: str
    outcome: Outcome
    kills: tuple[Kill, ...]
    before: float
    next: float
    after: float
    gpu: tuple[int, int]

    @property
    def ratio(self) -> float:
        """The time right after it, against the times beside it."""
        return self.next / math.sqrt(self.before * self.after)


def of_session(sessions: set[int]) -> list[int]:
    """Processes that run in one of these sessions."""
    found = []
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            words = path.read_text("latin-1").rpartition(")")[2].split()
        except OSError:
            continue
        if int(words[3]) in sessions and words[0] not in "ZX":
            found.append(int(path.parent.name))
    return found


def program_text(device: str) -> str:
    size = SIZES.get(device.partition(":")[0], 256)
    return f"""\
void matmul(const float A[{size}][{size}], const float B[{size}][{size}], float C[{size}][{size}]) {{
  for (int i = 0; i < {size}; i++)
    for (int j = 0; j < {size}; j++) {{
      C[i][j] = 0.0f;
      for (int k = 0; k < {size}; k++)
        C[i][j] += A[i][k] * B[k][j];
    }}
}}
"""


def prepared(job: Job) -> tuple[str, KernelText]:
    """The default schedule, and the kernel that it gives."""
    device, pipeline = open_device(job.device), Pipeline()
    program = pipeline.read(Source(job.path, job.source))
    checked = pipeline.check(program, None, device.machine, device.target)
    return checked.plan.text, pipeline.emit(pipeline.lower(checked.plan), program)


def plan_of(kinds: dict[str, str], text: KernelText) -> dict[str, Any]:
    """How each candidate is made to hang, as tests.support.faulty_worker has it."""
    name = text.kernels[0].name
    at = text.source.index("{", text.source.index(f"{name}("))
    start = text.source[text.source.index(f"{name}(") : at + 1]
    faults = {
        COMPUTES: [[start, f"{start}\n{ENDLESS}\n"]],
        SLEEPING: [[start, f"{start}\n{SLEEPS}\n"]],
        WAITS: "endless compile",
        LAUNCH: "endless loop",
    }
    plan = {key: faults[kind] for key, kind in kinds.items()}
    # what does not apply would be no hang
    planted = Faults(None)
    planted.plan = plan
    assert all(planted.in_text(key, text) != text for key, kind in kinds.items() if kind != WAITS)
    return plan


def sleeping_compiler(folder: Path) -> Path:
    """A wrapper of the C compiler. On texts that ask for it, it starts a process that sleeps instead."""
    path = folder / "cc"
    path.write_text(
        "#!/bin/sh\n"
        'for word in "$@"; do\n'
        f'  case "$word" in *.c) if grep -qF {shlex.quote(SLEEPS)} "$word"; then sleep 1000; fi ;; esac\n'
        "done\n"
        f'exec {shlex.join(find_compiler().command)} "$@"\n'
    )
    path.chmod(0o700)
    return path


async def hang(
    bench: LocalBench, watch: Watch, schedule: str, kinds: dict[str, str], limit: float,
    note: Callable[[Hang], None],
) -> None:  # fmt: skip
    """One after the other, a good candidate beside each."""
    gpu = bench.ground.target == "cuda"

    async def good() -> float:
        outcome = await bench.trial(Candidate("good", schedule), EFFORT, LIMITS)
        assert outcome.seconds is not None, outcome
        return outcome.seconds

    await good()
    before = await good()
    for key, kind in kinds.items():
        used = gpu_memory() if gpu else 0
        part = "launch" if kind == LAUNCH else "build"
        first = len(watch.kills)
        short = replace(LIMITS, **{part: limit})
        outcome = await bench.trial(Candidate(key, schedule), EFFORT, short)
        next_ = await good()
        again = gpu_memory() if gpu else 0
        after = await good()
        note(Hang(kind, outcome, tuple(watch.kills[first:]), before, next_, after, (used, again)))
        before = after


def run(device: str, count: int, limit: float) -> Row:
    """A bench of two builders, and what was left after it."""
    turns = tuple(t for k in TURNS for t in ((SLEEPING, k) if k == WAITS and device == "c" else (k,)))
    kinds = {sha256(f"{device} {n}".encode()).hexdigest(): turns[n % len(turns)] for n in range(count)}
    job = Job("matmul.c", program_text(device), device=device)
    schedule, text = prepared(job)
    watch, found = Watch(), list[Hang]()
    begun, there = time.monotonic(), set(Path(tempfile.gettempdir()).iterdir())

    def note(one: Hang) -> None:
        found.append(one)
        sys.stderr.write(
            f"{device}: {len(found)} of {count}, {one.kind}: {one.outcome.failure}, {len(one.kills)} kills,"
            f" next time {one.ratio - 1:+.1%}, {time.monotonic() - begun:.0f} s\n"
        )

    async def all_of_it(folder: Path) -> str:
        plan = folder / "plan.json"
        plan.write_text(json.dumps(plan_of(kinds, text)), encoding="utf-8")
        (folder / "cache").mkdir(mode=0o700)
        with watch.watching(), planting(plan):
            async with LocalBench(job, jobs=2, cache=Cache(folder / "cache")) as bench:
                await hang(bench, watch, schedule, kinds, limit, note)
                return bench.ground.title

    with tempfile.TemporaryDirectory(prefix="mdh-hang-") as name:
        title = asyncio.run(all_of_it(Path(name)))
    end = time.monotonic() + GONE
    while (left := [*of_session(watch.sessions), *filter(alive, children())]) and time.monotonic() < end:
        time.sleep(0.05)
    files = {p.name for p in set(Path(tempfile.gettempdir()).iterdir()) - there}
    return row(device, title, limit, found, len(left), len(files), time.monotonic() - begun)


def row(
    device: str, title: str, limit: float, found: list[Hang], left: int, files: int, seconds: float
) -> Row:
    ratios = sorted(one.ratio for one in found)
    beside = [abs(one.after / one.before - 1) for one in found]
    # two ranks of the order, between which the median of all such ratios lies in 95 of 100 cases
    far = math.ceil(0.98 * math.sqrt(len(ratios)))
    low, high = ratios[max(0, len(ratios) // 2 - far)], ratios[min(len(ratios) - 1, len(ratios) // 2 + far)]
    grown = max(((one.gpu[1] - one.gpu[0]) / MIB for one in found), default=0.0)
    late = [k.late for one in found for k in one.kills]
    kinds = tuple(
        kind_of(kind, [one for one in found if one.kind == kind])
        for kind in dict.fromkeys(one.kind for one in found)
    )
    return Row(
        device, title, limit, len(found), len(late), median(late), max(late), left, files,
        grown if device.startswith("cuda") else None, median(ratios) - 1, low - 1, high - 1, median(beside),
        seconds, kinds,
    )  # fmt: skip


def kind_of(name: str, found: list[Hang]) -> Kind:
    classes = Counter(str(one.outcome.failure) for one in found)
    told = ", ".join(f"{n} {failure}" for failure, n in classes.items())
    late = max((k.late for one in found for k in one.kills), default=0.0)
    return Kind(name, len(found), told, sum(len(one.kills) for one in found) / len(found), late)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--devices", default="c,opencl:0")
    parser.add_argument("--hangs", type=int, default=100, help="candidates a device")
    parser.add_argument("--limit", type=float, default=1.0, help="seconds of a build or a launch")
    parser.add_argument("--out", type=Path, default=ROOT / "artifacts" / "tuner_timeouts.md")
    given = parser.parse_args()
    rows = []
    with tempfile.TemporaryDirectory(prefix="mdh-timeouts-", ignore_cleanup_errors=True) as name:
        (folder := Path(name) / "tmp").mkdir()
        os.environ["TMPDIR"] = str(folder)
        tempfile.tempdir = None
        os.environ["CC"] = str(sleeping_compiler(Path(name)))
        for device in given.devices.split(","):
            rows.append(run(device, given.hangs, given.limit))
            given.out.write_text(page([*kept(given.out, rows), *rows]), encoding="utf-8")
    sys.stdout.write(given.out.read_text(encoding="utf-8"))
    return 0 if all(one.kept for one in rows) else 1


if __name__ == "__main__":
    sys.exit(main())
