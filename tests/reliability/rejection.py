"""R10: valid schedules that the checker, the compiler or the judge turns away.

Three kinds of valid schedules: legal by the language's page alone (`plain_schedules`; here the checker may be
wrong too), points of the exact space of a program's default schedule, and random schedules that the checker
accepts. All are built, judged on two sets of arrays and timed.
"""

import asyncio
from collections import Counter
from collections.abc import Iterator
from random import Random
from typing import Any

from mdh.checker.fusing import stage_in, view_of
from mdh.device.api import open_device
from mdh.diagnostics import Failed
from mdh.hardware import Layer
from mdh.ir.program import Program
from mdh.machine import Machine
from mdh.pipeline import Pipeline
from mdh.results.trial import Candidate, Job
from mdh.schedule.default import default_schedule
from mdh.source import Source
from mdh.tuner.candidates.open_tiles import opened
from mdh.tuner.space.make import make_space
from tests.reliability.plain_schedules import plain_schedule
from tests.reliability.row import Found, Parts, Setting
from tests.support.judge_audit import VALID, job_of, key_of, outcomes
from tests.support.random_schedules import random_schedule

FULL = 2000
KINDS = ("plain", "space", "random")
BYTES = """#include <stdint.h>
void row_sums(const uint8_t A[M][K], const int8_t B[M][K], int32_t C[M]) {
  for (int i = 0; i < M; i++)
    for (int k = 0; k < K; k++) C[i] += A[i][k] * B[i][k];
}
"""
SHORTS = """#include <stdint.h>
void row_least(const int16_t A[M][K], int16_t C[M]) {
  for (int i = 0; i < M; i++) {
    C[i] = 32767;
    for (int k = 0; k < K; k++) C[i] = A[i][k] < C[i] ? A[i][k] : C[i];
  }
}
"""
OWN = {"row_sums": (BYTES, {"M": 3, "K": 65536}), "row_least": (SHORTS, {"M": 5, "K": 65536})}
LONG = (
    ("matvec", {"M": 3, "K": 65536}),
    ("matmul_half", {"M": 2, "N": 3, "K": 65536}),
    ("matmul_bf16", {"M": 2, "N": 3, "K": 65536}),
)


def rejection(setting: Setting) -> Found:
    parts = Parts.of(setting, "R10")
    jobs = list(jobs_on(setting.device))
    each = -(-setting.number(FULL, len(jobs)) // len(jobs))
    for name, job in jobs:
        parts.get(f"{name} {each} {setting.seed}", lambda: one_program(job, each, setting))  # noqa: B023
    done = list(parts.all().values())
    drawn: Counter[str] = Counter()
    away: list[str] = []
    for part in done:
        drawn.update(part["drawn"])
        away += part["away"]
    total = sum(drawn.values())
    share = len(away) / max(1, total)
    split = sum(part["split"] for part in done)
    return Found(
        f"{len(away)} of {total:,} rejected ({100 * share:.2f} %)", share <= 0.001, total, FULL,
        (
            ", ".join(f"{n:,} {kind}" for kind, n in drawn.items())
            + f"; {split:,} with a reduction split over blocks or lanes; on {setting.device}",
            *away[:5],
        ),
    )  # fmt: skip


def jobs_on(device: str) -> Iterator[tuple[str, Job]]:
    for name, sizes in (*VALID, *LONG):
        yield f"{name} {' '.join(f'{k}={v}' for k, v in sizes.items())}", job_of(name, sizes, device)
    for name, (text, sizes) in OWN.items():
        yield name, Job(f"{name}.c", text, tuple(sizes.items()), device=device)


def one_program(job: Job, count: int, setting: Setting) -> dict[str, Any]:
    """count schedules of a program, the kinds in turn; away: what was turned away and by whom."""
    device = open_device(setting.device)
    pipeline = Pipeline()
    program = pipeline.read(Source(job.path, job.source), defines=dict(job.defines))
    away: list[str] = []
    drawn: Counter[str] = Counter()
    texts: dict[str, str] = {}
    draws = {kind: texts_of(kind, program, device.machine, device.target, setting.seed) for kind in KINDS}
    attempts = 0
    while sum(drawn.values()) < count and attempts < 60 * count:
        kind = KINDS[attempts % len(KINDS)]
        attempts += 1
        text = next(draws[kind], None)
        if text is None:
            continue
        try:
            plan = pipeline.check(
                program, pipeline.schedule(Source("<valid>", text)), device.machine, device.target
            ).plan
        except Failed as failed:
            if kind != "random":
                drawn[kind] += 1
                first = failed.diagnostics[0]
                away.append(f"checker, {first.code}: {first.headline}; {job.path}:\n{text}")
            continue
        if plan.text not in texts:
            texts[plan.text] = kind
            drawn[kind] += 1
    found = asyncio.run(outcomes(job, [Candidate(key_of(t), t) for t in texts], setting.jobs))
    for text, outcome in zip(texts, found, strict=True):
        if outcome.failure is not None:
            away.append(f"{outcome.failure}, {outcome.code}: {outcome.message}; {job.path}:\n{text}")
    split = sum(_splits_reduction(program, text) for text in texts)
    return {"drawn": dict(drawn), "away": away, "split": split}


def texts_of(kind: str, program: Program, machine: Machine, target: str, seed: int) -> Iterator[str]:
    if kind == "space":
        default = default_schedule(program, machine, target)
        space = make_space(
            program, opened(default, program, machine), machine, target, deterministic=False, default=default
        )
        rng = Random(f"rejection {seed}")
        # a space of few points is used up, and then gives the same ones
        while (drawn := space.draw_legal(rng)) is not None:
            yield drawn[1].text
        return
    for n in range(1_000_000 * seed, 1_000_000 * (seed + 1)):
        if kind == "plain":
            yield plain_schedule(program, n)
        else:
            yield random_schedule(program, machine, n)


def _splits_reduction(program: Program, text: str) -> bool:
    """Is a reduced dimension given to units in some step?"""
    schedule = Pipeline().schedule(Source("<valid>", text))
    for stage, section in zip(program.stages, schedule.sections, strict=False):
        seen = stage_in(view_of(program, stage, section), stage.name)
        for step in section.steps:
            for dim, core in zip(seen.dims, step.cores, strict=False):
                layer = getattr(core.value, "layer", "")
                if dim.kind.value == "pw" and layer not in ("", Layer.DEV, Layer.NOD):
                    return True
    return False
