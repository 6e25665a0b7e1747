"""What the estimate for convolutions chooses among what was measured, and how far that is from the best."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

from experiments.fit_default.files import WrongFileError
from experiments.fit_default.window_rows import Convolution, Measured, Named, Row, Tiles
from mdh.cost.gpu import Costs, Work, seconds
from mdh.frontend.c.read import read_program
from mdh.machine import Machine
from mdh.schedule.default.contraction import find_contraction
from mdh.schedule.default.operands import Tiling
from mdh.schedule.default.shape import Shape
from mdh.schedule.default.window import Window, find_window
from mdh.schedule.default.window_plans import plans, work_of
from mdh.source import Source

ROOT = Path(__file__).resolve().parent.parent.parent


@dataclass(frozen=True)
class Problem:
    """A convolution of some sizes, as the default schedules see it."""

    shape: Shape
    window: Window
    machine: Machine

    @cached_property
    def plans(self) -> list[Tiling]:
        return list(plans(self.shape, self.window, self.machine))

    def work(self, plan: Tiling) -> Work:
        return work_of(self.shape, self.window, self.machine, plan)

    @property
    def names(self) -> list[str]:
        return [d.name for d in self.shape.stage.dims]

    def tiles(self, plan: Tiling) -> Tiles:
        """In the loops' order."""

        def named(tiles: Mapping[int, int]) -> Named:
            return tuple((self.names[d], tiles[d]) for d in sorted(tiles))

        block, thread, slices = (named(t) for t in (plan.block, plan.thread, plan.slices))
        return Tiles(block, thread, slices, ((self.names[plan.k], plan.part),), plan.parts)

    def plan(self, tiles: Tiles) -> Tiling:
        """ValueError: it is one of another convolution."""
        window, points = self.window, [d for d, _ in self.window.slid]
        block, thread, slices, part = (
            self._dims(n) for n in (tiles.block, tiles.thread, tiles.slices, tiles.part)
        )
        every = {*window.images, *window.others, *window.features, *points}
        fits = set(block) == every and set(thread) == {window.features[0], *points[-2:]}
        if not (fits and slices.keys() <= set(window.reduced) and set(part) == {window.channels[0]}):
            raise ValueError(f"no plan of {self.shape.program.name}: {tiles}")
        return Tiling(block, thread, slices, window.channels[0], part[window.channels[0]], tiles.parts)

    def _dims(self, named: Named) -> dict[int, int]:
        return {self.names.index(name): n for name, n in named}


def problem(of: Convolution, machine: Machine) -> Problem:
    """OSError: no such program; ValueError: it is no convolution."""
    path = ROOT / "inputs_c" / f"{of.program}.c"
    program = read_program(Source(str(path), path.read_text(encoding="utf-8")), defines=dict(of.sizes))
    shape = Shape(program, program.stages[0])
    found = find_contraction(shape)
    window = find_window(shape, found) if found is not None else None
    if window is None:
        raise ValueError(f"{of.program} is no convolution")
    return Problem(shape, window, machine)


@dataclass(frozen=True, slots=True)
class Known:
    """A measured plan. place: among those of which the default schedule is one today, None: it is none."""

    row: Row
    work: Work
    place: int | None


@dataclass(frozen=True)
class Table:
    """Measured plans with what an estimate of them looks at; today's in the order of `plans`, others last."""

    machine: Machine
    rows: Mapping[Convolution, Sequence[Known]]
    shipped: Mapping[Convolution, float]

    def part(self, some: Collection[Convolution]) -> "Table":
        return replace(self, rows={of: rows for of, rows in self.rows.items() if of in some})


def table(measured: Measured, machine: Machine) -> Table:
    """WrongFileError: programs or plans that are none here."""
    out = {}
    for of, rows in measured.rows.items():
        try:
            one = problem(of, machine)
            places = {one.tiles(plan): n for n, plan in enumerate(one.plans)}
            known = []
            for row in rows:
                assert isinstance(row.what, Tiles)
                plan = one.plan(row.what)
                known.append(Known(row, one.work(plan), places.get(one.tiles(plan))))
        except (OSError, ValueError) as error:
            raise WrongFileError(f"{of}: {error}") from error
        out[of] = sorted(known, key=lambda k: len(places) if k.place is None else k.place)
    return Table(machine, out, measured.shipped)


@dataclass(frozen=True, slots=True)
class Choice:
    """What is chosen for a convolution, and the best that was measured. shipped: the seconds of the fastest
    schedule that shipped for it then, where one was measured."""

    of: Convolution
    chosen: Row
    best: Row
    shipped: float | None

    @property
    def ratio(self) -> float:
        return self.chosen.seconds / self.best.seconds


def choices(given: Table, costs: Costs) -> list[Choice]:
    """Of today's plans that were measured; the first of equals, as the default takes it."""
    out = []
    for of, rows in given.rows.items():
        mine = [k for k in rows if k.place is not None]
        if mine:
            chosen = min(mine, key=lambda k: seconds(k.work, given.machine, costs)).row
            best = min((k.row for k in rows), key=lambda r: r.seconds)
            out.append(Choice(of, chosen, best, given.shipped.get(of)))
    return out


def everywhere(given: Table, costs: Costs) -> int:
    """Of how many convolutions the choice among all plans, as default schedules make it, was measured."""
    count = 0
    for of, rows in given.rows.items():
        one = problem(of, given.machine)
        times = [seconds(one.work(plan), given.machine, costs) for plan in one.plans]
        count += times.index(min(times)) in {k.place for k in rows} if times else 0
    return count
