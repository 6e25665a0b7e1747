"""`mdh explain --space`: shows the size of the space of a schedule's holes, and what makes it smaller."""

from dataclasses import asdict

from mdh.checker.open_default import default_for
from mdh.cli.console import ok, show, show_json
from mdh.cli.job import choose_machine, choose_target, load_schedule, load_timed_program
from mdh.cli.options import Request
from mdh.cli.trace import Trace
from mdh.report.text import seconds_text
from mdh.schedule.cases import demand_one
from mdh.schedule.model import Schedule
from mdh.tuner.candidates.foresight import Foresight, foresee
from mdh.tuner.space import ExactSpace, make_space
from mdh.tuner.space.account import Account, account


def explain_space(request: Request, trace: Trace, json: bool) -> None:
    """Shows the space. Raises Failed F109 without a schedule, S160 and S161 if the space is empty."""
    given = load_schedule(request, trace)
    if given is None:
        raise request.line.fail(
            "F109", "--space needs a schedule with holes", "--space", help="add --schedule"
        )
    space = space_of(request, trace, given)
    found = account(space)
    model = foresee(space)
    if json:
        variables = [asdict(v) for v in space.variables]
        told = None if model is None else asdict(model)
        counted = {**asdict(found), "counted": space.counted}
        show_json(ok("explain", space=counted, model=told, variables=variables))
    else:
        show(_text(space, found) + ("" if model is None else "\n" + _model_text(model)))


def space_of(request: Request, trace: Trace, given: Schedule) -> ExactSpace:
    """The space of the schedule's holes. Raises Failed S157 for a table, and as `make_space` does."""
    demand_one(given)
    machine = choose_machine(request, given)
    program = load_timed_program(request, trace)
    target = choose_target(request, machine)
    default = default_for(
        program, machine, target, deterministic=request.deterministic, given=given
    )  # fmt: skip
    return make_space(program, given, machine, target, deterministic=request.deterministic, default=default)


def _text(space: ExactSpace, found: Account) -> str:
    rows = [f"{v.name:<20}{len(v.values):>6}  {_values(v.values)}" for v in space.variables]
    low, high = map(_about, found.interval)
    legal = f"{found.legal:,}"
    if found.draws < found.structural:
        drawn = f"by {found.legal} of {found.draws} draws"
        legal = f"about {_about(found.estimate)}: {low} to {high}, {drawn}"
    lines = ["holes", *(f"  {row}" for row in rows), "points"]
    lines += [
        f"  every combination of values   {_number(found.raw)}",
        f"  structurally legal            {_number(found.structural)}",
        *(f"    counted: {rule}" for rule in space.counted),
        f"  legal                         {legal}",
    ]
    if found.legal:
        lines.append(f"  different programs            {found.programs:,} of the {found.legal:,} seen")
    if found.reasons:
        lines.append("rejected by the checker")
        lines += [f"  {code}  {count:>5}  {headline}" for code, count, headline in found.reasons]
    return "\n".join(lines)


def _model_text(model: Foresight) -> str:
    times = ", ".join(seconds_text(s) for s in (model.best, model.median, model.worst))
    lines = [
        f"the cost model, of {model.drawn} legal programs",
        f"  best, median, worst           {times}, predicted",
        f"  expected to spill registers   {model.spilled}",
        f"  too much code to compile      {model.hopeless}",
    ]
    if model.group == 1:
        lines.append("  built first                   all: the space is small")
        return "\n".join(lines)
    lines += [
        f"  built first                   {model.first}: the best of each {model.group}",
        f"  built all the same            {model.explored}: {model.explore:.0%} of the others, by chance",
        f"  set aside                     {model.aside}: until nothing else is left to measure",
    ]
    return "\n".join(lines)


def _values(values: tuple[int | str, ...]) -> str:
    shown = " ".join(str(v) for v in values[:8])
    return shown if len(values) <= 8 else f"{shown} … {values[-1]}"


def _about(n: float) -> str:
    return f"{n:,.0f}" if n < 10**6 else f"{n:.3g}"


def _number(n: int) -> str:
    return f"{n:,}" if n < 10**9 else f"{n:.3e}"
