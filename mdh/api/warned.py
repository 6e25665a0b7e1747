"""`mdh.warnings`: what a plan wastes."""

from mdh.api.explained import explained
from mdh.api.options import of_type
from mdh.checker.performance import findings_of
from mdh.diagnostics import Diagnostic
from mdh.ir.plan import Plan


def warnings(plan: Plan) -> tuple[Diagnostic, ...]:
    """What is strange about the program of a plan of `mdh.check` (T119), and what its schedule wastes of its
    machine (codes P1xx), as `mdh check` says it.

    `print` shows one with its place in the schedule. Stages whose schedule mdh derived have none. Raises
    TypeError for another value than a plan.
    """
    with explained():
        of_type("plan", plan, Plan, "what `mdh.check` returns")
        return (*plan.program.remarks, *(found.diagnostic for found in findings_of(plan)))
