"""Fits the estimate of products whose warps multiply on tensor cores (`mdh.cost.tensor`) to timed schedules.

python -m experiments.fit_atoms measure OUT.jsonl.gz    times plans of random sizes; needs a GPU
python -m experiments.fit_atoms fit IN.jsonl.gz         constants, and what the estimate chooses with them

A row holds what the estimate knows of a plan, and the seconds that its kernel took. Kernels are judged by
torch on doubles before they are timed. The constants of f64 come from the rows in
artifacts/h100/atoms_f64_fit.jsonl.gz.
"""

import argparse
import gzip
import json
import random
import sys
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass, field, replace
from importlib import import_module
from itertools import repeat
from math import exp, inf, log, prod
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from bench.atoms import Bench, Row
from bench.cases import ccsdt_sizes, program_of
from bench.gpu.cases import Case
from bench.gpu.kernels import Prepared, compiled
from mdh.checker.run import check
from mdh.cost.gpu import Joining
from mdh.cost.tensor import DOUBLE, AtomCosts, AtomWork, atom_seconds
from mdh.device.api import open_device
from mdh.diagnostics import Failed
from mdh.ir.atoms import ATOMS
from mdh.lower.run import lower
from mdh.machine import Machine, load_machine
from mdh.schedule.default import contraction_atoms as plans_of
from mdh.schedule.default.atoms import Matrices, every_matrices
from mdh.schedule.default.fusing import joined
from mdh.schedule.default.shape import Shape
from mdh.schedule.model import Schedule
from mdh.target.emit import emit

SEED = 64
LEAST, MOST, FLOPS = 48, 8192, 1.5e11
"""Extents of random products, and the most operations of one."""


@dataclass
class Timed:
    """The plans of a case: what the estimate knows of each, by the name of its kernel."""

    row: Row
    works: dict[str, dict[str, Any]] = field(default_factory=dict)


FIXED = ((1024, 1024, 1024), (4096, 4096, 4096), (88, 6156, 11568), (3924, 842, 2398), (2491, 343, 263))


def drawn_cases(count: int, seed: int) -> Iterator[Case]:
    """Products of any sizes, every third of odd ones, and now and then a contraction of seven dimensions."""
    rng = random.Random(seed)
    yield Case("ccsdt", "ccsdt_1_double", ccsdt_sizes(1), 2.0 * prod(ccsdt_sizes(1).values()))
    for m, n, k in FIXED:
        yield Case(f"{m}x{n}x{k}", "matmul_double", {"M": m, "N": n, "K": k}, 2.0 * m * n * k)
    for number in range(count):
        if number % 9 == 5:
            sizes = {d: rng.choice((8, 12, 16, 20, 24)) for d in "ABCDEF"} | {"G": rng.choice((16, 24, 48))}
            yield Case(f"ccsdt {sizes}", "ccsdt_1_double", sizes, 2.0 * prod(sizes.values()))
            continue
        step = 1 if number % 3 == 2 else rng.choice((2, 16))
        while True:
            m, n, k = (max(1, round(exp(rng.uniform(log(LEAST), log(MOST))) / step)) * step for _ in "mnk")
            if 2.0 * m * n * k < FLOPS:
                break
        yield Case(f"{m}x{n}x{k}", "matmul_double", {"M": m, "N": n, "K": k}, 2.0 * m * n * k)


def made(case: Case, machine: Machine, count: int) -> Timed:
    """Kernels of plans: those that the estimate takes for the best, and as many at random."""
    program = program_of(case)
    shape = joined(Shape(program, program.stages[0]))
    rng, out = random.Random(case.name), Timed(Row(Prepared(case)))
    every = sorted(_plans(shape, machine), key=lambda p: p[2])
    near = [p for p in every if p[2] < 1.3 * every[0][2]]
    others = [p for p in every if p[2] < 2.5 * every[0][2]]
    half = count // 2
    chosen = [
        *every[:3],
        *rng.sample(near, min(len(near), half)),
        *rng.sample(others, min(len(others), half)),
    ]
    for found, plan, _ in chosen:
        _add(out, shape, found, machine, plan)
    compiled(out.row.prepared, machine.arch)
    return out


def _plans(shape: Shape, machine: Machine) -> Iterator[tuple[Matrices, plans_of.AtomTiling, float]]:
    for found in every_matrices(shape, machine, "cuda"):
        moved = plans_of.moved_bytes(shape, found)
        for plan in plans_of.atom_plans(shape, found, machine, Joining.KERNEL):
            work = plans_of.atom_work(shape, found, machine, plan, moved)
            yield found, plan, atom_seconds(work, machine)


def _add(out: Timed, shape: Shape, found: Matrices, machine: Machine, plan: plans_of.AtomTiling) -> None:
    work = plans_of.atom_work(shape, found, machine, plan, plans_of.moved_bytes(shape, found))
    name = json.dumps([found.atom.k, found.depth, plan.size, plan.warp, plan.slots, plan.parts])
    section = plans_of.atom_outline(shape, found, machine, plan).section(shape.program.stages[0].name)
    schedule = Schedule((section,), target=machine.name, program=shape.program.name)
    program = program_of(out.row.prepared.case)
    try:
        text = emit(lower(check(program, schedule, machine, "cuda")), program)
    except Failed as failed:
        out.row.prepared.refused[name] = str(failed)
        return
    out.row.prepared.texts[name] = text
    out.works[name] = asdict(work) | {"atom": work.atom.name, "joining": work.joining.name}


def measure(given: argparse.Namespace) -> int:
    device, start = open_device(given.device), time.perf_counter()
    with (
        ProcessPoolExecutor(given.jobs, mp_context=get_context("spawn")) as pool,
        gzip.open(given.file, "wt", encoding="utf-8") as out,
    ):
        chosen = list(drawn_cases(given.cases, given.seed))
        bench = Bench(device)
        every = pool.map(made, chosen, repeat(device.machine), repeat(given.plans))
        for case, timed in zip(chosen, every, strict=True):
            if time.perf_counter() - start > 60 * given.minutes:
                pool.shutdown(cancel_futures=True)
                break
            times = bench.seconds(case, timed.row)
            for name, seconds in times.items():
                row = {"case": case.name, "plan": name, "seconds": seconds, "work": timed.works.get(name)}
                kernel = timed.row.prepared.kernels.get(name)
                row["compiled"] = kernel.resources if kernel else ""
                out.write(json.dumps(row) + "\n")
            refused = len(timed.row.prepared.refused)
            found = [t for n, t in times.items() if isinstance(t, float) and n != "torch"]
            best = min(found, default=0.0) * 1e6
            torch = times.get("torch")
            said = f"{torch * 1e6:.1f}" if isinstance(torch, float) else str(torch)
            sys.stdout.write(
                f"{case.name}: {len(found)} plans, {refused} refused, best {best:.1f} µs, torch {said}\n"
            )
            sys.stdout.flush()
    return 0


@dataclass(frozen=True, slots=True)
class Known:
    """A timed plan of a case."""

    case: str
    work: AtomWork
    seconds: float


def read(path: Path) -> list[Known]:
    """Those that were right."""
    out, named = [], {a.name: a for a in ATOMS}
    for line in gzip.decompress(path.read_bytes()).splitlines():
        row = json.loads(line)
        if row["work"] is not None and isinstance(row["seconds"], float):
            told = dict(row["work"])
            atom = named[told.pop("atom")]
            told["joining"] = Joining[told["joining"]]
            out.append(Known(row["case"], AtomWork(atom, **told), row["seconds"]))
    return out


BOUNDS = {
    "near": (15, 64), "exposed": (0, 300), "latency": (200, 2000), "block": (0, 4000), "stored": (0, 2),
    "cut": (0, 4), "overlap": (1.2, 8), "piece": (0, 40), "straddled": (0, 128),
}  # fmt: skip
COSTS = {"launch": (4e-7, 1.2e-6), "second": (4e-7, 2.5e-6), "reached": (0.6, 0.95)}
OFF = 0.6
"""A larger error of a logarithm counts as this: some kernels are slow for reasons that no estimate knows."""
GOOD, POOR = 1.4, 0.3
"""Plans that take so many times the best of their case count less: they are not chosen."""


def with_constants(values: Sequence[float]) -> AtomCosts:
    own: dict[str, Any] = dict(zip((*BOUNDS, *COSTS), values, strict=True))
    costs = replace(DOUBLE.costs, **{n: own.pop(n) for n in COSTS})
    return replace(DOUBLE, costs=costs, **own)


def fit(given: argparse.Namespace) -> int:
    optimize: Any = import_module("scipy.optimize")
    machine, known = load_machine(given.machine), read(Path(given.file))
    best: dict[str, float] = {}
    for one in known:
        best[one.case] = min(best.get(one.case, inf), one.seconds)

    def loss(values: Sequence[float]) -> float:
        fitted = with_constants(values)
        total = 0.0
        for one in known:
            error = abs(log(atom_seconds(one.work, machine, fitted) / one.seconds))
            total += (1.0 if one.seconds < GOOD * best[one.case] else POOR) * min(error, OFF) ** 1.5
        return total / len(known)

    found = optimize.differential_evolution(
        loss, [*BOUNDS.values(), *COSTS.values()], maxiter=given.rounds, popsize=8, seed=1, polish=False
    )
    for name, value in zip((*BOUNDS, *COSTS), found.x, strict=True):
        sys.stdout.write(f"{name} {value:.4g}\n")
    for name, fitted in (("now", DOUBLE), ("fitted", with_constants(found.x))):
        sys.stdout.write(f"{name}: {chosen_over_best(known, best, machine, fitted)}\n")
    return 0


def chosen_over_best(
    known: Sequence[Known], best: dict[str, float], machine: Machine, fitted: AtomCosts
) -> str:
    """How much longer than the best timed plan of its case the one takes that the estimate chooses."""
    chosen: dict[str, tuple[float, float]] = {}
    for one in known:
        estimate = atom_seconds(one.work, machine, fitted), one.seconds
        chosen[one.case] = min(chosen.get(one.case, estimate), estimate)
    over = {case: seconds / best[case] for case, (_, seconds) in chosen.items()}
    mean = exp(sum(map(log, over.values())) / len(over))
    worst = max(over, key=lambda case: over[case])
    return f"chosen / best has the mean {mean:.3f} over {len(over)} cases, and {over[worst]:.2f} for {worst}"


def main(argv: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("verb", choices=("measure", "fit"))
    parser.add_argument("file")
    parser.add_argument("--cases", type=int, default=36)
    parser.add_argument("--seed", type=int, default=SEED)
    parser.add_argument("--plans", type=int, default=14)
    parser.add_argument("--minutes", type=float, default=5.0)
    parser.add_argument("--device", default="cuda:0")
    parser.add_argument("--jobs", type=int, default=14)
    parser.add_argument("--machine", default="h100", help="of the times that constants are fitted to")
    parser.add_argument("--rounds", type=int, default=40, help="of the search for constants")
    given = parser.parse_args(argv)
    return measure(given) if given.verb == "measure" else fit(given)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
