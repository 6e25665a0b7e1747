"""What the page shows of a unit is what its threads use: lowered kernels are run thread by thread."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product

import pytest

from mdh.diagnostics import Failed
from mdh.frontend.c.read import read_program
from mdh.ir.kernel import Kernel
from mdh.ir.plan import Plan, StagePlan
from mdh.ir.program import Program
from mdh.lower.run import lower
from mdh.machine import load_machine
from mdh.report.picture.stage import ArrayView, DimView, StageView, stage_view
from mdh.schedule.parser import parse_schedule
from mdh.source import Source
from tests.report.threads import Element, Units, by_thread
from tests.support.pairs import planned
from tests.support.random_programs import random_program
from tests.support.random_schedules import random_schedule
from tests.support.source_tree import ROOT

WORK = 60_000
"""Threads times points of a stage that is run: larger ones take seconds."""


def digits_of(dim: DimView, element: int) -> dict[str, int]:
    """As the page finds them: by division, the largest weight first."""
    out = {}
    for digit in dim.digits:
        out[digit.var], element = divmod(element, digit.weight)
    return out


def shown(
    view: StageView, units: dict[str, int], *, finish: bool = True
) -> tuple[set[Element], set[Element]]:
    """Elements read and written at the points whose digits are `units`; data-dependent accesses left out."""
    sets = [
        [e for e in range(dim.extent) if all(units.get(n, v) == v for n, v in digits_of(dim, e).items())]
        for dim in view.dims
    ]
    read: set[Element] = set()
    written: set[Element] = set()
    for array in view.arrays:
        for touch in array.touches:
            if None not in touch.index and (finish or not touch.finish):
                (written if touch.store else read).update(_elements(array, touch.index, sets))
    return read, written


def _elements(array: ArrayView, index: tuple, sets: list[list[int]]) -> Iterator[Element]:
    for point in product(*sets):
        at = 0
        for f, n in zip(index, array.shape, strict=True):
            at = at * n + f.offset + sum(t.factor * point[t.dim] for t in f.terms)
        yield array.name, at


@dataclass(frozen=True)
class Case:
    plan: Plan
    stage: StagePlan
    view: StageView
    kernel: Kernel

    @property
    def known(self) -> frozenset[str]:
        """Arrays all of whose subscripts are known."""
        data = {a.name for a in self.view.arrays for t in a.touches if None in t.index}
        return frozenset(a.name for a in self.view.arrays) - data

    @property
    def finishes_elsewhere(self) -> bool:
        """In a second kernel, or in place of the data-dependent elements that are left out."""
        return "kernel" in self.view.combines or self.stage.stage.scattered

    @property
    def dealt(self) -> bool:
        """Results leave shared memory by whichever thread of the block is at hand."""
        return any(h.region == "SM" for step in self.stage.steps for h in step.holdings)

    @property
    def levels(self) -> dict[str, int]:
        inner = ("CLU", "BLK") if self.plan.machine.kind == "cpu" else ("CLU", "BLK", "WGP", "WRP", "THR")
        return {d.var: d.parts for dim in self.view.dims for d in dim.digits if d.layer in inner}


def cases(plan: Plan) -> Iterator[Case]:
    module = lower(plan)
    for stage in plan.stages:
        view = stage_view(plan, stage)
        kernel = next(k for k in module.kernels if k.stage == stage.stage.name)
        yield Case(plan, stage, view, kernel)


def wrong(case: Case) -> str:
    """Where a thread uses other elements than the page shows for it; empty where none does."""
    arrays = {b.name: b for b in case.stage.program.buffers}
    trace = by_thread(case.kernel, arrays, frozenset(case.levels))
    split = bool(case.view.combines) or case.stage.stage.scattered
    seen: dict[Units, tuple[set[Element], set[Element]]] = {}
    for table, n in ((trace.used, 0), (trace.stored, 1)):
        for units, elements in table.items():
            seen.setdefault(units, (set(), set()))[n].update(e for e in elements if e[0] in case.known)
    every: tuple[set[Element], set[Element]] = (set(), set())
    for units, (used, stored) in seen.items():
        read, written = shown(case.view, dict(units))
        always, _ = shown(case.view, dict(units), finish=not split)
        outputs = case.stage.stage.written
        ours = {e for e in read if e[0] in case.known and e[0] not in outputs}
        theirs = {e for e in used if e[0] not in outputs}
        # parts of results past an edge are handed over, too, and stored by nobody
        if not (case.view.combines or ours >= theirs) or not theirs >= (always & ours):
            return f"{units}: reads {sorted(theirs - ours)[:4]} more, {sorted(ours - theirs)[:4]} less"
        if not split and not case.dealt and stored != written:
            return f"{units}: writes {sorted(stored ^ written)[:4]}"
        every[0].update(theirs)
        every[1].update(stored)
    read, written = shown(case.view, {}, finish=not case.finishes_elsewhere)
    if not case.finishes_elsewhere and every[1] != written:
        return "some result is written by no thread"
    if not every[0] >= {e for e in read if e[0] in case.known and e[0] not in case.stage.stage.written}:
        return "some element is read by no thread"
    return ""


def small(case: Case) -> bool:
    points = 1
    for dim in case.view.dims:
        points *= dim.extent
    x, y, z = case.kernel.launch.block
    gx, gy, gz = case.kernel.launch.grid
    return points <= WORK and x * y * z * gx * gy * gz <= 4096


# a few tiles, cut on every edge
SHIPPED = {
    "jacobi2d/h200/base": {"N": 37, "M": 75},
    "transpose/h200/base": {"M": 37, "N": 40},
    "row_argmax/h200/base": {"M": 13, "N": 100},
    "matmul_t/h200/base": {"M": 10, "N": 70, "K": 37},
    "ccsdt_1/h200/base": {"A": 2, "B": 3, "C": 2, "D": 4, "E": 3, "F": 5, "G": 13},
}
WARPS = """
1: (de-)comp( 16, 16, ^ ) ( ^, ^ ; ^ ) ( BLK.y, BLK.x, ^ ) @order(grouped(2))
2: (de-)comp( ^, ^, 4 ) ( A:SM[2,1]@pad(4), B:SM[1,2] ; C:RM[1,2] ) ( ^, ^, FOR.1 ) @stages(2)
3: (de-)comp( 8, 16, ^ ) ( ^, ^ ; ^ ) ( WRP.y, ^, ^ )
4: (de-)comp( 2, 2, ^ ) ( ^, ^ ; ^ ) ( THR.y@cyclic(1), THR.x@cyclic(1), ^ )
5: (de-)comp( ^, ^, 1 ) ( A:RM[1,2], B:RM[1,2] ; ^ ) ( ^, ^, FOR.1 ) @unroll
"""
SKEWED = """
void skewed(const float I[70], const float F[5], const float D[12][40], float O[12][20]) {
  for (int i = 0; i < 12; i++)
    for (int p = 0; p < 20; p++)
      for (int r = 0; r < 5; r++)
        O[i][p] += I[2 * p + 3 * r] * F[4 - r] * D[i][i + p + r];
}
"""
SKEWED_STEPS = """
1: (de-)comp( 8, 16, ^ ) ( ^, ^, ^ ; ^ ) ( BLK.y, BLK.x, ^ )
2: (de-)comp( ^, ^, 2 ) ( I:SM[1], ^, ^ ; O:RM[1,2] ) ( ^, ^, FOR.1 )
3: (de-)comp( 2, 2, ^ ) ( ^, ^, ^ ; ^ ) ( THR.y, THR.x@cyclic(1), ^ )
"""
SMALL = ("warps", "skewed", *SHIPPED)


def small_plan(name: str) -> Plan:
    """Of products, stencils, contractions: warps, dealt elements, pipelines, halos, strides, edges."""
    if name == "skewed":
        program, text = read_program(Source("skewed.c", SKEWED)), SKEWED_STEPS
    elif name == "warps":
        program, text = _read("matmul", {"M": 18, "N": 35, "K": 10}), WARPS
    else:
        program = _read(name.partition("/")[0], SHIPPED[name])
        text = (ROOT / "schedules" / f"{name}.mdh").read_text(encoding="utf-8")
    plan = planned_texts(program, text, "h200", "cuda")
    assert plan is not None
    return plan


def _read(program: str, sizes: dict[str, int]) -> Program:
    source = ROOT / "inputs_c" / f"{program}.c"
    return read_program(Source(source.name, source.read_text(encoding="utf-8")), defines=sizes)


def planned_texts(program: Program, schedule: str, machine: str, target: str) -> Plan | None:
    """None where the checker refuses."""
    try:
        return planned(program, parse_schedule(Source("s.mdh", schedule)), load_machine(machine), target)
    except Failed:
        return None


@pytest.mark.parametrize("seed", range(40))
def test_random_programs(seed: int) -> None:
    """GPU kernels of random programs with random schedules."""
    program = read_program(random_program(seed).source)
    plan = planned_texts(program, random_schedule(program, load_machine("a100"), seed), "a100", "cuda")
    for case in cases(plan) if plan else ():
        if small(case):
            assert wrong(case) == ""


@pytest.mark.parametrize("seed", range(100, 115))
def test_random_programs_on_a_cpu(seed: int) -> None:
    """Work-groups: what they read, idle lanes at the edge apart."""
    program = read_program(random_program(seed).source)
    machine = load_machine("generic-cpu")
    plan = planned_texts(program, random_schedule(program, machine, seed), "generic-cpu", "c")
    for case in cases(plan) if plan else ():
        if small(case):
            assert wrong(case) == ""


@pytest.mark.parametrize("name", SMALL)
def test_chosen_schedules(name: str) -> None:
    for case in cases(small_plan(name)):
        assert wrong(case) == ""
