"""The default schedule of a program with open sizes as a table: a few cases, each for a part of the ranges.

For samples of the sizes, the default schedule for these sizes alone is brought into a form that leaves them
open. The cost model says how long each of these schedules takes at all samples, and `open_cells` divides the
ranges so that the estimates are near those of the schedules for fixed sizes.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cache, cached_property
from itertools import product
from math import inf, log, log2, prod

from mdh.checker.open_cells import Box, CellBox, Cells, cells_of, divided
from mdh.checker.open_default import Estimate, default_near, with_free_maps
from mdh.checker.open_estimate import seconds_at
from mdh.checker.open_steps import form_of
from mdh.checker.run import check
from mdh.diagnostics import Failed
from mdh.frontend.open_program import closed, within
from mdh.ir.open_size import OpenSize
from mdh.ir.plan import Plan
from mdh.ir.program import Program
from mdh.machine import Machine
from mdh.poly.inlining import Inlined
from mdh.schedule.default.shape import Shape
from mdh.schedule.model import Schedule, Section, SizeCase

MOST = 8
"""The most cases of a table. Each is a kernel to build."""
GAIN = 0.01
"""The share of time, as a mean over the octaves of the ranges, that one more case must save."""
UNLIKE = 0.2
"""A loss of steps of another form than those of the default schedule for the sizes alone: the cost model
compares tiles and axes better than forms."""
BELIEVED = 0.5
"""The loss of a schedule that should be faster, as a part of what it should gain."""
FAR = 2.0
"""Octaves beyond which steps of another form are not tried."""
UNTRIED = 100.0
"""The loss of what is not tried, or not legal for any size."""
TOLERATED = 0.1
"""A loss from which on it counts twice and more."""
IDLE = {"cpu": 3e-6, "gpu": 1e-6}
"""Seconds of a kernel that does nothing, which no schedule saves."""
ATTEMPTS = 40
"""The most divisions that are looked at until one is legal."""
DEARER = 1.25
"""How much more a case must save for each time that there are too many."""
SHORT = 2.0
"""So much of that is no time worth a table."""
Cell = tuple[int, ...]
Ranges = tuple[OpenSize, ...]


@dataclass(frozen=True)
class KnownCase:
    """A schedule that may be a case. program: with ranges that it is legal for, or with single sizes. at: the
    sizes that it is the default of. reach: what ranges reach that it is legal for, by size: its tiles may be
    as large as the sizes. estimates: as of Near, if they hold for it."""

    schedule: Schedule
    program: Program
    at: Mapping[str, int]
    reach: Mapping[str, int]
    estimates: tuple[Estimate, ...]

    @property
    def fixed(self) -> bool:
        return not self.program.opens

    @cached_property
    def form(self) -> object:
        return form_of(self.schedule)


@dataclass
class CaseSearch:
    """known: all schedules for ranges. alone: by cell, the schedule for its sample. own: the number of that
    in an open form."""

    program: Program
    machine: Machine
    target: str
    deterministic: bool
    cells: tuple[Cells, ...]
    known: list[KnownCase] = field(default_factory=list)
    alone: dict[Cell, KnownCase] = field(default_factory=dict)
    own: dict[Cell, int] = field(default_factory=dict)
    plans: dict[int, Plan | None] = field(default_factory=dict)
    times: dict[tuple[int, Cell], float] = field(default_factory=dict)
    shapes: dict[Cell, list[Shape]] = field(default_factory=dict)

    @cached_property
    def found(self) -> Inlined:
        """The program with its free maps inline."""
        return with_free_maps(self.program)

    @cached_property
    def every(self) -> list[Cell]:
        return list(product(*(range(len(c.tops)) for c in self.cells)))

    @property
    def short(self) -> bool:
        """Whether the kernels take no time worth a table even at the largest sizes."""
        largest = self.every[-1]
        self.add(largest)
        best = self.alone[largest]
        found = self._estimate(best, largest) if best.estimates else self._predicted(-1, largest)
        return found < SHORT * IDLE[self.machine.kind]

    def sizes(self, cell: Cell) -> dict[str, int]:
        """The sample of a cell."""
        return {c.size.name: c.tops[n] for c, n in zip(self.cells, cell, strict=True)}

    def weight(self, cell: Cell) -> float:
        return prod(c.weight(n) for c, n in zip(self.cells, cell, strict=True))

    def ranges(self, box: Box) -> Ranges:
        return tuple(c.range(*ends) for c, ends in zip(self.cells, box, strict=True))

    def single(self, cell: Cell) -> bool:
        """Whether the sample is the only value of its cell."""
        return all(r.value is not None for r in self.ranges(tuple((n, n) for n in cell)))

    def checked(self, schedule: Schedule, program: Program) -> Plan | None:
        try:
            return check(program, schedule, self.machine, self.target, deterministic=self.deterministic)
        except Failed:
            return None

    def add(self, cell: Cell) -> None:
        """Adds the default schedules for the sample of a cell."""
        sizes, opens = self.sizes(cell), self.program.opens
        reach = {o.name: min(o.most, sizes[o.name] + o.multiple) for o in opens}
        ranges = [OpenSize(o.name, o.least, reach[o.name], o.multiple) for o in opens]
        near = within(self.program, ranges)
        found = replace(self.found, program=within(self.found.program, ranges))
        made = default_near(
            near, found, sizes, self.machine, self.target, deterministic=self.deterministic
        )  # fmt: skip
        self.alone[cell] = KnownCase(made.fixed, closed(self.program, sizes), sizes, sizes, made.estimates)
        same = next((n for n, k in enumerate(self.known) if k.schedule == made.opened), None)
        if same is None and made.opened is not None:
            same = len(self.known)
            self.known.append(KnownCase(made.opened, near, sizes, reach, made.estimates if made.same else ()))
        if same is not None:
            self.own[cell] = same

    def loss(self, number: int, cell: Cell) -> float:
        """How much worse a schedule is at the sample of a cell than the default one for these sizes alone:
        the logarithm of their times.

        That one was chosen for reasons that the cost model may not know. So a schedule that should be faster
        by the model counts as one that is slower.
        """
        known, best, idle = self.known[number], self.alone[cell], IDLE[self.machine.kind]
        if self.own.get(cell) == number:
            return 0.0
        unlike = 0.0
        if known.estimates and best.estimates:
            mine, least = self._estimate(known, cell), self._estimate(best, cell)
        else:
            own = self.own.get(cell, -1)
            least = self._predicted(own, cell)
            if least == inf:
                return 0.0
            if own >= 0 and known.form != self.known[own].form:
                unlike = UNLIKE * least / (least + idle)
                if least > idle and self._apart(known, cell) > FAR:
                    return UNTRIED
            mine = self._predicted(number, cell)
        if mine == inf:
            return UNTRIED
        slower = log((mine + idle) / (least + idle))
        loss = max(slower, -BELIEVED * slower) + unlike
        return loss * (1.0 + loss / TOLERATED)

    def _apart(self, known: KnownCase, cell: Cell) -> float:
        """Octaves between the sizes that a schedule was made for and the sample of a cell."""
        return max(abs(log2(known.at[name] / n)) for name, n in self.sizes(cell).items())

    def _estimate(self, known: KnownCase, cell: Cell) -> float:
        if cell not in self.shapes:
            there = closed(self.found.program, self.sizes(cell))
            self.shapes[cell] = [Shape(there, stage) for stage in there.stages]
        return sum(e(shape) for e, shape in zip(known.estimates, self.shapes[cell], strict=True))

    def _predicted(self, number: int, cell: Cell) -> float:
        """By the cost model. number: -1 for the schedule for these sizes alone."""
        key = (number, cell)
        if key not in self.times:
            if number not in self.plans and number >= 0:
                known = self.known[number]
                self.plans[number] = self.checked(known.schedule, known.program)
            alone = self.alone[cell]
            plan = self.plans[number] if number >= 0 else self.checked(alone.schedule, alone.program)
            self.times[key] = inf if plan is None else seconds_at(plan, self.sizes(cell))
        return self.times[key]


def default_table(
    program: Program, machine: Machine, target: str, *, deterministic: bool = False
) -> Schedule | None:
    """The table, whose cases are all legal, or one schedule if a single one is as good. None if no schedule
    of this kind is legal."""
    among = len(program.opens)
    cells = tuple(cells_of(size, among) for size in program.opens)
    search = CaseSearch(program, machine, target, deterministic, cells)
    if search.short:
        return None
    for cell in search.every[:-1]:
        search.add(cell)
    found = _pieces(search)
    if not found:
        return None
    if len(found) == 1:
        known = search.known[found[0][0].choice]
        return Schedule(_sections(search, known), machine.name, program.name, derived=True)
    cases = tuple(_case(search, *one) for one in found)
    if all(ranges == search.ranges(piece.box) for piece, ranges in found):
        # none takes sizes of another, so the small ones may come first
        cases = cases[::-1]
    return Schedule((), machine.name, program.name, cases=cases, derived=True)


def _pieces(search: CaseSearch) -> list[tuple[CellBox, Ranges]]:
    """The boxes with their schedules, and the ranges of their cases."""
    weights = {cell: search.weight(cell) for cell in search.every}
    losses = [{c: w * search.loss(n, c) for c, w in weights.items()} for n in range(len(search.known))]
    for cell, known in search.alone.items():
        if search.single(cell):
            search.known.append(known)
            losses.append({cell: 0.0})
    price, counts = GAIN * sum(weights.values()), [len(c.tops) for c in search.cells]
    refused: set[tuple[int, Box]] = set()

    @cache
    def fitting(box: Box) -> list[tuple[float, int]]:
        inside = list(product(*(range(a, b + 1) for a, b in box)))
        return sorted(
            (sum(loss[cell] for cell in inside), n)
            for n, loss in enumerate(losses)
            if all(cell in loss for cell in inside)
        )

    def cost(box: Box) -> tuple[float, int] | None:
        return next((one for one in fitting(box) if (one[1], box) not in refused), None)

    for _ in range(ATTEMPTS):
        pieces = divided(counts, cost, price)
        while len(pieces) > MOST:
            price *= DEARER
            pieces = divided(counts, cost, price)
        found = [(piece, _legal_ranges(search, piece)) for piece in pieces]
        if all(ranges is not None for _, ranges in found):
            return [(piece, ranges) for piece, ranges in found if ranges is not None]
        refused |= {(piece.choice, piece.box) for piece, ranges in found if ranges is None}
    return []


def _legal_ranges(search: CaseSearch, piece: CellBox) -> Ranges | None:
    """The ranges of a case: those of its box, or longer ones that the schedule is legal for. Cases before it
    serve the sizes that it has too many. None if it is legal for neither."""
    known, exact = search.known[piece.choice], search.ranges(piece.box)
    if known.fixed:
        return exact
    longer = tuple(
        OpenSize(r.name, r.least, max(r.most, known.reach[r.name]), c.size.multiple)
        for r, c in zip(exact, search.cells, strict=True)
    )
    for ranges in (exact, longer) if longer != exact else (exact,):
        if search.checked(known.schedule, within(search.program, ranges)) is not None:
            return ranges
    return None


def _case(search: CaseSearch, piece: CellBox, ranges: Ranges) -> SizeCase:
    known = search.known[piece.choice]
    at = " ".join(f"{name}={value}" for name, value in known.at.items())
    return SizeCase(ranges, _sections(search, known), comments=(f"made for {at}",))


def _sections(search: CaseSearch, known: KnownCase) -> tuple[Section, ...]:
    """As a text has them: a program's only stage needs no name."""
    sections = known.schedule.sections
    return sections if len(sections) > 1 else (replace(sections[0], name=None),)
