"""R18: a printed schedule reads back as itself and gives the same kernel text, byte for byte, anywhere.

As a program (`python -m tests.reliability.round_trip FIRST COUNT`) it prints what one chunk gives as JSON:
another interpreter, or one with another hash seed, must print the same digest.
"""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from hashlib import sha256
from typing import Any

from mdh.checker.run import check
from mdh.diagnostics import Failed
from mdh.frontend.c.read import read_program
from mdh.ir.program import Program
from mdh.lower.run import lower
from mdh.machine import load_machine
from mdh.schedule.default import default_schedule
from mdh.schedule.model import Schedule
from mdh.schedule.parser import parse_schedule
from mdh.schedule.printer import print_schedule
from mdh.source import Source
from mdh.target.emit import emit
from tests.reliability.plain_schedules import plain_schedule
from tests.reliability.row import Found, Parts, Setting
from tests.support.corpus import WORKLOADS
from tests.support.random_schedules import random_schedule
from tests.support.source_tree import ROOT

FULL = 10_000
CHUNK = 250
COMPARED = 2
"""Chunks that other interpreters and hash seeds repeat."""
SEEDS = ("0", "1", "4242")
SEVERAL = ("python3.11", "python3.12", "python3.13", "python3.14")
NEEDED = "import numpy, islpy, pycparser, pcpp, ml_dtypes, sys; print('%d.%d' % sys.version_info[:2])"
PLACES = (("generic-cpu", "opencl"), ("generic-cpu", "c"), ("h200", "cuda"), ("a100", "opencl"))
PROGRAMS = (
    "matmul", "matmul_bias_relu", "dot", "matvec", "row_argmax", "softmax", "prefix_sum", "histogram",
    "jacobi2d", "gather_sum", "matmul_half", "conv2d_56",
)  # fmt: skip


def round_trip(setting: Setting) -> Found:
    parts = Parts.of(setting, "R18")
    chunks = -(-setting.number(FULL, CHUNK) // CHUNK)
    done = []
    for n in range(chunks):
        first = 10_000_000 * setting.seed + n * CHUNK
        done.append(parts.get(f"{first}", lambda: chunk(first, CHUNK)))  # noqa: B023
    texts = sum(one["texts"] for one in done)
    wrong = [w for one in done for w in one["wrong"]]
    others = list(elsewhere(setting, [one["digest"] for one in done[:COMPARED]]))
    different = [name for name, same in others if not same]
    versions = sorted({name.split(" ")[0] for name, _ in others})
    kernels = sum(one["kernels"] for one in done)
    return Found(
        f"{texts - len(wrong):,} of {texts:,} read back as themselves, with the same kernel text where they"
        f" are legal ({kernels:,}); byte-identical in {len(others) - len(different)} of"
        f" {len(others)} other processes",
        not wrong and not different, texts, FULL,
        (
            f"processes: Python {', '.join(versions)}, hash seeds {', '.join(SEEDS)},"
            f" {COMPARED * CHUNK} texts each",
            *different, *wrong[:5],
        ),
    )  # fmt: skip


def elsewhere(setting: Setting, digests: list[str]) -> Iterator[tuple[str, bool]]:
    """Each other process, by name, and whether it gives these digests."""
    first = 10_000_000 * setting.seed
    for python, version in interpreters():
        for seed in SEEDS:
            environment = {**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": str(ROOT)}
            same = True
            for n, digest in enumerate(digests):
                words = [python, "-m", "tests.reliability.round_trip", str(first + n * CHUNK), str(CHUNK)]
                found = subprocess.run(
                    words, capture_output=True, text=True, check=True, cwd=ROOT, env=environment
                )
                same = same and json.loads(found.stdout)["digest"] == digest
            yield f"{version} seed {seed}", same


def interpreters() -> list[tuple[str, str]]:
    """(path, version) of this Python and of one for each other version that has what compiling needs: on the
    PATH, or named by MDH_PYTHONS, separated by colons."""
    named = [p for p in os.environ.get("MDH_PYTHONS", "").split(":") if p]
    found: dict[str, str] = {}
    for name in (sys.executable, *named, *SEVERAL):
        path = shutil.which(name)
        if path is None:
            continue
        said = subprocess.run([path, "-c", NEEDED], capture_output=True, text=True, check=False)
        if said.returncode == 0:
            found.setdefault(said.stdout.strip(), path)
    return [(path, version) for version, path in found.items()]


def chunk(first: int, count: int) -> dict[str, Any]:
    """texts: how many were read; kernels: of how many the kernel text was compared; wrong: those that came
    back as something else; digest: of everything that was printed."""
    printed = sha256()
    wrong: list[str] = []
    kernels = 0
    for seed in range(first, first + count):
        name = PROGRAMS[seed % len(PROGRAMS)]
        machine, target = PLACES[seed // len(PROGRAMS) % len(PLACES)]
        program = _program(name)
        plain = target in ("opencl", "c") and machine == "generic-cpu" and seed % 2
        text = (
            plain_schedule(program, seed) if plain else random_schedule(program, load_machine(machine), seed)
        )
        schedule = parse_schedule(Source("<drawn>", text))
        shown = print_schedule(schedule)
        again = parse_schedule(Source("<printed>", shown))
        before = _kernel(program, name, schedule, machine, target)
        after = _kernel(program, name, again, machine, target)
        if again != schedule or print_schedule(again) != shown or before != after:
            wrong.append(f"{name} on {machine} {target}, seed {seed}:\n{text}")
        kernels += not before.startswith("refused")
        printed.update(f"{shown}\0{before}\0".encode())
    return {"texts": count, "kernels": kernels, "wrong": wrong, "digest": printed.hexdigest()}


@cache
def _program(name: str) -> Program:
    work = WORKLOADS[name]
    return read_program(work.source, defines=dict(work.small[-1]))


@cache
def _default(name: str, machine: str, target: str) -> Schedule:
    return default_schedule(_program(name), load_machine(machine), target)


def _kernel(program: Program, name: str, schedule: Schedule, machine: str, target: str) -> str:
    """The kernel's text, or with which codes the schedule is refused."""
    try:
        plan = check(
            program, schedule, load_machine(machine), target, default=_default(name, machine, target)
        )
        return emit(lower(plan), program).source
    except Failed as failed:
        return "refused " + " ".join(d.code for d in failed.diagnostics)


if __name__ == "__main__":
    sys.stdout.write(json.dumps(chunk(int(sys.argv[1]), int(sys.argv[2]))) + "\n")
