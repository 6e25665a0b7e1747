"""`mdh check --fix`: changes a schedule as its warnings advise, if it stays legal."""

from collections.abc import Callable
from dataclasses import dataclass, replace

from mdh.checker.performance import findings_of
from mdh.checker.performance.weighed import Finding
from mdh.cli.console import log
from mdh.cli.options import Request
from mdh.cli.values import parse_sets
from mdh.diagnostics import Failed
from mdh.ir.plan import Plan
from mdh.pipeline import Checked, Pipeline
from mdh.schedule.binding import bind
from mdh.schedule.canonical import canonical
from mdh.schedule.model import Schedule
from mdh.schedule.printer import print_schedule

MOST = 32
"""Changes that are tried. Each warning is tried once, and a change may bring up another one."""


@dataclass(frozen=True, slots=True)
class Fixed:
    """text: the user's schedule in canonical form, with the changes and with its holes. checked: its plan.
    applied: the warnings whose remedies are part of it."""

    text: str
    checked: Checked
    applied: tuple[Finding, ...]


def fixed(
    request: Request, checked: Checked, given: Schedule, demand_sizes: Callable[[Schedule], None]
) -> Fixed:
    """The schedule with every remedy that keeps it legal. given: the schedule with its holes. demand_sizes:
    raises Failed where a schedule is illegal at the sizes of its header.

    Says of each change that it was made, or why it was not. A change is kept if the checker accepts the whole
    schedule with it and the warning is gone.
    """
    values, now, applied = parse_sets(request.line, request.sets), checked, list[Finding]()
    seen: set[tuple[str, str, str]] = set()
    while (found := _next(now.plan, seen)) is not None and len(seen) < MOST:
        seen.add(_key(found))
        d = found.diagnostic
        changed = _with(given, found)
        if changed is None:
            log(f"{d.code} is left as it is: {d.help} would replace a hole")
            continue
        bound = bind(changed, values)
        plan = now.plan
        try:
            after = Pipeline().check(
                plan.program, bound, plan.machine, plan.target, deterministic=request.deterministic
            )
            demand_sizes(changed)
        except Failed as failed:
            reason = failed.diagnostics[0]
            log(f"{d.code} is left as it is: with {d.help} [{reason.code}] {reason.headline}")
            continue
        if _key(found)[:2] in {_key(f)[:2] for f in findings_of(after.plan)}:
            log(f"{d.code} is left as it is: {d.help} does not change it")
            continue
        given, now = changed, after
        applied.append(found)
        log(f"{d.code} in stage {found.stage}: {d.help}")
    return Fixed(print_schedule(canonical(given)), now, tuple(applied))


def _next(plan: Plan, seen: set[tuple[str, str, str]]) -> Finding | None:
    """The first warning with a remedy that was not tried."""
    return next((f for f in findings_of(plan) if f.remedy is not None and _key(f) not in seen), None)


def _key(found: Finding) -> tuple[str, str, str]:
    d = found.diagnostic
    return found.stage, f"{d.code} {d.headline}", d.help


def _with(given: Schedule, found: Finding) -> Schedule | None:
    """The schedule with the remedy; None if it would replace a hole."""
    sections = list(given.sections)
    assert found.remedy is not None
    n = next(n for n, s in enumerate(sections) if s.name in (None, found.stage))
    steps = found.remedy.applied(sections[n].steps)
    if steps is None:
        return None
    sections[n] = replace(sections[n], steps=steps)
    return replace(given, sections=tuple(sections))
