"""Changes of a schedule as its warnings advise, if it stays legal: `mdh check --fix`, and the fixes of
editors."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from mdh.checker.performance import findings_of
from mdh.checker.performance.weighed import Finding
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
    checked: Checked,
    given: Schedule,
    values: Mapping[str, int | str],
    *,
    deterministic: bool = False,
    demand_sizes: Callable[[Schedule], None],
    say: Callable[[str], None],
) -> Fixed:
    """The schedule with every remedy that keeps it legal. given: the schedule with its holes; values: theirs.
    demand_sizes: raises Failed where a schedule is illegal at the sizes of its header.

    Says of each change that it was made, or why it was not. A change is kept if the checker accepts the whole
    schedule with it and the warning is gone.
    """
    now, applied = checked, list[Finding]()
    seen: set[tuple[str, str, str]] = set()
    while (found := _next(now.plan, seen)) is not None and len(seen) < MOST:
        seen.add(_key(found))
        d = found.diagnostic
        changed = with_remedy(given, found)
        if changed is None:
            say(f"{d.code} is left as it is: {d.help} would replace a hole")
            continue
        plan = now.plan
        try:
            after = Pipeline().check(
                plan.program, bind(changed, values), plan.machine, plan.target, deterministic=deterministic
            )
            demand_sizes(changed)
        except Failed as failed:
            reason = failed.diagnostics[0]
            say(f"{d.code} is left as it is: with {d.help} [{reason.code}] {reason.headline}")
            continue
        if _key(found)[:2] in {_key(f)[:2] for f in findings_of(after.plan)}:
            say(f"{d.code} is left as it is: {d.help} does not change it")
            continue
        given, now = changed, after
        applied.append(found)
        say(f"{d.code} in stage {found.stage}: {d.help}")
    return Fixed(print_schedule(canonical(given)), now, tuple(applied))


def _next(plan: Plan, seen: set[tuple[str, str, str]]) -> Finding | None:
    """The first warning with a remedy that was not tried."""
    return next((f for f in findings_of(plan) if f.remedy is not None and _key(f) not in seen), None)


def _key(found: Finding) -> tuple[str, str, str]:
    d = found.diagnostic
    return found.stage, f"{d.code} {d.headline}", d.help


def with_remedy(given: Schedule, found: Finding) -> Schedule | None:
    """The schedule with the remedy; None if it would replace a hole. Requires that there is a remedy, and a
    section of its stage."""
    sections = list(given.sections)
    assert found.remedy is not None
    n = next(n for n, s in enumerate(sections) if s.name in (None, found.stage))
    steps = found.remedy.applied(sections[n].steps)
    if steps is None:
        return None
    sections[n] = replace(sections[n], steps=steps)
    return replace(given, sections=tuple(sections))
