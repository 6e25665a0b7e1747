"""Warnings, of the program and of its performance: prints them, or makes errors of them."""

from dataclasses import replace

from mdh.checker.performance import findings_of
from mdh.cli.console import report
from mdh.cli.options import Request, Warned
from mdh.diagnostics import Diagnostic, Failed, Severity
from mdh.ir.plan import Plan


def warn(request: Request, plan: Plan) -> tuple[Diagnostic, ...]:
    """Prints what is strange about the program, and what the schedule wastes, on stderr, and returns it. With
    --json it is part of the result alone. Raises Failed for -W error."""
    found: tuple[Diagnostic, ...] = ()
    if request.warned is not Warned.HIDDEN:
        found = (*plan.program.remarks, *(f.diagnostic for f in findings_of(plan)))
    if found and request.warned is Warned.REFUSED:
        raise Failed(*(replace(d, severity=Severity.ERROR) for d in found))
    if found and not request.line.json:
        report(map(request.line.told, found))
    return found
