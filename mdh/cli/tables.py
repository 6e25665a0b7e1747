"""Tables on the command line: each case is checked as a schedule by itself."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace

from mdh.cli.job import choose_machine, choose_target, load_program, make_plan, with_default
from mdh.cli.options import Request
from mdh.cli.trace import Trace
from mdh.diagnostics import Failed, labels_at
from mdh.machine import Machine
from mdh.pipeline import Checked
from mdh.schedule.canonical import canonical
from mdh.schedule.cases import Table, ranges_text
from mdh.schedule.model import Schedule, SizeCase
from mdh.schedule.parser import parse_schedule
from mdh.schedule.printer import print_schedule
from mdh.source import Source


@dataclass(frozen=True, slots=True)
class CasePlan:
    """A case of a table with its checked plan."""

    case: SizeCase
    checked: Checked

    @property
    def name(self) -> str:
        """`over M=1..64`."""
        return f"over {ranges_text(self.case)}"


def default_table(request: Request, trace: Trace, given: Schedule | None) -> Schedule | None:
    """The given schedule; without one, the default one of a program with open sizes, which may be a table."""
    if given is not None:
        return given
    program = load_program(request, trace)
    if not program.opens:
        return None
    machine = choose_machine(request, None)
    target = choose_target(request, machine)
    return with_default(request, trace, program, None, machine, target)


def table_plans(request: Request, trace: Trace, table: Table) -> tuple[Machine, tuple[CasePlan, ...]]:
    """The machine, and the plan of each case. Raises Failed for the first case that is illegal."""
    machine = choose_machine(request, table.schedule)
    target = choose_target(request, machine)
    return machine, tuple(case_plan(request, trace, table, case, machine, target) for case in table.cases)


def case_plan(
    request: Request, trace: Trace, table: Table, case: SizeCase, machine: Machine, target: str
) -> CasePlan:
    with in_case(case):
        program = load_program(request, trace, table.ranges(case))
        checked = make_plan(request, trace, program, table.alone(case), machine, target)
    return CasePlan(case, checked)


@contextmanager
def in_case(case: SizeCase) -> Iterator[None]:
    """Errors name the case that they are about."""
    try:
        yield
    except Failed as failed:
        here = labels_at(case.span, "in this case")
        raise Failed(*(replace(d, labels=(*d.labels, *here)) for d in failed.diagnostics)) from failed


def table_text(table: Table, plans: Sequence[CasePlan]) -> str:
    """The table in canonical form, with the whole schedule of each case, also of stages that the user left
    out."""
    cases = []
    for one in plans:
        whole = parse_schedule(Source("<plan>", one.checked.plan.text))
        cases.append(replace(one.case, sections=whole.sections))
    return print_schedule(canonical(replace(table.schedule, cases=tuple(cases))))
