"""`mdh explain --html` and `--svg`: a page or a picture of a schedule, also of a refused one or one with open
holes."""

from math import prod
from pathlib import Path
from random import Random

from mdh.assembly.hot import HotLoop
from mdh.cli.console import log
from mdh.cli.explain_refused import write_refused
from mdh.cli.explain_space import space_of
from mdh.cli.files import keep_inputs, write_text
from mdh.cli.job import choose_machine, choose_target, load_schedule, plan_of
from mdh.cli.options import Request
from mdh.cli.tables import case_plan, default_table
from mdh.cli.trace import Trace
from mdh.counters.counted import Counted
from mdh.diagnostics import Failed
from mdh.ir.kernel import Module
from mdh.ir.plan import Plan
from mdh.report.picture.page import schedule_page
from mdh.report.picture.still import still_picture
from mdh.schedule.cases import Table
from mdh.target.text import KernelText
from mdh.tuner.warm_start.suggestions import first_point

_OPEN = "S154"


def plan_for_page(
    request: Request, trace: Trace, html: str | None, svg: str | None
) -> tuple[Plan, tuple[str, ...]]:
    """The plan that is drawn, and remarks about it. For a schedule with holes, it is one of its points.

    Raises Failed if the schedule is refused, after writing the page that shows the messages in place.
    """
    for path in (html, svg):
        if path is not None:
            keep_inputs(request.line, path, request.files, {Path(path): None})
    try:
        given = default_table(request, trace, load_schedule(request, trace))
        if given is not None and given.derived and given.cases:
            return _largest(request, trace, Table(given))
        return plan_of(request, trace, given)[1].plan, ()
    except Failed as failed:
        if all(d.code == _OPEN for d in failed.diagnostics) and (drawn := _with_values(request, trace)):
            return drawn
        if html is not None:
            write_refused(request, trace, html, failed)
        if svg is not None:
            log(f"{svg} is not written: the picture is of a legal schedule")
        raise


def _largest(request: Request, trace: Trace, table: Table) -> tuple[Plan, tuple[str, ...]]:
    """The case of a default table that has the largest sizes."""
    case = max(table.cases, key=lambda c: prod(r.most for r in c.ranges))
    machine = choose_machine(request, table.schedule)
    target = choose_target(request, machine)
    drawn = case_plan(request, trace, table, case, machine, target)
    note = f"drawn is the case {drawn.name} of {len(table.cases)}"
    log(f"{note}; bind a size for another")
    return drawn.checked.plan, (f"{note[:1].upper()}{note[1:]}.",)


def write_page(
    request: Request,
    html: str,
    plan: Plan,
    module: Module,
    text: KernelText,
    notes: tuple[str, ...],
    hot: HotLoop | None = None,
    counted: Counted | None = None,
) -> None:
    """Writes the page. Raises Failed F111."""
    write_text(request.line, html, schedule_page(plan, module, text, notes, hot=hot, counted=counted))
    log(f"wrote {html}")


def write_picture(request: Request, svg: str, plan: Plan) -> None:
    """Writes the picture. Raises Failed F111."""
    write_text(request.line, svg, still_picture(plan))
    log(f"wrote {svg}")


def _with_values(request: Request, trace: Trace) -> tuple[Plan, tuple[str, ...]] | None:
    """The point in the middle of the holes' sets, or a legal one near it; None if none is found."""
    given = load_schedule(request, trace)
    assert given is not None, "the derived schedule has no holes"
    space = space_of(request, trace, given)
    point = first_point(space, Random(0))
    plan = None if point is None else space.plan(point)
    if point is None or not isinstance(plan, Plan):
        return None
    values = ", ".join(f"{v.name} = {x}" for v, x in zip(space.variables, point, strict=True))
    note = f"the holes are open: drawn with {values}"
    log(f"{note}; --set NAME=VALUE gives a named hole another value")
    return plan, (f"{note[:1].upper()}{note[1:]}.",)
