"""Tables: schedules with cases for sizes. A call is served by the first case whose ranges take its sizes.

    over M=1..16 { 1: (de-)comp( … ) … }
    over M=17..4096 { 1: (de-)comp( … ) … }

A case is a schedule by itself, for a program whose sizes stay open within the ranges of the case.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from math import gcd

from mdh.diagnostics import Diagnostic, Failed, labels_at
from mdh.ir.open_size import OpenSize
from mdh.schedule.model import Schedule, SizeCase

NO_CASE = "S157"
Defines = Mapping[str, str | int | OpenSize]


@dataclass(frozen=True, slots=True)
class Table:
    """The cases of a schedule that has some."""

    schedule: Schedule

    @property
    def cases(self) -> tuple[SizeCase, ...]:
        return self.schedule.cases

    @property
    def names(self) -> tuple[str, ...]:
        """The sizes that the cases are for."""
        return tuple(r.name for r in self.cases[0].ranges)

    @property
    def hull(self) -> tuple[OpenSize, ...]:
        """The smallest range of each size that holds those of all cases."""
        return tuple(map(self._hull, self.names))

    def _hull(self, name: str) -> OpenSize:
        mine = [r for case in self.cases for r in case.ranges if r.name == name]
        step = gcd(*(r.multiple if r.value is None else r.value for r in mine))
        return OpenSize(name, min(r.least for r in mine), max(r.most for r in mine), step)

    def ranges(self, case: SizeCase) -> tuple[OpenSize, ...]:
        """The ranges of a case, in the order of `names`."""
        by_name = {r.name: r for r in case.ranges}
        return tuple(by_name[name] for name in self.names)

    def at(self, sizes: Mapping[str, int]) -> SizeCase:
        """The case that serves these sizes. Raises Failed A111 if none does."""
        for case in self.cases:
            if all(r.takes(sizes[r.name]) for r in case.ranges):
                return case
        given = ", ".join(f"{name} = {sizes[name]}" for name in self.names)
        headline = f"no case of the schedule is for {given}"
        raise Failed(Diagnostic("A111", headline, help=f"its cases: {self.shown}"))

    @property
    def shown(self) -> str:
        """The ranges of the cases, for messages."""
        texts = [ranges_text(case) for case in self.cases]
        return "; ".join(texts if len(texts) <= 8 else [*texts[:7], "…"])

    def alone(self, case: SizeCase) -> Schedule:
        """The schedule of one case."""
        return replace(self.schedule, sections=case.sections, cases=())


def table_of(schedule: Schedule | None) -> Table | None:
    """None for a schedule without cases."""
    return None if schedule is None or not schedule.cases else Table(schedule)


def only(schedule: Schedule | None) -> tuple[Schedule | None, tuple[OpenSize, ...]]:
    """The one schedule, and the ranges of its sizes if it is a case of a table. Raises Failed S157 for a
    table of several cases."""
    table = table_of(schedule)
    if table is None or len(table.cases) > 1:
        demand_one(schedule)
        return schedule, ()
    return table.alone(table.cases[0]), table.hull


def ranges_text(case: SizeCase) -> str:
    """`M=1..64 N=8..512:8`."""
    return " ".join(f"{r.name}={r}" for r in case.ranges)


def narrowed(schedule: Schedule, defines: Defines) -> Schedule:
    """A table without the cases that cannot serve the sizes that defines bind. If these are all of its sizes,
    one case is left. Other schedules are returned as they are.

    Raises Failed S157 if no case takes the sizes, C125 for a size that a define leaves open.
    """
    table = table_of(schedule)
    if table is None:
        return schedule
    bound = bound_sizes(table, defines)
    left = [c for c in table.cases if all(r.takes(bound[r.name]) for r in c.ranges if r.name in bound)]
    if not left:
        given = ", ".join(f"{name}={value}" for name, value in bound.items())
        headline = f"no case of the schedule is for {given}"
        witness = (("define", next(iter(bound))),)
        raise Failed(Diagnostic(NO_CASE, headline, help=f"its cases: {table.shown}", witness=witness))
    return replace(schedule, cases=tuple(left[:1] if len(bound) == len(table.names) else left))


def by_case(schedule: Schedule) -> Schedule:
    """A table as one schedule, whose sections are named by their cases and stages."""
    named = [
        replace(section, name=f"{ranges_text(case)} {section.name or ''}".strip())
        for case in schedule.cases
        for section in case.sections
    ]
    return replace(schedule, sections=(*schedule.sections, *named), cases=())


def bound_sizes(table: Table, defines: Defines) -> dict[str, int]:
    """The sizes of the cases that defines bind. Raises Failed C125 for one that a define leaves open."""
    bound: dict[str, int] = {}
    for name in table.names:
        value = defines.get(name)
        if isinstance(value, int):
            bound[name] = value
        elif value is not None:
            headline = f"the range of `{name}` is that of the schedule's cases"
            hint = f"leave `{name}` out, or bind it to a number"
            raise Failed(Diagnostic("C125", headline, help=hint, witness=(("define", name),)))
    return bound


def demand_one(schedule: Schedule | None, hint: str = "") -> None:
    """Raises Failed S157 for a table, where one schedule is needed. hint: what to do instead of binding
    sizes."""
    table = table_of(schedule)
    if table is not None:
        name = table.names[0]
        headline = f"the schedule has cases for sizes of `{name}`, and one schedule is needed"
        hint = hint or f"bind {name} to a number, which chooses a case; the cases: {table.shown}"
        raise Failed(Diagnostic(NO_CASE, headline, labels_at(table.cases[0].span), help=hint))
