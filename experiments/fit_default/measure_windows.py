"""`scripts/fit-default measure-windows`: plans of convolutions, verified and timed on an NVIDIA GPU."""

import argparse
import random
import sys
import time
from collections.abc import Mapping
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from math import prod
from multiprocessing import get_context
from pathlib import Path
from typing import Any, TextIO

from bench.gpu import arrays
from bench.gpu.cases import Case
from bench.gpu.gpu import PLACE, Tensors, one_stream, torch, versions
from experiments.fit_default.build import Code
from experiments.fit_default.files import header, write
from experiments.fit_default.timed import timed
from experiments.fit_default.window_candidates import build, candidates, convolutions
from experiments.fit_default.window_choice import Problem, problem
from experiments.fit_default.window_rows import SCHEMA, Convolution, Row
from mdh.device.api import open_device
from mdh.machine import load_machine
from mdh.release import release
from mdh.schedule.default.operands import Tiling

WARM, FIRST, BETWEEN = 4096, 40, 2
"""Products of that size make the GPU reach its clock: so many at first, and before each candidate."""
Candidate = tuple[Convolution, Tiling | str]
"""A plan, or the name of a schedule that ships."""


@dataclass(frozen=True)
class Convolving:
    """A convolution with what its candidates read and are judged by."""

    case: Case
    tensors: Tensors
    right: Tensors


@dataclass
class Bench:
    """Where candidates are timed. done: how many were."""

    device: Any
    stream: int
    out: TextIO
    problems: Mapping[Convolution, Problem]
    ready: dict[Convolution, Convolving] = field(default_factory=dict)
    done: int = 0
    factor: Any = field(default_factory=lambda: torch.randn(WARM, WARM, device=PLACE))

    def warm(self, times: int) -> None:
        for _ in range(times):
            torch.mm(self.factor, self.factor)

    def take(self, of: Convolution, what: Tiling | str, code: Code | str) -> None:
        """Times it, and writes that down."""
        named = what if isinstance(what, str) else self.problems[of].tiles(what)
        said = self._timed(of, code) if isinstance(code, Code) else code
        if isinstance(said, str) or isinstance(code, str):
            sys.stderr.write(f"{of}, {named}: {said}\n")
            return
        write(self.out, Row(of, named, said, code.registers, code.spilled).line())
        self.done += 1

    def _timed(self, of: Convolution, code: Code) -> float | str:
        if of not in self.ready:
            self.ready[of] = _convolving(of, self.problems[of])
        one = self.ready[of]
        self.warm(BETWEEN)
        return timed(self.device, self.stream, one.case, one.tensors, one.right, code)


def main(given: argparse.Namespace) -> int:
    end = time.monotonic() + 60 * given.minutes
    rng, machine = random.Random(given.seed), load_machine(given.machine)
    device = open_device(given.device)
    problems = {of: problem(of, machine) for of in convolutions()}
    with ProcessPoolExecutor(given.jobs, mp_context=get_context("spawn")) as pool:
        jobs = [(c, pool.submit(build, given.machine, *c)) for c in _order(problems, rng)]
        stream, outer = one_stream()
        with given.out.open("a", encoding="utf-8") as out:
            if not out.tell():
                named = {"device": device.title, "mdh": release(), "seed": str(given.seed), **versions()}
                write(out, header(SCHEMA, given.machine, **named))
            bench = Bench(device, int(stream.cuda_stream), out, problems)
            bench.warm(FIRST)
            for (of, what), future in jobs:
                if time.monotonic() > end:
                    break
                bench.take(of, what, future.result())
        for _, future in jobs:
            future.cancel()
        del outer
    sys.stderr.write(f"{bench.done} of {len(jobs)} plans and schedules of {len(problems)} convolutions\n")
    return 0


def _order(problems: Mapping[Convolution, Problem], rng: random.Random) -> list[Candidate]:
    """The first ones of all before the second ones, so that all have about as many when time is over."""
    shipped = convolutions()
    every = list[list[Candidate]]()
    for of, one in problems.items():
        whats: list[Tiling | str] = [*shipped[of], *candidates(one, rng)]
        every.append([(of, what) for what in whats])
    return [turn[n] for n in range(max(map(len, every))) for turn in every if n < len(turn)]


def _convolving(of: Convolution, one: Problem) -> Convolving:
    flops = 2.0 * prod(one.shape.extents)
    case = Case(str(of), of.program, dict(of.sizes), flops, adds=of.program == "conv2d_56")
    tensors = arrays.random_sets(case, one.shape.program, 1)[0]
    return Convolving(case, tensors, arrays.expected(case, one.shape.program, tensors))


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("out", type=Path, metavar="OUT.jsonl", help="lines are added to it")
    parser.add_argument("--minutes", type=float, default=2.0, help="after them nothing else is timed")
    parser.add_argument("--seed", type=int, default=1, help="of what the estimate does not like best")
    parser.add_argument("--device", default="cuda:0")
    parser.add_argument("--machine", default="h200", help="that schedules are derived for")
    parser.add_argument("--jobs", type=int, default=13, help="processes that compile")
