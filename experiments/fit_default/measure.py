"""`scripts/fit-default measure`: tiles of products of random sizes, verified and timed on an NVIDIA GPU."""

import argparse
import random
import sys
import time
from collections.abc import Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from contextlib import suppress
from multiprocessing import get_context
from pathlib import Path
from typing import Any, TextIO

from bench.cases import program_of
from bench.gpu import arrays
from bench.gpu.cases import Case
from bench.gpu.clock import quick, runner
from bench.gpu.gpu import one_stream, torch, versions
from experiments.fit_default.build import Code, build
from experiments.fit_default.candidates import candidates, random_sizes, tiles
from experiments.fit_default.choice import adds, problem
from experiments.fit_default.files import header, short, write
from experiments.fit_default.rows import SCHEMA, Row, Sizes, numbers, tile_of
from experiments.fit_default.timed import timed
from mdh.device.api import open_device
from mdh.machine import load_machine
from mdh.release import release

AHEAD = 3
"""Sizes whose candidates are compiled while others are timed."""
TURNS = 20
"""Of a millisecond, in which the GPU reaches its clock."""
Job = tuple[list[int], int, bool, "Future[Code | str]"]


def main(given: argparse.Namespace) -> int:
    end = time.monotonic() + 60 * given.minutes
    rng = random.Random(given.seed)
    drawn = random_sizes(rng, given.sizes, given.step)
    device = open_device(given.device)
    with ProcessPoolExecutor(given.jobs, mp_context=get_context("spawn")) as pool:
        waiting = _submitted(pool, given.machine, drawn, rng)
        jobs = [one for one, _ in zip(waiting, range(AHEAD), strict=False)]
        stream, outer = one_stream()
        with given.out.open("a", encoding="utf-8") as out:
            if not out.tell():
                named = {"device": device.title, "mdh": release(), "seed": str(given.seed), **versions()}
                write(out, header(SCHEMA, given.machine, **named))
            while jobs and time.monotonic() < end:
                sizes, built = jobs.pop(0)
                _measured(device, int(stream.cuda_stream), sizes, built, out, end)
                with suppress(StopIteration):
                    jobs.append(next(waiting))
        for _, rest in jobs:
            for *_, future in rest:
                future.cancel()
        del outer
    return 0


def _submitted(
    pool: ProcessPoolExecutor, name: str, drawn: list[Sizes], rng: random.Random
) -> Iterator[tuple[Sizes, list[Job]]]:
    machine, every = load_machine(name), tiles()
    for sizes in drawn:
        plans = candidates(problem(sizes, machine), every, rng)
        yield (
            sizes,
            [
                (tile, p.parts, adds(p), pool.submit(build, name, sizes, tile, p.parts, adding=adds(p)))
                for p in plans
                for tile in (numbers(p.tile),)
            ],
        )


def _measured(device: Any, stream: int, sizes: Sizes, jobs: list[Job], out: TextIO, end: float) -> None:
    """All candidates of some sizes, or as many as there is time for."""
    m, n, k = sizes
    case = Case(f"{m}x{n}x{k}", "matmul_init", {"M": m, "N": n, "K": k}, 2.0 * m * n * k)
    program = program_of(case)
    tensors = arrays.random_sets(case, program, 1)[0]
    right = arrays.expected(case, program, tensors)
    result = torch.empty_like(tensors["C"])

    def product() -> None:
        torch.mm(tensors["A"], tensors["B"], out=result)

    warm = runner([product], 1e-3)
    for _ in range(TURNS):
        warm.seconds()
    write(out, {"sizes": sizes, "library": short(quick([product]))})
    done = 0
    for tile, parts, adding, future in jobs:
        if time.monotonic() > end:
            break
        code = future.result()
        if isinstance(code, str):
            continue
        taken = timed(device, stream, case, tensors, right, code)
        if isinstance(taken, str):
            sys.stderr.write(f"{case.name} {tile} in {parts} parts: {taken}\n")
            continue
        row = Row(sizes, tile_of(tile), parts, taken, code.registers, code.spilled, adding)
        write(out, row.line())
        done += 1
    out.flush()
    sys.stderr.write(f"{case.name}: {done} of {len(jobs)}\n")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("out", type=Path, metavar="OUT.jsonl", help="lines are added to it")
    parser.add_argument("--minutes", type=float, default=9.0, help="after them nothing else is timed")
    parser.add_argument("--sizes", type=int, default=200, help="products at most")
    parser.add_argument("--seed", type=int, default=1, help="of sizes and of what else is measured")
    parser.add_argument("--step", type=int, default=32, help="sizes are multiples of it; 4: tiles are cut")
    parser.add_argument("--device", default="cuda:0")
    parser.add_argument("--machine", default="h200", help="that schedules are derived for")
    parser.add_argument("--jobs", type=int, default=13, help="processes that compile")
