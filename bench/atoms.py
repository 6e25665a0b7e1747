"""`scripts/bench atoms`: default schedules on tensor cores, beside shipped ones and torch, on an NVIDIA GPU.

scripts/bench atoms                  fixed sizes and 8 random ones of each type: 5 minutes
scripts/bench atoms --random 20      more random sizes
scripts/bench atoms --plans 4        also the four plans that the estimate says are the best after the default
scripts/bench atoms --dry            the cases and their default schedules; needs no GPU

Every kernel is judged by torch on doubles before it is timed. Times are of warm caches, from CUDA graphs of
many calls. The estimate is that of the default's plan: it shows how far the constants are off.
"""

import argparse
import random
import sys
import time
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field, replace
from functools import partial
from importlib import import_module
from itertools import repeat
from math import exp, log
from multiprocessing import get_context
from typing import Any

from bench.cases import program_of
from bench.gpu.cases import Case, cases
from bench.gpu.kernels import Prepared, compiled, lowered
from bench.gpu.outcome import DEFAULT, RIGHT
from mdh.checker.run import check
from mdh.cost.tensor import atom_seconds
from mdh.device.api import open_device
from mdh.diagnostics import Failed
from mdh.lower.run import lower
from mdh.machine import Machine, load_machine
from mdh.schedule.default import default_schedule
from mdh.schedule.default.atoms import Matrices, find_matrices
from mdh.schedule.default.contraction_atoms import (
    AtomTiling,
    atom_outline,
    atom_plans,
    atom_work,
    moved_bytes,
)
from mdh.schedule.default.contraction_groups import best_group_plan
from mdh.schedule.default.group_products import find_groups
from mdh.schedule.default.joining import joining_of
from mdh.schedule.default.shape import Shape
from mdh.schedule.model import Schedule
from mdh.schedule.printer import print_schedule
from mdh.target.emit import emit

SEED = 2027
LEAST, MOST = 64, 16384
ROUNDS, TURN = 5, 5e-4
"""Turns of each contestant, of which the fastest counts; seconds of a turn."""
KINDS = {
    "fp64": ("matmul_double", 2), "bf16": ("matmul_bf16", 8), "int8": ("matmul_int8_t", 16),
    "fp8": ("matmul_fp8", 16), "tf32": ("matmul_tf32", 4), "tf32t": ("matmul_tf32_t", 4),
}  # fmt: skip
"""To the program, and the steps of random sizes. Every fifth bf16 and fp64 size is a multiple of nothing."""


@dataclass
class Row:
    """One case. plans: name and estimate in seconds of further plans, whose kernels are in `prepared`."""

    prepared: Prepared
    plans: dict[str, float] = field(default_factory=dict)


def chosen_cases(count: int, kinds: Sequence[str] = tuple(KINDS), *, alone: bool = False) -> list[Case]:
    """alone: without those of fixed sizes."""
    fixed = [c for c in cases() if c.program in {KINDS[kind][0] for kind in kinds}]
    out, rng = [] if alone else list(fixed), random.Random(SEED)
    for number in range(count):
        for kind in kinds:
            program, step = KINDS[kind]
            like = next(c for c in fixed if c.program == program)
            odd = number % 5 == 4 and kind not in ("int8", "fp8")
            m, n, k = (round(exp(rng.uniform(log(LEAST), log(MOST))) / step) * step + odd for _ in range(3))
            sizes = {"M": m, "N": n, "K": k}
            name = f"{kind} {m}x{n}x{k}"
            out.append(Case(name, program, sizes, 2.0 * m * n * k, like.schedules, below=like.below))
    return out


def made(case: Case, machine: Machine, plans: int) -> Row:
    """Texts and machine code, and the estimate of the default's plan as that of DEFAULT."""
    row = Row(lowered(case, machine))
    program = program_of(case)
    shape = Shape(program, program.stages[0])
    joining = joining_of(shape, machine, "cuda")
    grouped = best_group_plan(shape, find_groups(shape, machine, "cuda"), machine, joining)
    found = find_matrices(shape, machine, "cuda")
    if grouped is not None:
        row.plans = {DEFAULT: grouped[1]}
    elif found is not None:
        moved = moved_bytes(shape, found)
        every = atom_plans(shape, found, machine, joining)
        timed = [(atom_seconds(atom_work(shape, found, machine, p, moved), machine), p) for p in every]
        timed.sort(key=lambda t: t[0])
        row.plans = {DEFAULT: timed[0][0]} if timed else {}
        for seconds, plan in _others(timed, plans):
            _add(row, shape, found, machine, plan, seconds)
    compiled(row.prepared, machine.arch)
    return row


def _others(timed: Sequence[tuple[float, AtomTiling]], count: int) -> list[tuple[float, AtomTiling]]:
    """The best plans of other tiles than those before."""
    seen, out = list[object](), list[tuple[float, AtomTiling]]()
    for seconds, plan in timed:
        tiles = (tuple(plan.block.items()), plan.warp, plan.parts > 1)
        if tiles not in seen:
            out.append((seconds, plan))
        seen.append(tiles)
    return out[1 : count + 1]


def _add(
    row: Row,
    shape: Shape,
    found: Matrices,
    machine: Machine,
    plan: AtomTiling,
    seconds: float,
) -> None:
    program, (rows, columns) = shape.program, (plan.block[found.m], plan.block[found.n])
    name = f"{rows}x{columns} of {plan.warp[0]}x{plan.warp[1]}, {plan.slots} slots, {plan.parts} parts"
    section = atom_outline(shape, found, machine, plan).section(program.stages[0].name)
    schedule = Schedule((section,), target=machine.name, program=program.name)
    try:
        row.prepared.texts[name] = emit(lower(check(program, schedule, machine, "cuda")), program)
        row.plans[name] = seconds
    except Failed as failed:
        row.prepared.refused[name] = str(failed)


class Bench:
    """Times cases on a device."""

    def __init__(self, device: Any) -> None:
        gpu, self.arrays, self.clock, self.ours, self.by_torch = (
            import_module(f"bench.gpu.{name}") for name in ("gpu", "arrays", "clock", "ours", "by_torch")
        )
        self.device, self.torch = device, gpu.torch
        self.stream, self._outer = gpu.one_stream()

    def seconds(self, case: Case, row: Row) -> dict[str, float | str]:
        """By contestant the seconds of a call, or what is wrong."""
        program = program_of(case)
        sets = self.arrays.random_sets(case, program, 1)
        right = self.arrays.expected(case, program, sets[0])
        makes: dict[str, Any] = {"torch": lambda: self.by_torch.prepare(case, sets)}
        handle = int(self.stream.cuda_stream)
        for name, kernels in row.prepared.kernels.items():
            makes[name] = partial(self.ours.prepare, self.device, kernels, sets, case.scalars, handle)
        out: dict[str, float | str] = {}
        for name, make in makes.items():
            try:
                out[name] = self._timed(case, make(), sets[0], right)
            except Exception as error:
                # torch has no product of some sizes, and the others must not pay for it
                out[name] = str(error).splitlines()[0][:60] if str(error) else type(error).__name__
        return out

    def _timed(self, case: Case, contestant: Any, tensors: Any, right: Any) -> float | str:
        for name in right:
            self.arrays.fresh(case, tensors[name])
        contestant.calls[0]()
        contestant.finish()
        self.torch.cuda.synchronize()
        verdict = self.arrays.judged(case, tensors, right)
        if verdict != RIGHT:
            return str(verdict)
        runner = self.clock.runner(contestant.calls, TURN, contestant.graph)
        return float(min(runner.seconds() for _ in range(ROUNDS)))


def line(case: Case, row: Row, times: dict[str, float | str]) -> str:
    """A case's line of the table, and one for each further plan."""
    shipped = {n: t for n in case.schedules if isinstance(t := times.get(n), float)}
    best = min(shipped, key=lambda n: shipped[n], default="")
    default, library = times.get(DEFAULT, row.prepared.refused.get(DEFAULT, "none")), times.get("torch", "")
    cells = [case.name, _micro(default)]
    for other in (shipped.get(best, "–"), library):
        cells += [_micro(other), _ratio(other, default)]
    cells += [_ratio(row.plans.get(DEFAULT), default), best.rpartition("/")[2]]
    spilled = row.prepared.kernels.get(DEFAULT)
    cells.append("atoms" if "mma" in (spilled.text.source if spilled else "") else "no atoms")
    lines = ["| " + " | ".join(cells) + " |"]
    for name, seconds in list(row.plans.items())[1:]:
        time_ = times.get(name, "refused")
        ratio = f"{default / time_:.2f}" if isinstance(time_, float) and isinstance(default, float) else ""
        lines.append(f"    {name}: {_micro(time_)} µs, estimate {_micro(seconds)}, default/this {ratio}")
    return "\n".join(lines)


def _ratio(other: float | str | None, default: float | str) -> str:
    """A dash where one of the two has no time."""
    return f"{other / default:.2f}" if isinstance(other, float) and isinstance(default, float) else "–"


def _micro(value: float | str) -> str:
    return f"{value * 1e6:.1f}" if isinstance(value, float) else value


COLUMNS = (
    "case", "default µs", "shipped µs", "shipped / default", "torch µs", "torch / default",
    "estimate / default", "shipped by", "default",
)  # fmt: skip
HEAD = f"| {' | '.join(COLUMNS)} |\n|---|{'---:|' * 6}---|---|"


def main(argv: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(
        prog="scripts/bench atoms", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--random", type=int, default=8, metavar="N", help="random sizes of each type")
    parser.add_argument("--kind", action="append", choices=list(KINDS), help="only this type")
    parser.add_argument("--alone", action="store_true", help="random sizes alone, by default schedules alone")
    parser.add_argument("--plans", type=int, default=0, metavar="N", help="further plans of each case")
    parser.add_argument("--minutes", type=float, default=4.0, help="begins no other case after them")
    parser.add_argument("--device", default="cuda:0")
    parser.add_argument("--jobs", type=int, default=8, help="that compile")
    parser.add_argument("--dry", action="store_true")
    given = parser.parse_args(argv)
    chosen = chosen_cases(given.random, given.kind or tuple(KINDS), alone=given.alone)
    chosen = [replace(c, schedules=()) for c in chosen] if given.alone else chosen
    start, ratios = time.perf_counter(), dict[str, list[float]]()
    if given.dry:
        for case in chosen:
            schedule = default_schedule(program_of(case), load_machine("h100"), "cuda")
            sys.stdout.write(f"{case.name}\n{print_schedule(schedule)}")
        return 0
    device = open_device(given.device)
    with ProcessPoolExecutor(given.jobs, mp_context=get_context("spawn")) as pool:
        rows = pool.map(made, chosen, repeat(device.machine), repeat(given.plans))
        bench = Bench(device)
        sys.stdout.write(f"{device.machine.title}\n\n{HEAD}\n")
        for case, row in zip(chosen, rows, strict=True):
            if time.perf_counter() - start > 60 * given.minutes:
                sys.stdout.write("the time is up\n")
                pool.shutdown(cancel_futures=True)
                break
            times = bench.seconds(case, row)
            sys.stdout.write(line(case, row, times) + "\n")
            sys.stdout.flush()
            ours, theirs = times.get(DEFAULT), times.get("torch")
            if isinstance(ours, float) and isinstance(theirs, float):
                ratios.setdefault(case.program, []).append(theirs / ours)
    for program, found in ratios.items():
        mean = exp(sum(map(log, found)) / len(found))
        said = f"torch / default has the geometric mean {mean:.2f}, from {min(found):.2f} to {max(found):.2f}"
        sys.stdout.write(f"\n{program}: {said}, over {len(found)} sizes\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
