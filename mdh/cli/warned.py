"""Warnings, of the program and of its performance: prints them, or makes errors of them."""

from collections.abc import Sequence
from dataclasses import replace

from mdh.checker.performance import findings_of
from mdh.cli.files import read_schedule
from mdh.cli.formats import report_as
from mdh.cli.options import Request, Warned
from mdh.diagnostics import Diagnostic, Failed, Severity
from mdh.edits import Answer, changes
from mdh.fixing import with_remedy
from mdh.ir.plan import Plan
from mdh.schedule.canonical import canonical
from mdh.schedule.parser import parse_schedule
from mdh.schedule.printer import print_schedule


def remedies(request: Request, plan: Plan, found: Sequence[Diagnostic]) -> list[tuple[Diagnostic, Answer]]:
    """The changes of the user's schedule that warnings advise, each with its warning; none without one."""
    if request.schedule is None:
        return []
    source = read_schedule(request.line, request.schedule)
    given = parse_schedule(source)
    out = []
    for one in findings_of(plan):
        if one.remedy is None or one.diagnostic not in found:
            continue
        changed = with_remedy(given, one)
        if changed is not None:
            edits = changes(source, print_schedule(canonical(changed)))
            out.append((one.diagnostic, Answer(one.diagnostic.help, edits)))
    return out


def warn(request: Request, plan: Plan) -> tuple[Diagnostic, ...]:
    """Prints what is strange about the program, and what the schedule wastes, on stderr, and returns it. With
    --json it is part of the result alone. Raises Failed for -W error."""
    found: tuple[Diagnostic, ...] = ()
    if request.warned is not Warned.HIDDEN:
        found = (*plan.program.remarks, *(f.diagnostic for f in findings_of(plan)))
    if found and request.warned is Warned.REFUSED:
        raise Failed(*(replace(d, severity=Severity.ERROR) for d in found))
    if found:
        report_as(request.line, [request.line.told(d) for d in found])
    return found
