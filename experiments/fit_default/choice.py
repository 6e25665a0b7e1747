"""What an estimate chooses among what was measured, and how far that is from the best."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from math import exp, log
from pathlib import Path

from experiments.fit_default.rows import Measured, Row, Sizes
from mdh.cost.gpu import Costs, Joining, Work, seconds
from mdh.frontend.c.read import read_program
from mdh.machine import Machine
from mdh.schedule.default.contraction import find_contraction
from mdh.schedule.default.contraction_gpu import work_of
from mdh.schedule.default.ladder import BlockTile, fits
from mdh.schedule.default.ladder_plans import LadderTiling, plan_of, plans
from mdh.schedule.default.operands import Contraction
from mdh.schedule.default.shape import Shape
from mdh.source import Source

ROOT = Path(__file__).resolve().parent.parent.parent
PROGRAM = ROOT / "inputs_c" / "matmul_init.c"


@dataclass(frozen=True)
class Problem:
    """A product of some sizes, as the default schedules see it."""

    shape: Shape
    found: Contraction
    machine: Machine

    def plan(self, tile: BlockTile, parts: int, *, adding: bool = False) -> LadderTiling | None:
        """adding: blocks add to the output, whose starting values a kernel writes first."""
        plan = plan_of(self.shape, self.found, self.machine, tile, parts)
        joining = Joining.FRESH if adding else Joining.KERNEL
        return plan and replace(plan, joining=joining)

    def plans(self, ladder: Sequence[BlockTile]) -> list[LadderTiling]:
        return list(plans(self.shape, self.found, self.machine, ladder, Joining.FRESH))

    def work(self, plan: LadderTiling) -> Work:
        return work_of(self.shape, self.found, self.machine, plan)


def problem(sizes: Sizes, machine: Machine) -> Problem:
    program = read_program(_source(), defines=dict(zip("MNK", sizes, strict=True)))
    shape = Shape(program, program.stages[0])
    found = find_contraction(shape)
    assert found is not None
    return Problem(shape, found, machine)


@cache
def _source() -> Source:
    return Source(str(PROGRAM), PROGRAM.read_text(encoding="utf-8"))


@dataclass(frozen=True)
class Table:
    """Measured schedules with what an estimate of them looks at, by sizes."""

    machine: Machine
    rows: Mapping[Sizes, list[tuple[Row, Work]]]
    library: Mapping[Sizes, float]


def adds(plan: LadderTiling) -> bool:
    return plan.joining is Joining.FRESH


def table(measured: Measured, machine: Machine) -> Table:
    """Rows that no plan stands for are left out."""
    out: dict[Sizes, list[tuple[Row, Work]]] = {}
    for sizes, rows in measured.by_sizes().items():
        one = problem(sizes, machine)
        pairs = ((row, one.plan(row.tile, row.parts, adding=row.adding)) for row in rows if _fits(row))
        out[sizes] = [(row, one.work(plan)) for row, plan in pairs if plan is not None]
    return Table(machine, {s: rows for s, rows in out.items() if rows}, measured.library)


def _fits(row: Row) -> bool:
    return all(fits(row.tile, n, size) for n, size in enumerate(row.sizes[:2]))


@dataclass(frozen=True, slots=True)
class Choice:
    """What is chosen for some sizes, and the best that was measured. library: its seconds, where known."""

    sizes: Sizes
    chosen: Row
    best: Row
    library: float | None

    @property
    def ratio(self) -> float:
        return self.chosen.seconds / self.best.seconds


def choices(given: Table, costs: Costs, ladder: Sequence[BlockTile]) -> list[Choice]:
    """For all sizes of which something on the ladder was measured; what comes first there wins a draw."""
    out = []
    place = {tile: n for n, tile in enumerate(ladder)}
    for sizes, pairs in given.rows.items():
        mine = [
            (seconds(work, given.machine, costs), place[row.tile], row.parts, row.adding, row)
            for row, work in pairs
            if row.tile in place
        ]
        if mine:
            chosen = min(mine, key=lambda x: x[:4])[4]
            best = min((row for row, _ in pairs), key=lambda r: r.seconds)
            out.append(Choice(sizes, chosen, best, given.library.get(sizes)))
    return out


def everywhere(given: Table, costs: Costs, ladder: Sequence[BlockTile]) -> int:
    """Of how many sizes the choice among all plans, as default schedules make it, was measured."""
    count = 0
    for sizes, pairs in given.rows.items():
        one = problem(sizes, given.machine)
        plan = min(one.plans(ladder), key=lambda p: seconds(one.work(p), given.machine, costs))
        count += any(
            (row.tile, row.parts, row.adding) == (plan.tile, plan.parts, adds(plan)) for row, _ in pairs
        )
    return count


def geometric(ratios: Sequence[float]) -> float:
    return exp(sum(map(log, ratios)) / len(ratios)) if ratios else float("nan")
