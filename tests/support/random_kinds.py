"""Kinds of random programs with schedules of their own: drawn, planned, run and compared in one way."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache

from mdh.device.api import open_device
from mdh.diagnostics import Failed
from mdh.frontend.c.read import read_program
from mdh.ir.plan import Plan
from mdh.ir.program import Program
from mdh.ir.swaps import swaps_of
from mdh.lower.run import lower
from mdh.machine import Machine, load_machine
from mdh.schedule.parser import parse_schedule
from mdh.source import Source
from mdh.target.emit import emit
from tests.atoms.warps import run
from tests.support.arrays import Arrays
from tests.support.cubins import cubin_of
from tests.support.pairs import arguments, drawn, execute, judged, planned
from tests.support.random_beside import beside_schedule, random_beside
from tests.support.random_inner import inner_schedule, random_inner
from tests.support.random_loops import loops_schedule, random_loops
from tests.support.random_online import online_schedule, random_online
from tests.support.random_rows import random_rows
from tests.support.random_swaps import random_swaps
from tests.support.random_wavefronts import front_schedule, random_sweeps
from tests.support.random_weights import random_weights, weights_schedule

Drawing = Callable[[Program, Machine, str, int], str | None]
"""The text of a schedule for a program, a machine, a target and a seed; None if there is none."""


@dataclass(frozen=True, eq=False)
class Kind:
    """text: the C of a seed. words: what tests count of a plan. draw: schedules; without it there is the
    default one alone. default: run that too. small: the text for a simulated GPU. several: programs of one
    stage are passed over. below: of index arrays.
    """

    name: str
    text: Callable[[int], str]
    words: Callable[[Plan], Iterator[str]]
    draw: Drawing | None = None
    default: bool = True
    small: Callable[[int], str] | None = None
    several: bool = False
    below: Mapping[str, int] = field(default_factory=dict)

    def text_for(self, seed: int, target: str) -> str:
        return self.text(seed) if self.small is None or target != "opencl" else self.small(seed)

    def program(self, seed: int, target: str) -> Program | None:
        """None if the front end refuses it."""
        program = _read(self.name, self.text_for(seed, target))
        return None if program is None or (self.several and len(program.stages) == 1) else program

    def by_default(self, seed: int, machine: Machine, target: str) -> Iterator[Plan]:
        """The plan of the default schedule, which is legal for every program."""
        program = self.program(seed, target)
        if program is not None:
            yield planned(program, None, machine, target)

    def drawn(self, seed: int, machine: Machine, target: str) -> Iterator[Plan | str]:
        """The plan of the seed's schedule, or the codes against it; nothing if it has none."""
        program = self.program(seed, target)
        if program is None or self.draw is None:
            return
        try:
            text = self.draw(program, machine, target, seed)
            if text is not None:
                yield planned(program, parse_schedule(Source("drawn.mdh", text)), machine, target)
        except Failed as failed:
            codes = sorted({d.code for d in failed.diagnostics})
            assert all(c[0] == "K" for c in codes), (failed, self.text_for(seed, target))
            yield " ".join(codes)

    def plans(self, seed: int, machine: Machine, target: str) -> Iterator[Plan]:
        if self.default:
            yield from self.by_default(seed, machine, target)
        for plan in self.drawn(seed, machine, target):
            if not isinstance(plan, str):
                yield plan

    def run(self, seed: int, device: str) -> None:
        """Every plan computes what the C says, and its text is a schedule for the same plan."""
        opened = open_device(device)
        for plan in self.plans(seed, opened.machine, opened.target):
            found = execute(plan, opened, arguments(plan.program, self.below, seed), {})
            assert found.kind == "equal", (found, plan.text, self.text_for(seed, opened.target))
            again = parse_schedule(Source("again.mdh", plan.text))
            assert planned(plan.program, again, opened.machine, opened.target).text == plan.text

    def compiled(self, seed: int) -> None:
        """The CUDA text of every plan has no errors."""
        for plan in self.plans(seed, load_machine("h100"), "cuda"):
            assert cubin_of(emit(lower(plan), plan.program), "sm_90")


@cache
def _read(name: str, text: str) -> Program | None:
    try:
        return read_program(Source(f"{name}.c", text))
    except Failed as failed:
        assert all(d.code[0] == "C" for d in failed.diagnostics)
        return None


def right_in_the_interpreter(plan: Plan, arrays: Arrays, seed: int) -> None:
    """The kernels of the plan compute what the C says, by the interpreter of kernels."""
    before = drawn(plan.program, arrays, {})
    mine = {name: array.copy() for name, array in before.arrays.items()}
    run(lower(plan), mine, seed=seed)
    found = judged(before, mine)
    assert found.kind == "equal", (found, plan.text)


def _of_loops(plan: Plan) -> Iterator[str]:
    if plan.loops:
        yield "shared"
    if any(x.first < x.last for x in plan.loops):
        yield "several"


def _of_fronts(plan: Plan) -> Iterator[str]:
    if plan.fronts:
        yield "fronts"
    if any(len(x.fronts.rows) > 1 for x in plan.fronts):
        yield "several"
    if any(x.strips is not None for x in plan.fronts):
        yield "strips"


def _of_launches(plan: Plan) -> Iterator[str]:
    if plan.order:
        yield "shared"
    if any(len(launch) > 2 for launch in plan.order):
        yield "three"
    if [n for launch in plan.order for n in launch] != list(range(len(plan.stages))):
        yield "moved"


def _of_inner(plan: Plan) -> Iterator[str]:
    inner = [x for s in plan.stages for x in s.inner]
    if inner:
        yield "inside"
    if inner and len(plan.stages) == 1:
        yield "alone"
    if any(x.plan.inner for x in inner):
        yield "nested"


def _of_swaps(plan: Plan) -> Iterator[str]:
    if plan.program.loops:
        yield f"{len(swaps_of(plan))} swapped"


LOOPS = Kind(
    "loops",
    lambda seed: random_loops(seed).text,
    _of_loops,
    lambda program, machine, _, seed: loops_schedule(program, machine, seed),
)
"""Loops around turns, whose iterations units share."""
FRONTS = Kind(
    "sweeps",
    lambda seed: random_sweeps(seed).text,
    _of_fronts,
    lambda program, machine, _, seed: front_schedule(program, machine, seed),
)
"""Pairs of loops that run as wavefronts."""
BESIDE = Kind(
    "beside",
    lambda seed: random_beside(seed).text,
    _of_launches,
    lambda program, machine, _, seed: beside_schedule(program, machine, seed),
    default=False,
    several=True,
    below={"I": 3},
)
"""Independent stages, some of which share launches."""
INNER = Kind(
    "inner", lambda seed: random_inner(seed).text, _of_inner, inner_schedule, default=False, several=True
)
"""Two to four stages, some of them inside of their reader's kernel."""
ONLINE = Kind(
    "online",
    lambda seed: random_online(seed).text,
    _of_inner,
    lambda program, machine, target, seed: online_schedule(
        random_online(seed), program, machine, target, seed
    ),
    default=False,
)
"""Reductions in one pass."""
SWAPS = Kind("swaps", random_swaps, _of_swaps)
"""Time steps with copies, in whose place arrays may swap roles."""
WEIGHTS = Kind(
    "layers",
    random_weights,
    _of_loops,
    lambda program, _machine, _target, seed: weights_schedule(program, seed),
)
"""Products in turns of a loop, whose counter chooses the weights."""
ROWS = Kind(
    "rows",
    lambda seed: random_rows(seed).text,
    _of_inner,
    small=lambda seed: random_rows(seed, most=600).text,
)
"""Stages that work on the same rows, which are one kernel by default."""
