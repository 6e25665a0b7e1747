"""Warnings of performance: a schedule is legal, and wastes a part of the machine. The rules in the order they
run. To add one, write a function in a file of this folder and a row here.

A rule reads the tile tree and the cost model, and has no model of its own. A wrong warning is worse than
none. So most rules try what they would advise: they warn only if the checker accepts it and the cost model
expects it to be faster. Only stages whose steps the user wrote are looked at, and none that is over at once.
"""

from mdh.checker.performance.accesses import check_coalescing
from mdh.checker.performance.banks import check_conflicts
from mdh.checker.performance.lanes import check_lanes, check_narrow_vectors
from mdh.checker.performance.latency import check_groups, check_warps_at_once
from mdh.checker.performance.registers import check_spills
from mdh.checker.performance.units import check_idle_units
from mdh.checker.performance.vectors import check_gaps, check_vectorised
from mdh.checker.performance.weighed import Finding, Weighed
from mdh.ir.plan import Plan
from mdh.schedule.parser import parse_schedule
from mdh.source import Source

RULES = (
    check_vectorised,
    check_idle_units,
    check_lanes,
    check_narrow_vectors,
    check_coalescing,
    check_conflicts,
    check_spills,
    check_warps_at_once,
    check_groups,
    check_gaps,
)
"""Each takes a stage and yields findings."""


def findings_of(plan: Plan) -> tuple[Finding, ...]:
    """What a legal plan wastes, stage by stage. Kernels of several stages are not looked at: their steps
    depend on one another, and a change of one would need changes of others."""
    joined = {n for x in plan.loops for n in range(x.first, x.last + 1)}
    joined |= {n for launch in plan.launches if len(launch) > 1 for n in launch}
    alone = [n for n, stage in enumerate(plan.stages) if not stage.inner and n not in joined]
    written = [n for n in alone if any(step.span for step in plan.stages[n].steps)]
    if not written:
        return ()
    given = parse_schedule(Source("schedule", plan.text))
    stages = (Weighed(plan, n, given) for n in written)
    return tuple(f for stage in stages if not stage.negligible for rule in RULES for f in rule(stage))
